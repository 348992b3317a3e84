"""The tensors that are alive on GPUs, for messages about memory."""

from __future__ import annotations

import gc
from typing import Any

from engine.core.place import is_cupy
from engine.eager.tensor import Tensor
from engine.kernels.cupy.device import out_of_memory


@out_of_memory.largest.define
def largest(most: int) -> list[str]:
    """The ``most`` largest tensors on GPUs, each as name, dtype, shape and size; one where several share
    memory."""
    found: dict[int, Tensor] = {}
    for each in gc.get_objects():
        if isinstance(each, Tensor) and is_cupy(getattr(each, "_array", None)):
            array: Any = each._array
            root = id(array if array.base is None else array.base)
            if root not in found or found[root]._array.nbytes < array.nbytes:
                found[root] = each
    order = sorted(found.values(), key=lambda tensor: -tensor._array.nbytes)
    return [_line(tensor) for tensor in order[:most]]


def _line(tensor: Tensor) -> str:
    size = out_of_memory.in_words(tensor._array.nbytes)
    return f"{getattr(tensor, '_name', 'a tensor')} {tensor.dtype.name} {tensor.shape} {size}"
