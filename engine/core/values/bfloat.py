"""bfloat16: the upper half of a float32, stored as uint16 because NumPy has no such type.

Arrays of bfloat16 are ``BFloat16Array``s on the CPU, so that code made for plain arrays does not take the
bits for numbers; CuPy's are of dtype uint16, which stands for nothing else. Operators compute in float32 and
round once at the end: on the CPU towards zero (the lower half is cut off, as in Paddle), on a GPU to nearest
even.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.operators.opdef import OpDef
from engine.core.place import Array, ArrayModule, array_module
from engine.core.values.dtype import DType, bfloat16
from engine.core.values.spec import Spec

_BITS = np.dtype(np.uint16)


class BFloat16Array(np.ndarray):
    """An array of bfloat16: its dtype is uint16, arithmetic and conversions see the numbers."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        wide = [widen(np, a) if isinstance(a, BFloat16Array) else a for a in inputs]
        result = getattr(ufunc, method)(*wide, **kwargs)
        if out is not None:
            (target,) = out
            target[...] = narrow(np, result) if isinstance(target, BFloat16Array) else result
            return target
        others = [a for a in inputs if isinstance(a, np.ndarray) and not isinstance(a, BFloat16Array)]
        return narrow(np, result) if result.dtype == np.float32 and not others else result

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Convert the numbers to another dtype; uint16 gives their bits."""
        if np.dtype(dtype) == _BITS:
            return super().astype(dtype, *args, **kwargs)
        return widen(np, self).astype(dtype, *args, **kwargs)

    def item(self, *args: Any) -> Any:
        """One number as a Python float."""
        return widen(np, np.asarray(super().item(*args), _BITS)).item()


def is_bfloat16(array: Array) -> bool:
    """Whether the elements of an array are bfloat16."""
    return bool(array.dtype == _BITS)


def adopt(array: Array | np.generic) -> Any:
    """The same memory; where it holds bfloat16 on the CPU, as a BFloat16Array."""
    if isinstance(array, BFloat16Array) or not isinstance(array, (np.ndarray, np.generic)):
        return array
    return np.asarray(array).view(BFloat16Array) if array.dtype == _BITS else array


def plain(array: Array) -> Any:
    """The same memory as an array of uint16, for users and files; other arrays unchanged."""
    return array.view(np.ndarray) if isinstance(array, BFloat16Array) else array


def widen(xp: ArrayModule, array: Array) -> Any:
    """The numbers of an array of bfloat16 as float32."""
    return (plain(array).astype(xp.uint32) << xp.uint32(16)).view(xp.float32)


def narrow(xp: ArrayModule, array: Array) -> Any:
    """Numbers rounded to bfloat16."""
    bits = xp.ascontiguousarray(xp.asarray(array, dtype=xp.float32)).view(xp.uint32).reshape(array.shape)
    if xp is np:
        return adopt((bits >> np.uint32(16)).astype(np.uint16))
    up = (bits >> 16) & 1
    rounded = ((bits + 0x7FFF + up) >> 16).astype(xp.uint16)
    return xp.where(xp.isnan(array), xp.uint16(0x7FC0), rounded)


def add_to(array: Any, added: Array) -> None:
    """``array += added`` for two arrays of one kind, on a GPU too, where ``+`` would add the bits."""
    if isinstance(array, np.ndarray) or array.dtype != _BITS:
        array += added
    else:
        xp = array_module(array)
        array[...] = narrow(xp, widen(xp, array) + widen(xp, added))


def numbers(array: Array) -> Any:
    """The array itself; of bfloat16 its numbers in float32."""
    return widen(array_module(array), array) if is_bfloat16(array) else array


def cut(xp: ArrayModule, array: Array) -> Any:
    """float32 numbers rounded to those of bfloat16 towards zero."""
    return (array.view(xp.uint32) & xp.uint32(0xFFFF0000)).view(xp.float32)


def converted(xp: ArrayModule, array: Array, dtype: DType, *, copy: bool = True) -> Any:
    """The numbers of ``array`` in ``dtype``; uint16 means bfloat16 in both."""
    if is_bfloat16(array):
        if dtype is bfloat16:
            return adopt(array.copy() if copy else array)
        array = widen(xp, array)
    elif dtype is bfloat16:
        return narrow(xp, array.real if array.dtype.kind == "c" else array)
    return array.astype(dtype.np, copy=copy)


def filled(xp: ArrayModule, shape: Sequence[int] | int, value: complex | np.generic, dtype: DType) -> Any:
    """An array of one value in ``dtype``."""
    if dtype is bfloat16:
        return narrow(xp, xp.full(shape, value, xp.float32))
    return xp.full(shape, value, dtype.np)


def concerned(opdef: OpDef, arrays: list[Any], attrs: dict[str, Any]) -> bool:
    """Whether an application of ``opdef`` to all these arrays takes or makes bfloat16."""
    for array in arrays:
        if array.dtype.char == "H":
            return True
    return bool(opdef.dtypes) and any(attrs.get(name) == "bfloat16" for name in opdef.dtypes)


def apply(
    opdef: OpDef, xp: ArrayModule, arrays: list[Any], attrs: dict[str, Any], extra: dict[str, Any]
) -> Any:
    """The results of ``opdef`` on arrays of which some are bfloat16."""
    attrs = opdef.with_defaults(attrs)
    specs = opdef.infer_specs([_specs(a) for a in arrays], attrs)
    return wrapped(opdef, xp, [s is not None and s.dtype is bfloat16 for s in specs], attrs)(
        xp, *arrays, **attrs, **extra
    )


def _specs(value: Any) -> Any:
    if isinstance(value, list):
        return [_specs(v) for v in value]
    return None if value is None else Spec.of(value)


def wrapped(opdef: OpDef, xp: ArrayModule, low: list[bool], attrs: dict[str, Any]) -> Callable[..., Any]:
    """The kernel of ``opdef`` for arrays of which some are bfloat16.

    ``low`` marks the outputs that are. It takes ``xp`` and attributes, whatever the kernel itself takes.
    """
    kernel, direct = opdef.kernel_for("cpu" if xp is np else "cupy")
    if xp is np:
        kernel, direct = opdef.overrides.get("bfloat16", (kernel, direct))
    else:
        takes = getattr(opdef.overrides.get("cupy", (None,))[0], "takes_bfloat16", None)
        if takes is not None and takes():
            return kernel

    def views(xp: Any, *arrays: Any, **given: Any) -> Any:
        result = kernel(xp, *arrays, **given)
        return adopt(result) if opdef.single else [adopt(r) for r in result]

    return views if opdef.view and not direct else by_float32(opdef, kernel, direct, low, attrs)


def by_float32(
    opdef: OpDef, kernel: Callable[..., Any], direct: bool, low: list[bool], attrs: dict[str, Any]
) -> Callable[..., Any]:
    """A kernel that calls ``kernel`` in float32 and rounds the outputs marked in ``low``."""
    changed: dict[str, Any] = dict.fromkeys(
        (name for name in opdef.dtypes if attrs.get(name) == "bfloat16"), "float32"
    )

    def computes(xp: Any, *arrays: Any, **given: Any) -> Any:
        return _in_float(opdef, kernel, direct, low, xp, arrays, {**given, **changed})

    return computes


def by_default(opdef: OpDef, xp: ArrayModule, arrays: Sequence[Any], named: dict[str, Any]) -> Any:
    """The results of the operator's own kernel, in float32, of arrays of which some are bfloat16."""
    attrs = opdef.with_defaults({n: v for n, v in named.items() if n in opdef.attributes})
    specs = opdef.infer_specs([_specs(a) for a in arrays], attrs)
    low = [s is not None and s.dtype is bfloat16 for s in specs]
    return _in_float(opdef, opdef.kernel, False, low, xp, arrays, attrs)


def _in_float(
    opdef: OpDef, kernel: Any, direct: bool, low: list[bool], xp: Any, arrays: Any, attrs: dict[str, Any]
) -> Any:
    """Call a kernel with the numbers in float32; results marked in ``low`` are rounded to bfloat16."""
    wide = [_widened(xp, a) for a in arrays]
    result = kernel(*wide) if direct else kernel(xp, *wide, **attrs)
    results = [result] if opdef.single else list(result)
    made = [
        narrow(xp, xp.asarray(r)) if is_low and r is not None else r
        for r, is_low in zip(results, low, strict=True)
    ]
    return made[0] if opdef.single else made


def _widened(xp: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_widened(xp, v) for v in value]
    return widen(xp, value) if value is not None and value.dtype == _BITS else value
