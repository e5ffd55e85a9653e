import gzip
import hashlib
import socket
import sys

import pytest

from graphreach.datasets import store as downloads
from graphreach.datasets.store import DataFile, DownloadError, Gzipped, Plain, Source, as_gzip, as_zip, download

BODY = bytes(range(256)) * 1000


def data_file(*urls, body=BODY):
    return DataFile("set/file.bin", Plain(hashlib.sha256(body).hexdigest()), tuple(Source((url,)) for url in urls))


def test_first_source_is_enough(server):
    first, second = server.gives("/a", BODY), server.gives("/b", BODY)
    assert download(data_file(first, second)) == BODY
    assert server.asked == ["/a"]


def test_missing_file_then_a_working_second_source(server):
    absent, there = server.fails("/a", 404), server.gives("/b", BODY)
    assert download(data_file(absent, there)) == BODY
    assert server.asked == ["/a", "/b"]


def test_wrong_checksum_then_a_right_one(server):
    wrong, right = server.gives("/a", BODY + b"!"), server.gives("/b", BODY)
    assert download(data_file(wrong, right)) == BODY


def test_wrong_checksum_everywhere(server):
    wrong = server.gives("/a", b"<html>log in first</html>")
    with pytest.raises(DownloadError, match="other content than expected, as its sha256 is") as error:
        download(data_file(wrong))
    assert "\n" not in str(error.value)


def test_cut_off_body_is_noticed_and_tried_again(server):
    server.cuts_off("/a", BODY)
    assert download(data_file(server.gives("/a", BODY))) == BODY
    assert server.asked == ["/a", "/a"]


def test_cut_off_body_every_time(server):
    with pytest.raises(DownloadError, match="connection lost midway"):
        download(data_file(server.cuts_off("/a", BODY)))
    assert server.asked == ["/a"] * downloads.ROUNDS


def test_body_of_unknown_length(server):
    assert download(data_file(server.gives_without_length("/a", BODY))) == BODY


def test_cut_off_body_of_unknown_length_is_caught_by_the_checksum(server):
    with pytest.raises(DownloadError, match="other content"):
        download(data_file(server.gives_without_length("/b", BODY[:-1])))


def test_server_that_stalls_is_left_for_the_next_source(server):
    stalled, there = server.stalls("/a", BODY), server.gives("/b", BODY)
    assert download(data_file(stalled, there)) == BODY


def test_server_that_stalls_every_time(server):
    with pytest.raises(DownloadError, match=r"no answer within 0\.5 s"):
        download(data_file(server.stalls("/a", BODY)))


def test_busy_server_is_asked_again_but_a_missing_file_is_not(server):
    server.fails("/a", 503)
    busy, absent = server.gives("/a", BODY), server.fails("/b", 404)
    assert download(data_file(absent, busy)) == BODY
    assert server.asked == ["/b", "/a", "/a"]


@pytest.mark.parametrize(("status", "times"), [(403, 1), (404, 1), (410, 1), (429, 2), (500, 2)])
def test_which_statuses_are_final(server, status, times):
    with pytest.raises(DownloadError, match=f"HTTP status {status}"):
        download(data_file(server.fails("/a", status)))
    assert server.asked == ["/a"] * times


def test_no_connection_names_each_source_once(server):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(DownloadError) as error:
        download(data_file(f"http://127.0.0.1:{port}/a", f"http://127.0.0.1:{port}/b"))
    assert str(error.value) == f"127.0.0.1:{port}: no connection"


def test_source_of_several_parts(server):
    parts = (server.gives("/a", b"first"), server.gives("/b", b"second"))
    packed = as_zip("a", "b")([b"first", b"second"])
    file = DataFile("set/both.zip", Plain(hashlib.sha256(packed).hexdigest()), (Source(parts, as_zip("a", "b")),))
    assert download(file) == packed


@pytest.mark.parametrize("unpacked_on_the_way", [False, True])
def test_gzip_files_stay_packed(server, unpacked_on_the_way):
    headers = [("Content-Encoding", "gzip")] if unpacked_on_the_way else []
    url = server.gives("/a.gz", gzip.compress(b"0 1\n"), headers=headers)
    file = DataFile("set/a.gz", Gzipped(hashlib.sha256(b"0 1\n").hexdigest()), (Source((url,), as_gzip),))
    assert gzip.decompress(download(file)) == b"0 1\n"


def test_endless_body_is_refused(server, monkeypatch):
    monkeypatch.setattr(downloads, "MAX_BYTES", 1000)
    with pytest.raises(DownloadError, match="larger than 1,000 bytes"):
        download(data_file(server.gives("/a", BODY)))


def test_without_pooch_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(DownloadError, match=r"pip install 'graphreach\[datasets\]'"):
        download(data_file("http://127.0.0.1/a"))


def test_progress_counts_chunks(server, monkeypatch):
    seen = []

    def track(items, total, description):
        for item in items:
            seen.append((len(item), total, description))
            yield item

    monkeypatch.setattr(downloads, "track", track)
    download(data_file(server.gives("/a", BODY)))
    chunks = -(-len(BODY) // downloads.CHUNK)
    assert [each[1:] for each in seen] == [(chunks, "downloading file.bin")] * chunks
    assert sum(each[0] for each in seen) == len(BODY)
