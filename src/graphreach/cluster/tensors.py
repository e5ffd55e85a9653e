"""Objects with tensors in them, as arrays that all processes of a machine read from one place."""

import io
import pickle
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray import cloudpickle
from torch import Tensor

Packed = tuple[bytes, list[NDArray[np.uint8]]]


def pack(content: Any) -> Packed:
    """Split an object into a description and the bytes of its arrays and tensors, which Ray keeps in shared memory.

    Ray does so with arrays by itself; tensors it would copy into every process.

    Example:
        >>> description, buffers = pack({"x": torch.ones(1000)})
        >>> len(description) < 1000, [len(each) for each in buffers]
        (True, [4000])
    """
    file, buffers = io.BytesIO(), list[NDArray[np.uint8]]()
    _Packer(file, protocol=5, buffer_callback=lambda each: buffers.append(np.frombuffer(each.raw(), np.uint8))).dump(
        content
    )
    return file.getvalue(), buffers


def unpack(packed: Packed) -> Any:
    """The object again. Its tensors are only to be read: they may be memory that others read too.

    Example:
        >>> unpack(pack({"x": torch.ones(3)}))
        {'x': tensor([1., 1., 1.])}
    """
    description, buffers = packed
    return pickle.loads(description, buffers=buffers)


class _Packer(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Describes tensors by arrays."""

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is Tensor and obj.device.type == "cpu" and obj.layout == torch.strided and not obj.requires_grad:
            return _tensor, (obj.contiguous().numpy(),)
        return super().reducer_override(obj)


def _tensor(array: NDArray[Any]) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*not writable", category=UserWarning)
        return torch.from_numpy(array)
