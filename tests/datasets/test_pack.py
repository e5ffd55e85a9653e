import gzip

import pytest

from graphreach.datasets.edge_lists import CHICAGO
from graphreach.datasets.store import ContentError, Gzipped, as_gzip, as_plain, as_zip, links_of_tntp, read_zip

TNTP = b"""<NUMBER OF ZONES> 2\t\t
<NUMBER OF LINKS> 2\t\t
<END OF METADATA>\t\t


~\tfrom \tto\tcapacity\tlength\t
\t1\t3\t100000\t0.45\t0\t;
\t3\t2\t2735.399902\t0.5\t0\t;
"""


def test_tntp_keeps_numbers_as_written():
    assert gzip.decompress(links_of_tntp([TNTP])) == b"from,to,capacity\n1,3,100000\n3,2,2735.399902\n"


def test_tntp_of_the_real_links_has_the_known_checksum(data_root):
    """What the source lists, made from the mirror's table, gives back a file that passes the check."""
    rows = gzip.decompress((data_root / CHICAGO.path).read_bytes()).split(b"\n")[1:-1]
    links = b"".join(b"\t" + row.replace(b",", b"\t") + b"\t0.5\t0\t0.15\t4\t25\t0\t3\t;\n" for row in rows)
    head = b"<NUMBER OF LINKS> 39018\t\t\n<END OF METADATA>\t\t\n\n\n~\tfrom \tto\tcapacity\tlength\t\n"
    assert CHICAGO.open(links_of_tntp([head + links])).count(b"\n") == 39_019


def test_other_text_is_not_tntp():
    with pytest.raises(ContentError, match="TNTP"):
        links_of_tntp([b"<html></html>"])


def test_packing_again_is_repeatable():
    assert links_of_tntp([TNTP]) == links_of_tntp([TNTP])
    assert as_gzip([b"text"]) == as_gzip([b"text"])
    assert as_zip("a")([b"text"]) == as_zip("a")([b"text"])
    assert read_zip(as_zip("d/a")([b"text"]), ("d/a",)) == {"d/a": b"text"}


def test_damaged_gzip_is_other_content():
    with pytest.raises(ContentError):
        as_plain([gzip.compress(b"text" * 100)[:-9]])
    assert isinstance(CHICAGO.open, Gzipped)
