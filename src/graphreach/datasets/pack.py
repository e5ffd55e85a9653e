"""From the form in which a source keeps a file to the form in which it is stored here."""

import gzip
import io
import zipfile

from graphreach.datasets.contents import ContentError, unzip
from graphreach.datasets.data_file import Pack, only

GZIP = b"\x1f\x8b"


def as_gzip(parts: list[bytes]) -> bytes:
    """Packed text; some servers unpack ``.gz`` files on the way.

    Example:
        >>> gzip.decompress(as_gzip([b"0 1"])), gzip.decompress(as_gzip([gzip.compress(b"0 1")]))
        (b'0 1', b'0 1')
    """
    data = only(parts)
    return data if data.startswith(GZIP) else gzip.compress(data, mtime=0)


def as_plain(parts: list[bytes]) -> bytes:
    """Unpacked text.

    Example:
        >>> as_plain([gzip.compress(b"0 1")]), as_plain([b"0 1"])
        (b'0 1', b'0 1')
    """
    data = only(parts)
    return unzip(data) if data.startswith(GZIP) else data


def as_zip(*names: str) -> Pack:
    """An archive with the parts as entries of these names.

    Example:
        >>> archive = as_zip("a.txt", "b.txt")([b"first", b"second"])
        >>> zipfile.ZipFile(io.BytesIO(archive)).read("b.txt")
        b'second'
    """

    def pack(parts: list[bytes]) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in zip(names, parts, strict=True):
                archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)
        return file.getvalue()

    return pack


def links_of_tntp(parts: list[bytes]) -> bytes:
    """The links of a TNTP network file as packed ``from,to,capacity`` lines, numbers as they are written there.

    Example:
        >>> text = b"<END OF METADATA>\\n~ from to capacity length\\n\\t1\\t2\\t100.5\\t0.3\\t;\\n"
        >>> gzip.decompress(links_of_tntp([text]))
        b'from,to,capacity\\n1,2,100.5\\n'
    """
    _, mark, table = only(parts).partition(b"<END OF METADATA>")
    if not mark:
        raise ContentError("it is not a TNTP network file")
    rows = [line.split()[:3] for line in table.splitlines() if line.strip() and not line.lstrip().startswith(b"~")]
    return gzip.compress(b"from,to,capacity\n" + b"".join(b",".join(row) + b"\n" for row in rows), mtime=0)
