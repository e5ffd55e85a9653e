import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphreach.datasets.store import DataFile, DownloadError, Plain, Source, Store, find_root
from graphreach.errors import InputError

BODY = b"0 1\n" * 10_000
NOWHERE = "http://127.0.0.1:1/file"


def data_file(name, *urls, body=BODY):
    return DataFile(f"set/{name}", Plain(hashlib.sha256(body).hexdigest()), tuple(Source((url,)) for url in urls))


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_root_by_argument_then_variable_then_cache(monkeypatch, tmp_path):
    import pooch

    monkeypatch.setenv("GRAPHREACH_DATA", str(tmp_path / "variable"))
    assert find_root(tmp_path) == tmp_path
    assert find_root() == tmp_path / "variable"
    for empty in ("", None):
        monkeypatch.delenv("GRAPHREACH_DATA", raising=False)
        if empty is not None:
            monkeypatch.setenv("GRAPHREACH_DATA", empty)
        assert find_root() == Path(pooch.os_cache("graphreach"))


def test_no_default_root_without_pooch(monkeypatch):
    monkeypatch.delenv("GRAPHREACH_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(InputError, match="GRAPHREACH_DATA"):
        find_root()


def test_file_in_place_needs_no_server(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.txt").write_bytes(BODY)
    file = data_file("a.txt", NOWHERE)
    assert Store("set", [file], tmp_path).open(file) == BODY


def test_missing_file_is_downloaded_to_the_folder_of_the_variable(server, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_DATA", str(tmp_path / "new"))
    here, missing = data_file("a.txt", NOWHERE), data_file("b.txt", server.gives("/b", BODY))
    (tmp_path / "new" / "set").mkdir(parents=True)
    (tmp_path / "new" / "set" / "a.txt").write_bytes(BODY)
    store = Store("set", [here, missing])
    assert store.missing() == [missing]
    assert store.fetch() == [tmp_path / "new" / "set" / name for name in ("a.txt", "b.txt")]
    assert store.missing() == []
    assert files_below(tmp_path) == ["new/set/a.txt", "new/set/b.txt"]


def test_wrong_file_in_place_is_named_and_left_alone(server, tmp_path):
    (tmp_path / "set").mkdir()
    path = tmp_path / "set" / "a.txt"
    path.write_bytes(b"my own")
    file = data_file("a.txt", server.gives("/a", BODY))
    with pytest.raises(InputError, match=r"a\.txt must be the file that set is known by, but its sha256 is"):
        Store("set", [file], tmp_path).open(file)
    assert path.read_bytes() == b"my own"
    assert server.asked == []


def test_offline_says_which_files_to_put_where(server, tmp_path):
    files = [data_file(name, NOWHERE) for name in ("a.txt", "b.txt", "c.txt")]
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "b.txt").write_bytes(BODY)
    with pytest.raises(DownloadError) as error:
        Store("set", files, tmp_path).fetch()
    assert str(error.value) == (
        f"set needs a.txt, c.txt in {tmp_path / 'set'}, and a.txt could not be downloaded (127.0.0.1:1: no connection): "
        "put them there, or set GRAPHREACH_DATA to a folder that has set/"
    )


@pytest.mark.parametrize("how", ["gives", "cuts_off", "stalls"])
def test_failed_download_leaves_nothing(server, tmp_path, how):
    body = BODY[:-1] if how == "gives" else BODY
    file = data_file("a.txt", getattr(server, how)("/a", body))
    with pytest.raises(DownloadError):
        Store("set", [file], tmp_path).fetch()
    assert files_below(tmp_path) == []


def test_failed_write_leaves_nothing_and_is_one_sentence(server, tmp_path, monkeypatch):
    def fill_disk(path, data):
        with path.open("wb") as out:
            out.write(data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill_disk)
    file = data_file("a.txt", server.gives("/a", BODY))
    with pytest.raises(DownloadError, match=r"a\.txt could not be downloaded \(No space left on device\)"):
        Store("set", [file], tmp_path).fetch()
    assert files_below(tmp_path) == []


def test_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "root").write_text("a file, not a folder")
    file = data_file("a.txt", server.gives("/a", BODY))
    with pytest.raises(DownloadError, match="put it there"):
        Store("set", [file], tmp_path / "root").fetch()
    assert server.asked == []


FETCH = """
import os, signal, sys
from pathlib import Path
from graphreach.datasets.store import Plain
from graphreach.datasets.store import DataFile, Source
from graphreach.datasets.store import Store

url, sha256, root, die_in_write = sys.argv[1:]
if die_in_write == "1":
    def write_and_die(path, data):
        with path.open("wb") as out:
            out.write(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    Path.write_bytes = write_and_die
Store("set", [DataFile("set/a.txt", Plain(sha256), (Source((url,)),))], root).fetch()
"""


def start(url, root, die_in_write):
    words = [url, hashlib.sha256(BODY).hexdigest(), str(root), str(int(die_in_write))]
    return subprocess.Popen([sys.executable, "-c", FETCH, *words], env={**os.environ, "NO_PROXY": "*"})


@pytest.mark.parametrize("where", ["download", "write"])
def test_killed_process_leaves_no_file_in_place(server, tmp_path, where):
    url = server.stalls("/a", BODY) if where == "download" else server.gives("/a", BODY)
    process = start(url, tmp_path, where == "write")
    if where == "download":
        assert server.stalled.wait(60)
        process.kill()
    assert process.wait(60) == -signal.SIGKILL
    assert not (tmp_path / "set" / "a.txt").exists()
    file = data_file("a.txt", server.gives("/b", BODY))
    assert Store("set", [file], tmp_path).open(file) == BODY
