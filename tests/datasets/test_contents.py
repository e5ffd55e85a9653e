import gzip
import hashlib
import io
import stat
import zipfile

import pytest

from graphreach.datasets import store as contents
from graphreach.datasets.store import ContentError, Gzipped, Plain, Zipped, read_zip

TEXT = b"0 1\n1 2\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()


def archive(*entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in entries:
            target.writestr(name, data)
    return file.getvalue()


def test_plain():
    assert Plain(SHA256)(TEXT) == TEXT
    with pytest.raises(ContentError, match=f"expected {SHA256[:12]}"):
        Plain(SHA256)(TEXT + b"\n")


def test_gzip_is_known_by_its_content():
    for level in (1, 9):
        assert Gzipped(SHA256)(gzip.compress(TEXT, level, mtime=level)) == TEXT
    with pytest.raises(ContentError, match="unpacked content's sha256"):
        Gzipped(SHA256)(gzip.compress(TEXT + b"\n"))


@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT, mtime=0)[:-5], b"\x1f\x8b" + bytes(30), b""])
def test_damaged_gzip(data):
    with pytest.raises(ContentError):
        Gzipped(SHA256)(data)


def test_zip_is_known_by_its_entries():
    data = archive(("a//b.txt", TEXT), ("a//other.txt", b"whatever"))
    assert Zipped({"a/b.txt": SHA256})(data) == {"a/b.txt": TEXT}
    assert Zipped({"a/b.txt": SHA256}, unknown=("a/other.txt",))(data)["a/other.txt"] == b"whatever"
    with pytest.raises(ContentError, match=r"the entry a/b\.txt's sha256"):
        Zipped({"a/b.txt": SHA256})(archive(("a/b.txt", TEXT + b"\n")))
    with pytest.raises(ContentError, match=r"no entry a/c\.txt"):
        Zipped({"a/c.txt": SHA256})(data)


@pytest.mark.parametrize(
    "name",
    ["../b.txt", "a/../../b.txt", "a/..", "/etc/b.txt", "//etc/b.txt", "C:/b.txt", "a\\..\\b.txt", "..\\b.txt"],
)
def test_entries_that_lead_outside_are_refused(name):
    data = archive(("a/b.txt", TEXT), ("?" * len(name), b"x")).replace(b"?" * len(name), name.encode())
    with pytest.raises(ContentError, match="leads out of the folder"):
        Zipped({"a/b.txt": SHA256})(data)


def test_links_are_refused():
    link = zipfile.ZipInfo("a/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(ContentError, match="'a/link' leads out"):
        read_zip(archive(("a/b.txt", TEXT), (link, "/etc/passwd")), ("a/b.txt",))


def test_two_entries_of_one_name_are_refused():
    with pytest.raises(ContentError, match=r"two entries a/b\.txt"):
        read_zip(archive(("a/b.txt", TEXT), ("a//b.txt", b"other")), ("a/b.txt",))


def test_damaged_zip():
    whole = archive(("a.txt", bytes(1000)))
    flipped = bytearray(whole)
    flipped[40] ^= 255
    for data in (b"", TEXT, whole[:-10], bytes(flipped)):
        with pytest.raises(ContentError):
            read_zip(data, ("a.txt",))


def test_bombs_are_refused_unread(monkeypatch):
    monkeypatch.setattr(contents, "MAX_BYTES", 1000)
    with pytest.raises(ContentError, match="more than 1,000 bytes"):
        contents.unzip(gzip.compress(bytes(1001)))
    with pytest.raises(ContentError, match="more than 1,000 bytes"):
        read_zip(archive(("a", bytes(600)), ("b", bytes(600))), ("a", "b"))
    assert len(contents.unzip(gzip.compress(bytes(1000)))) == 1000
