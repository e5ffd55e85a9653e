"""Damage to valid bytes: anywhere, inside of containers, and by kind in JSON."""

import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from tests.fuzz.entry import Dice

NUMBERS = [
    b"nan", b"NaN", b"inf", b"-inf", b"-1", b"-0", b"0", b"1e400", b"1e308", b"1e-320", b"0x1F", b"1_000", b"1,5",
    b"99999999999999999999999", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809",
    b"18446744073709551616", b"4294967296", b"2147483648", b"007", b"+7", b"1.0", b"1e3", b".5", b"5.", b"1/2",
    "\u0663".encode(), "\uff11".encode(), "\u00b2".encode(), "\u22121".encode(),
]  # fmt: skip
TOKENS = [
    *NUMBERS, b"", b" ", b"  ", b"\t", b",", b";", b"|", b":", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"\x1a", b"\x0b",
    b"\x0c", b"\x1b[31m", b"\x7f", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\xfe\xff", b'"', b"'", b'""', b'"a', b'a"b', b'"a\nb"', b"\\", b"#", b"%", b"//", b"None", b"null", b"NA", b"true",
    "\u2028".encode(), "\u00a0".encode(), "\u200b".encode(), "\u0085".encode(), "\u0130".encode(), "e\u0301".encode(),
    b"source", b"weight", b"{}", b"[]", b"<", b"&", b"&#0;", b"&x;", b"<!--", b"]]>", b"--", b"%%MatrixMarket",
    b"=1+1", b"../x", b"x" * 300,
]  # fmt: skip
SEPARATORS = [b",", b"\t", b";", b"|", b" ", b"  ", b", ", b"::"]
Operation = Callable[[bytes, Dice], bytes]


def _place(data: bytes, dice: Dice) -> int:
    """A position, more often near the ends than in the middle, where formats keep what matters."""
    if dice.chance(0.25):
        return dice.below(min(len(data), 64) + 1)
    if dice.chance(0.2):
        return len(data) - dice.below(min(len(data), 64) + 1)
    return dice.below(len(data) + 1)


def _slice(data: bytes, dice: Dice) -> tuple[int, int]:
    begin = _place(data, dice)
    size = dice.between(1, 8) if dice.chance(0.7) else dice.between(1, max(1, len(data) // 2))
    return begin, min(len(data), begin + size)


def flip(data: bytes, dice: Dice) -> bytes:
    out = bytearray(data)
    for _ in range(dice.pick([1, 1, 1, 2, 8, 64])):
        if out:
            out[min(_place(data, dice), len(out) - 1)] ^= 1 << dice.below(8)
    return bytes(out)


def overwrite(data: bytes, dice: Dice) -> bytes:
    begin, end = _slice(data, dice)
    return data[:begin] + dice.bytes(end - begin) + data[end:]


def cut_tail(data: bytes, dice: Dice) -> bytes:
    return data[: _place(data, dice)]


def cut_head(data: bytes, dice: Dice) -> bytes:
    return data[dice.between(1, 40) :]


def delete(data: bytes, dice: Dice) -> bytes:
    begin, end = _slice(data, dice)
    return data[:begin] + data[end:]


def duplicate(data: bytes, dice: Dice) -> bytes:
    begin, end = _slice(data, dice)
    return data[:end] + data[begin:end] * dice.pick([1, 1, 2, 50]) + data[end:]


def insert_token(data: bytes, dice: Dice) -> bytes:
    place = _place(data, dice)
    return data[:place] + dice.pick(TOKENS) + data[place:]


def insert_bytes(data: bytes, dice: Dice) -> bytes:
    place = _place(data, dice)
    return data[:place] + dice.bytes(dice.between(1, 12)) + data[place:]


def append_garbage(data: bytes, dice: Dice) -> bytes:
    return data + dice.pick([dice.bytes(20), b"\0" * 40, data, b"\n", b"\r\n", b"1 2 3 4 5\n", b"a\n"])


def garbage(data: bytes, dice: Dice) -> bytes:
    return dice.bytes(dice.pick([0, 1, 2, 10, 100, 1000]))


BINARY: Sequence[Operation] = [
    flip, flip, flip, overwrite, cut_tail, cut_tail, cut_head, delete, duplicate, insert_token, insert_bytes,
    append_garbage, garbage,
]  # fmt: skip


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True) or [b""]


def swap_separator(data: bytes, dice: Dice) -> bytes:
    present = [each for each in SEPARATORS if each in data] or [b" "]
    old, new = dice.pick(present), dice.pick(SEPARATORS)
    if dice.chance(0.5):
        return data.replace(old, new)
    lines = _lines(data)
    line = dice.below(len(lines))
    lines[line] = lines[line].replace(old, new)
    return b"".join(lines)


def change_field(data: bytes, dice: Dice) -> bytes:
    """Another word in one field of one line."""
    lines = _lines(data)
    line = dice.below(len(lines))
    for separator in SEPARATORS[:5]:
        if separator in lines[line]:
            fields = lines[line].rstrip(b"\r\n").split(separator)
            field = dice.below(len(fields))
            fields[field] = dice.pick([dice.pick(TOKENS), dice.pick(NUMBERS), b'"' + fields[field] + b'"'])
            lines[line] = separator.join(fields) + b"\n"
            break
    return b"".join(lines)


def change_fields(data: bytes, dice: Dice) -> bytes:
    """Add or drop a field of one line, or of all."""
    lines, separator = _lines(data), next((each for each in SEPARATORS[:5] if each in data), b" ")
    chosen = range(len(lines)) if dice.chance(0.3) else [dice.below(len(lines))]
    token, drop = dice.pick(TOKENS), dice.chance(0.5)
    for line in chosen:
        body = lines[line].rstrip(b"\r\n")
        lines[line] = (body.rpartition(separator)[0] if drop else body + separator + token) + b"\n"
    return b"".join(lines)


def move_lines(data: bytes, dice: Dice) -> bytes:
    lines = _lines(data)
    kind = dice.below(4)
    if kind == 0:
        return b"".join(dice.shuffled(lines))
    if kind == 1:
        return b"".join(reversed(lines))
    line = dice.below(len(lines))
    return b"".join([*lines[:line], *([lines[line]] * (0 if kind == 2 else 3)), *lines[line + 1 :]])


def line_ends(data: bytes, dice: Dice) -> bytes:
    return data.replace(b"\n", dice.pick([b"\r\n", b"\r", b"\n\r", b"\n\n", b"\x85", b"\0", b" \n", b"\t\n", b",\n"]))


def encode(data: bytes, dice: Dice) -> bytes:
    text = data.decode("utf-8", "replace")
    kind = dice.pick(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "cp1252", "cp037", "utf-7"])
    return text.encode(kind, "replace")


def long_line(data: bytes, dice: Dice) -> bytes:
    lines = _lines(data)
    line = dice.below(len(lines))
    unit = dice.pick([b"x", b"1", b" ", b",", b'"', b"1 ", b"a,", b"\t"])
    lines[line] = lines[line].rstrip(b"\n") + unit * dice.pick([100, 5000, 100_000]) + b"\n"
    return b"".join(lines)


def control_characters(data: bytes, dice: Dice) -> bytes:
    out = data
    for _ in range(dice.between(1, 4)):
        place = dice.below(len(out) + 1)
        out = out[:place] + bytes([dice.pick([0, 1, 7, 8, 11, 12, 13, 26, 27, 28, 29, 30, 31, 127])]) + out[place:]
    return out


TEXT: Sequence[Operation] = [
    *BINARY, swap_separator, change_field, change_field, change_field, change_fields, change_fields, move_lines,
    line_ends, encode, long_line, control_characters, insert_token,
]  # fmt: skip


def damage(data: bytes, dice: Dice, operations: Sequence[Operation] = BINARY, most: int = 3) -> bytes:
    """Bytes with a few kinds of damage, mostly with one."""
    for _ in range(dice.pick([1, 1, 1, 2, most])):
        data = dice.pick(operations)(data, dice)
    return data


def damage_text(data: bytes, dice: Dice) -> bytes:
    """Damaged text."""
    return damage(data, dice, TEXT)


def damage_gzip(data: bytes, dice: Dice) -> bytes:
    """Damaged text in a whole gzip file, or whole text in a damaged one."""
    kind = dice.below(6)
    if kind == 0:
        return damage(gzip.compress(data, mtime=0), dice)
    if kind == 1:  # two members, and what follows them
        whole = gzip.compress(data, mtime=0)
        return whole + dice.pick([whole, b"\0" * 10, b"garbage", whole[:10], gzip.compress(b"", mtime=0)])
    if kind == 2:  # the sum or the size at the end is not that of the data
        whole = gzip.compress(data, mtime=0)
        return whole[:-8] + struct.pack("<II", dice.below(2**32), dice.pick([0, len(data), 2**32 - 1]))
    if kind == 3:
        return damage_text(data, dice)
    return gzip.compress(damage_text(data, dice), mtime=0)


def damage_npy(data: bytes, dice: Dice) -> bytes:
    """A damaged .npy: declared shape, type and order, or its bytes."""
    if dice.chance(0.4) or data[:6] != b"\x93NUMPY":
        return damage(data, dice)
    size = struct.unpack("<H", data[8:10])[0]
    header, body = data[10 : 10 + size], data[10 + size :]
    shape = header[header.index(b"'shape':") :].partition(b"}")[0]
    shapes = [b"()", b"(0,)", b"(1,)", b"(-1,)", b"(2, 3)", b"(1000000000000,)", b"(99999999999999999999,)", b"(2, 0)"]
    shapes += [b"(1.5,)", b"('a',)", b"None", b"(2, 2, 2)", b"(4294967296, 4294967296)", b"5", b"(True,)"]
    kinds = [b"'<i8'", b"'<f4'", b"'<f8'", b"'|O'", b"'<U3'", b"'>i4'", b"'|b1'", b"'<c16'", b"'<M8[s]'", b"'|V8'"]
    kinds += [b"[('a', '<i4')]", b"'<U99999999'", b"'nonsense'", b"None", b"'|S0'", b"'<m8'", b"'<f2'", b"'<u8'"]
    if dice.chance(0.5):
        header = header.replace(shape, b"'shape': " + dice.pick(shapes) + b", ")
    else:
        kind = header[header.index(b"'descr':") :].partition(b",")[0]
        header = header.replace(kind, b"'descr': " + dice.pick(kinds))
    if dice.chance(0.2):
        header = header.replace(b"False", b"True")
    return data[:8] + struct.pack("<H", len(header)) + header + body


def damage_zip(data: bytes, dice: Dice, inner: Callable[[bytes, Dice], bytes] = damage_npy) -> bytes:
    """A damaged .npz: its bytes, or a whole archive of damaged, missing, renamed or repeated members."""
    if dice.chance(0.3):
        return damage(data, dice)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        members = [(name, file.read(name)) for name in file.namelist()]
    place = dice.below(len(members))
    name, content = members[place]
    kind = dice.below(10)
    if kind == 0:
        members.pop(place)
    elif kind == 1:
        members[place] = (
            dice.pick(["x.npy", "edge_index", "ids.npy", "../../up.npy", "data.npy", "", name + "x"]),
            content,
        )
    elif kind == 2:
        members[place] = (name, members[dice.below(len(members))][1])
    elif kind == 3:
        members[place] = (name, damage(content, dice))
    else:
        members[place] = (name, inner(content, dice))
    out = io.BytesIO()
    method = dice.pick([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
    with zipfile.ZipFile(out, "w", method) as file:
        for each, own in members:
            file.writestr(zipfile.ZipInfo(each or "x"), own, method)
    return out.getvalue() if kind != 9 else _with_other_sum(out.getvalue(), dice)


def _with_other_sum(data: bytes, dice: Dice) -> bytes:
    """The archive with a wrong sum or size in its directory."""
    place = data.find(b"PK\x01\x02")
    field = place + dice.pick([8, 10, 16, 20, 24, 28, 42])
    return data[:field] + dice.bytes(4) + data[field + 4 :]


ODD_JSON: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf"), "", "a", "0", "null",
    "\0", "\u00e9", "x" * 500, [], {}, [1], ["a"], [None], [[1]], {"a": 1}, {"": None}, [1, "a"], "../..", "/", "link",
]  # fmt: skip


def change_json(value: Any, dice: Dice) -> Any:
    """The value with another kind or number in one place, a key less, or one more."""
    if isinstance(value, dict) and value and dice.chance(0.92):
        key = dice.pick(list(value))
        kind = dice.below(10)
        if kind == 0:
            return {each: own for each, own in value.items() if each != key}
        if kind == 1:
            return value | {dice.pick(["odd", "", "format", "\0", key.upper(), f" {key}"]): dice.pick(ODD_JSON)}
        return value | {key: change_json(value[key], dice)}
    if isinstance(value, list) and value and dice.chance(0.85):
        place = dice.below(len(value))
        kind = dice.below(8)
        if kind == 0:
            return value[:place]
        if kind == 1:
            return [*value, dice.pick(ODD_JSON)]
        return [*value[:place], change_json(value[place], dice), *value[place + 1 :]]
    return dice.pick(ODD_JSON)


def damage_json(data: bytes, dice: Dice) -> bytes:
    """JSON with other kinds in it, or damaged text."""
    if dice.chance(0.25):
        return damage_text(data, dice)
    if dice.chance(0.03):
        return b"[" * 100_000
    value = json.loads(data)
    for _ in range(dice.pick([1, 1, 1, 2, 4])):
        value = change_json(value, dice)
    return json.dumps(value, indent=dice.pick([None, 1]), ensure_ascii=dice.chance(0.5)).encode(
        "utf-8", "surrogatepass"
    )


def damage_safetensors(data: bytes, dice: Dice) -> bytes:
    """Weights with a damaged header of the right length, or damaged bytes."""
    if dice.chance(0.5):
        return damage(data, dice)
    size = struct.unpack("<Q", data[:8])[0]
    header = damage_json(data[8 : 8 + size], dice)
    return struct.pack("<Q", len(header)) + header + data[8 + size :]


def checksum(data: bytes) -> str:
    """A short name for a case's content."""
    return f"{zlib.crc32(data):08x}"
