"""The numba kernel that makes a tidy copy of a text file's bytes."""

import numpy as np
from numpy.typing import NDArray

from graphreach.jit import kernel

Bytes = NDArray[np.uint8]

NEWLINE, RETURN, SPACE = 10, 13, 32


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
