"""Memory of arrays that are gone is used again, and never while somebody still reads it."""

import gc
import threading

import numpy as np
import torch

from graphreach.nn.kernels import memory
from graphreach.nn.kernels.memory import Pool


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_comes_again_when_the_array_is_gone():
    pool = Pool(1 << 20)
    first = pool.array((10, 100), np.float32)
    place = address(first)
    assert pool.kept == 0
    del first
    assert pool.kept == 4000
    again = pool.array((500,), np.float64)
    assert address(again) == place
    assert again.shape == (500,)
    assert pool.kept == 0


def test_two_arrays_never_share_memory():
    pool = Pool(1 << 20)
    arrays = [pool.array((64,), np.float32) for _ in range(5)]
    arrays = [*arrays[:2], *(pool.array((64,), np.float32) for _ in range(5))]
    assert len({address(each) for each in arrays}) == 7


def test_a_tensor_and_its_views_keep_the_memory():
    pool = Pool(1 << 20)
    tensor = torch.from_numpy(pool.array((8, 8), np.float32))
    view, place = tensor[2:4].t(), tensor.data_ptr()
    del tensor
    gc.collect()
    assert pool.kept == 0
    view.fill_(3)
    assert address(pool.array((8, 8), np.float32)) != place
    assert view.eq(3).all()
    del view
    assert pool.kept > 0


def test_too_much_is_given_up_the_oldest_size_first():
    pool = Pool(1000)
    small, large = pool.array((100,), np.float32), pool.array((200,), np.float32)
    place = address(large)
    del small
    assert pool.kept == 400
    del large
    assert pool.kept == 800
    assert address(pool.array((200,), np.float32)) == place
    pool.clear()
    assert pool.kept == 0
    huge = pool.array((2000,), np.float32)
    del huge
    assert pool.kept == 0


def test_threads_may_take_and_return():
    pool = Pool(1 << 20)

    def work(number):
        for _ in range(200):
            array = pool.array((50,), np.float64)
            array[:] = number
            assert (array == number).all()
            del array

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pool.kept <= 4 * 400


def test_large_tensors_come_from_the_pool(monkeypatch):
    monkeypatch.setattr(memory, "POOL", Pool(1 << 30))
    rows = memory.SMALLEST // 4
    large = memory.empty((rows,), torch.float32)
    place = large.data_ptr()
    del large
    assert memory.POOL.kept == memory.SMALLEST
    large = memory.empty((rows // 2, 2), torch.float32)
    assert large.data_ptr() == place
    assert large.isnan().all()  # the tests of nn run in deterministic mode
    assert memory.empty((rows - 1,), torch.float32).isnan().all()
    assert memory.POOL.kept == 0


def test_empty_of_either_type_and_no_size():
    for dtype in (torch.float32, torch.float64):
        assert memory.empty((0, 5), dtype).shape == (0, 5)
        assert memory.empty((), dtype).dtype == dtype
