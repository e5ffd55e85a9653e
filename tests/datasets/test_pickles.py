import collections
import os
import pickle

import numpy as np
import pytest

from graphreach.datasets.planetoid import read_pickle
from graphreach.errors import InputError

# Protocol 2, as Python 2 wrote it: modules have their old names, and strings are bytes.
LISTS = b"\x80\x02ccollections\ndefaultdict\nq\x01c__builtin__\nlist\nq\x02\x85Rq\x03(K\x00]q\x04(K\x01K\x02eu."
ARRAY = (
    b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K\x02\x85cnumpy\ndtype\n"
    b"U\x02i4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x08\x01\0\0\0\xff\0\0\0tb."
)


class Evil:
    def __reduce__(self):
        return os.system, ("touch was-here",)


def test_old_dict_of_lists():
    lists = read_pickle(LISTS)
    assert isinstance(lists, collections.defaultdict)
    assert lists == {0: [1, 2]}


def test_old_array():
    array = read_pickle(ARRAY)
    assert (array.tolist(), array.dtype) == ([1, 255], np.int32)


@pytest.mark.parametrize("evil", [Evil(), os.system, eval, Evil, np.load, getattr, collections.OrderedDict()])
def test_anything_else_is_refused(evil, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(InputError, match="a pickle must refer to arrays, lists and dicts only"):
            read_pickle(pickle.dumps(evil, protocol=protocol))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["numpy", "scipy.sparse.csr", "collections", "__builtin__"])
def test_allowed_modules_are_not_open_doors(module):
    for name in ("load", "os.system", "eval", "sys", "dtype.__subclasses__", "__import__"):
        with pytest.raises(InputError):
            read_pickle(f"c{module}\n{name}\n.".encode())
