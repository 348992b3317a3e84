"""Members of an eager Tensor besides operators and functions: devices, storage, and answers about itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, UnsupportedError
from engine.core.operators.operator import Leaf
from engine.core.place import CPUPlace, Place, PlaceLike, as_place, backend, current_place, page_locked
from engine.core.values.bfloat import adopt, plain
from engine.core.values.var_type import VarType
from engine.eager.tensor import Numbers, Tensor, counter_of, write
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import transfer
from engine.ops.elementwise import arithmetic as arithmetic_ops
from engine.program.run.scope import ScopeTensor, ScopeVariable
from engine.tensor import creation, math
from engine.tensor.elements import indexing
from engine.tensor.members.inplace import replace

# -- devices and dtypes ------------------------------------------------------------------------------------


def to_place(x: Tensor, place: Place, blocking: bool = True) -> Tensor:
    """x on another device, gradients flowing back; x itself if it is on that device.

    From page-locked memory the host waits for the copy only where it is ``blocking``.
    """
    here = x.place
    if here == place:
        return x
    if place.is_cuda_pinned_place():
        return _pin_memory(x)
    made: Tensor = transfer.memcpy(x, source=here.device, target=place.device)
    if blocking and here.is_cuda_pinned_place() and place.is_gpu_place():
        backend(place).streams.current(place.index).synchronize()
    return made


def _is_place(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower().partition(":")[0] in ("cpu", "gpu", "cuda")
    return isinstance(value, Place)


def to(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor on another device, in another dtype, or both: those named, or those of another tensor.

    ``x.to('cpu')``, ``x.to('float64')``, ``x.to('gpu:0', 'float16', blocking)``, ``x.to(other)``.

    Differs from Paddle: the tensor itself does not change.
    """
    unknown = set(kwargs) - {"device", "dtype", "blocking", "other"}
    if unknown or len(args) > 3 or not (args or kwargs):
        raise DTypeError(
            f"to: takes a device, a dtype or a tensor, and blocking: got {args} {sorted(kwargs)}"
        )
    device = dtype = None
    for value in (*args, *(v for k, v in kwargs.items() if k != "blocking")):
        if isinstance(value, bool) or value is None:
            continue
        if isinstance(value, Tensor):
            device, dtype = value.place, value.dtype
        elif _is_place(value):
            device = as_place(value)
        else:
            dtype = value
    blocking = kwargs.get("blocking", next((v for v in args if isinstance(v, bool)), True))
    result = x if device is None else to_place(x, device, bool(blocking))
    return result if dtype is None else math.cast(result, dtype)


def _cuda(x: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """The tensor on a GPU, by default the current one; ``blocking`` matters for page-locked memory."""
    current = current_place()
    if device_id is None and current.is_gpu_place():
        return to_place(x, current, blocking)
    return to_place(x, as_place(f"gpu:{device_id or 0}"), blocking)


def _pin_memory(x: Tensor, blocking: bool = True) -> Tensor:
    """The tensor in page-locked memory of the host, from which a GPU copies while the host continues; without
    a GPU in plain memory."""
    host = to_place(x, CPUPlace()) if x.place.is_gpu_place() else x
    if host.place.is_cuda_pinned_place():
        return host
    locked = page_locked(plain(host._array))
    if locked is host._array:
        return host
    made: Tensor = host if host is not x else transfer.memcpy(x, source="cpu", target="cpu")
    made._array = adopt(locked)
    return made


# -- storage -----------------------------------------------------------------------------------------------


class TensorStorage(ScopeTensor):
    """The storage of an eager Tensor: ``numpy.array(t)`` copies it, ``set`` writes it in place."""

    def __init__(self, tensor: Tensor) -> None:
        variable = ScopeVariable(tensor.name)
        variable.tensor = tensor
        super().__init__(variable)

    def set(self, array: Tensor | Numbers, place: PlaceLike | None = None) -> None:
        """Write values of the same shape."""
        assert self._variable.tensor is not None
        self._variable.tensor.set_value(array)


def _fill(x: Tensor, value: Any) -> Tensor:
    """In place: every element becomes ``value``; the gradient of what was there is 0."""
    made = creation.full(x.shape, value, x.dtype)
    if x._edge is None or not modes.current().grad:
        x.set_value(made)
        return x
    never = creation.zeros([], "bool")
    filled: Tensor = replace("fill_", x, index_ops.where(never, creation.clone(x), made))
    return filled


def _zero(x: Tensor) -> Tensor:
    """In place: every element becomes 0."""
    return _fill(x, 0.0)


def _copy(x: Tensor, other: Any, blocking: bool = True) -> Tensor:
    """In place: the values of ``other``, of the same shape, in the dtype of x; no gradient flows."""
    value = creation.to_tensor(other) if not isinstance(other, Tensor) else other.detach()
    x.set_value(value if value.dtype is x.dtype else arithmetic_ops.cast(value, out_dtype=x.dtype.name))
    return x


def _inplace_assign(x: Tensor, other: Tensor) -> None:
    """In place: the values of ``other`` in its shape and dtype; gradients flow back to it."""
    replace("_inplace_assign", x, creation.clone(other), becomes="shape")


def _set_data(x: Tensor, other: Any) -> None:
    """Let the tensor hold the values of another, of whatever shape and dtype."""
    if not isinstance(other, Tensor):
        raise DTypeError(f"data: takes a Tensor: got {type(other).__name__}; use to_tensor() or set_value()")
    if other._array.shape == x._array.shape and other._array.dtype == x._array.dtype:
        write(x, other._array)
        return
    x._array, x._version = other._array.copy(), None
    if x._edge.__class__ is Leaf:
        x._edge = Leaf(x._array.shape)


def _strides(x: Tensor) -> list[int]:
    """The number of elements between neighbours, for each dimension."""
    return [s // x._array.itemsize for s in x._array.strides]


def _offset(x: Tensor) -> int:
    """0: elements before the tensor in its storage are not visible."""
    return 0


def _address(x: Tensor) -> int:
    """The address of the first element."""
    array = x._array
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


def _contiguous(x: Tensor) -> Tensor:
    """The tensor itself, or a copy in row-major order."""
    return x if x._array.flags.c_contiguous else creation.clone(x)


def _is_contiguous(x: Tensor) -> bool:
    """True if the elements are in row-major order."""
    return bool(x._array.flags.c_contiguous)


def _version(x: Tensor) -> int:
    """How often the tensor, or one that shares its storage, was changed in place."""
    return 0 if x._version is None else x._version.count


def _md5sum(x: Tensor) -> str:
    """The MD5 sum of the bytes, to compare tensors by."""
    return hashlib.md5(x.numpy().tobytes(), usedforsecurity=False).hexdigest()


# -- answers -----------------------------------------------------------------------------------------------


def _share_buffer(x: Tensor, other: Tensor) -> None:
    """Let ``other`` hold the storage of this tensor: changes in place are seen by both."""
    other._array, other._version = x._array, counter_of(x)


def _is_shared(x: Tensor, other: Tensor) -> bool:
    """Whether both look at the same storage."""
    return bool(np.shares_memory(x._array, other._array))


def _clear(x: Tensor) -> None:
    """Give the storage back; the tensor has no elements then."""
    _set_data(x, creation.zeros([0], x.dtype))


def _is_same_shape(x: Tensor, y: Tensor) -> bool:
    """Whether both have the same shape."""
    return x.shape == y.shape


def _always(answer: bool, text: str) -> Callable[[Tensor], bool]:
    def method(x: Tensor) -> bool:
        return answer

    method.__doc__ = text
    return method


def _of_sparse(name: str) -> Callable[..., Any]:
    """A method that sparse tensors define; of a dense one it raises UnsupportedError."""

    def method(x: Tensor, *_: Any, **__: Any) -> Any:
        raise UnsupportedError(
            f"{name}: a sparse tensor has this: got a dense one, {x.shape}; use to_sparse_coo() first"
        )

    method.__doc__ = f"``{name}`` of a sparse tensor: a dense one raises UnsupportedError."
    return method


def _array_protocol(x: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    """NumPy's way to ask for an array: a copy, or with ``copy=False`` a read-only look at the storage."""
    if copy is False:
        if not isinstance(x._array, np.ndarray) or (dtype is not None and np.dtype(dtype) != x._array.dtype):
            raise ArgumentError(
                f"array: {x.dtype.name} on {x.place} as {dtype or x.dtype.name} on the CPU needs a copy; "
                "leave copy=False out"
            )
        look = x._array[...]
        look.flags.writeable = False
        return look
    array = x.numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def _complex(x: Tensor) -> complex:
    return complex(x.item())


def _copied(x: Tensor) -> Tensor:
    """``copy.copy``: another Tensor over the same storage, at the same place in the graph."""
    made = object.__new__(type(x))
    made._array, made._edge = x._array, x._edge
    made._version = counter_of(x)
    made.persistable = x.persistable
    for name in ("optimize_attr", "regularizer", "need_clip", "is_distributed"):
        if hasattr(x, name):
            setattr(made, name, getattr(x, name))
    return made


ATTRIBUTES: dict[str, Any] = {
    "to": to,
    "_to": to,
    "cpu": lambda x: to_place(x, CPUPlace()),
    "cuda": _cuda,
    "pin_memory": _pin_memory,
    "_copy_to": lambda x, place, blocking=True: creation.clone(x) if x.place == place else to_place(x, place),
    "_place_str": property(lambda x: str(x.place)),
    "zero_": _zero,
    "fill_": _fill,
    "copy_": _copy,
    "data": property(lambda x: x, _set_data),
    "value": lambda x: x,
    "get_tensor": lambda x: TensorStorage(x),
    "strides": property(_strides),
    "get_strides": _strides,
    "offset": property(_offset),
    "data_ptr": _address,
    "layout": property(lambda x: "NCHW"),
    "type": property(lambda x: VarType.LOD_TENSOR),
    "element_size": lambda x: x.dtype.itemsize,
    "is_contiguous": _is_contiguous,
    "contiguous": _contiguous,
    "inplace_version": property(_version),
    "_inplace_version": _version,
    "_bump_inplace_version": lambda x: write(x, x._array),
    "_is_initialized": _always(True, "True: every tensor has its storage from the beginning."),
    "_share_buffer_to": _share_buffer,
    "_share_underline_tensor_to": _share_buffer,
    "_is_shared_buffer_with": _is_shared,
    "_is_shared_underline_tensor_with": _is_shared,
    "_clear": _clear,
    "_clear_data": _clear,
    "_is_dense_tensor_hold_allocation": _always(True, "True: every tensor has its storage from the start."),
    "_inplace_assign": _inplace_assign,
    "reconstruct_from_": _set_data,
    "_grad_name": lambda x: f"{x.name}@GRAD",
    "_grad_value": lambda x: x.grad,
    "_offset": _offset,
    "_getitem_dygraph": indexing.getitem,
    "_setitem_dygraph": indexing.setitem,
    "_slice": lambda x, begin, end: x[begin:end],
    "_numel": lambda x: x.size,
    "_md5sum": _md5sum,
    "is_dense": _always(True, "True: elements are stored one by one."),
    "is_dist": _always(False, "False: it is whole in this process."),
    "is_sparse": _always(False, "False: elements are stored one by one."),
    "is_sparse_coo": _always(False, "False: elements are stored one by one."),
    "is_sparse_csr": _always(False, "False: elements are stored one by one."),
    **{n: _of_sparse(n) for n in ("indices", "values", "crows", "cols", "nnz", "to_dense", "coalesce")},
    "is_selected_rows": _always(False, "False: elements are stored one by one."),
    "is_same_shape": _is_same_shape,
    "__array__": _array_protocol,
    "__array_priority__": 100.0,  # NumPy's arrays leave operators with a Tensor on the right to it
    "__complex__": _complex,
    "__copy__": _copied,
}
