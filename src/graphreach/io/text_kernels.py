"""Numba kernels over the bytes of a text file: what is unusual in it, and a tidy copy of it."""

import numpy as np
from numpy.typing import NDArray

from graphreach.jit import kernel

Bytes = NDArray[np.uint8]

ODD_INTEGERS, UNTIDY, PADDED, BINARY = 1, 2, 4, 8
"""What :func:`scan_text` reports: integers such as 007; lines for :func:`tidy_text`; blanks around fields; NUL bytes."""

TAB, NEWLINE, RETURN, SPACE, QUOTE, PLUS, MINUS, ZERO, NINE = 9, 10, 13, 32, 34, 43, 45, 48, 57


@kernel
def scan_text(text: Bytes, separator: int, c1: int, c2: int, c3: int, c4: int) -> int:
    """Look through the data lines of a text and return flags for what is unusual in it.

    Integers such as ``007`` or ``+7`` would lose their spelling if they were read as numbers. Comments (lines
    that begin with one of four characters), blank lines, and (where a space separates) runs of blanks,
    leading and trailing blanks are for :func:`tidy_text`. Every byte but the first and the last is looked at;
    there are no branches, so that the compiler can look at many at once.
    """
    blanks = np.uint8(separator == SPACE)
    mark = np.uint8(separator)
    d1, d2, d3, d4 = np.uint8(c1), np.uint8(c2), np.uint8(c3), np.uint8(c4)
    tab, newline, carriage, space, quote = (
        np.uint8(TAB),
        np.uint8(NEWLINE),
        np.uint8(RETURN),
        np.uint8(SPACE),
        np.uint8(QUOTE),
    )
    plus, minus, zero, nine = np.uint8(PLUS), np.uint8(MINUS), np.uint8(ZERO), np.uint8(NINE)
    odd, untidy, padded, binary = np.uint8(0), np.uint8(0), np.uint8(0), np.uint8(0)
    left, middle, right = text[:-2], text[1:-1], text[2:]
    for i in range(middle.size):
        before, byte, after = left[i], middle[i], right[i]
        starts = (before <= space) | (before == mark) | (before == quote)
        leading = (byte == zero) & (after >= zero) & (after <= nine)
        odd |= np.uint8(starts & ((byte == plus) | leading | ((byte == minus) & (after == zero))))
        binary |= np.uint8(byte == np.uint8(0))
        ends = (byte <= space) | (byte == mark) | (byte == quote)
        padded |= np.uint8((starts & (byte == space)) | (ends & (before == space)))
        skipped = (byte == newline) | (byte == carriage) | (byte == d1) | (byte == d2) | (byte == d3) | (byte == d4)
        untidy |= np.uint8((before == newline) & skipped)
        run = (byte <= space) & (before <= space) & ((byte == space) | (before == space))
        untidy |= blanks & np.uint8(run | (byte == tab))
    return ODD_INTEGERS * int(odd) + UNTIDY * int(untidy) + PADDED * int(padded) + BINARY * int(binary)


@kernel
def tidy_text(text: Bytes, begin: int, separator: int, comments: Bytes) -> Bytes:
    """Copy the text from ``begin`` on without comments and blank lines.

    Where a space separates, blanks around a line are dropped and runs of blanks within it become one space.
    """
    blanks = separator == SPACE
    out = np.empty(text.size - begin + 1, np.uint8)
    size, i = 0, begin
    while i < text.size:
        start = i
        while i < text.size and text[i] != NEWLINE:
            i += 1
        end = i
        i += 1
        while end > start and (text[end - 1] == RETURN or (blanks and text[end - 1] <= SPACE)):
            end -= 1
        while blanks and start < end and text[start] <= SPACE:
            start += 1
        first = start
        while first < end and text[first] <= SPACE:
            first += 1
        skip = first == end
        for comment in comments:
            skip = skip or text[first] == comment
        if skip:
            continue
        for j in range(start, end):
            if blanks and text[j] <= SPACE:
                if text[j - 1] > SPACE:
                    out[size] = SPACE
                    size += 1
            else:
                out[size] = text[j]
                size += 1
        out[size] = NEWLINE
        size += 1
    return out[:size]
