"""A watch on compiled kernels: each call is compared with NumPy's kernel for the same arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from engine.program.run.fusion import chains
from engine.program.run.kernels import Call


class Watch:
    """Compares the results of each compiled kernel with NumPy's kernel for the same arrays.

    The plan continues with NumPy's results, so its own must be bitwise identical to those of a plan without
    compiled kernels, unless a sum runs over arrays that ``other_layout``: a kernel that writes where it
    must not is seen.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.problems: list[str] = []
        # Whether an array written in place has another layout than NumPy's result.
        self.other_layout = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        original = Call.kernel

        def kernel(call: Call, xp: Any, backend: str, fast: bool) -> Any:
            made = original(call, xp, backend, fast)
            if not fast or call.fast is None:
                return made
            return lambda *given, out=None: self._compared(call, made, given, out)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Call, "kernel", kernel)
            patch.setattr(chains, "LEAST", 1 << 30)  # a chain is one call for several operators
            yield

    def _compared(self, call: Call, made: Any, given: Sequence[Any], out: Any) -> Any:
        self.names.add(call.opdef.name)
        copies, wide = _copied(given), _copied(given, np.float64)
        wanted = _by_numpy(call, copies)
        result = made(*given) if out is None else made(*given, out=out)
        targets = [t for t in _flat([out]) if t is not None]
        pairs = [*zip(_listed(result), _listed(wanted), strict=True)]
        # Arrays that are not targets stay as NumPy's kernel leaves them: updates change some arguments.
        pairs += [
            (copy, copy) if _shared(x, targets) else (x, copy)
            for x, copy in zip(_flat(given), _flat(copies), strict=True)
        ]
        if not all(near(*pair) for pair in pairs):
            # If numbers cancel, little is left of them: require results as near to the truth as NumPy's.
            truth = [*_listed(_by_numpy(call, wide)), *_flat(wide)]
            for pair, true in zip(pairs, truth, strict=True):
                if problem := near(*pair, spread=8 * distance(true, pair[1])):
                    self.problems.append(f"{call.says}: {problem}\n{pair[0]!r}\n{pair[1]!r}")
        for got, want in pairs:
            if got is not want and got.tobytes() != want.tobytes():
                got[...] = want
        own = [*_flat(given), *targets]
        for got, want in pairs[: len(_listed(result))]:
            self.other_layout |= got is not None and _steps(got) != _steps(want) and _shared(got, targets)
        results = [
            # A new array has NumPy's layout, so that later operators add up in the same order.
            got if _shared(got, own) else want
            for got, want in zip(_listed(result), _listed(wanted), strict=True)
        ]
        return type(result)(results) if isinstance(result, (list, tuple)) else results[0]


def _shared(x: Any, others: Sequence[Any]) -> bool:
    return x is not None and any(y is not None and np.may_share_memory(x, y) for y in others)


def _steps(x: Any) -> list[int]:
    """The memory order of the axes with more than one element."""
    return [step for step, n in zip(x.strides, x.shape, strict=True) if n > 1]


def _by_numpy(call: Call, given: Sequence[Any]) -> Any:
    kernel, direct = call.opdef.kernel_for("cpu")
    return kernel(*given) if direct else kernel(np, *given, **call.attrs)


def _listed(result: Any) -> Sequence[Any]:
    return result if isinstance(result, (list, tuple)) else [result]


def near(got: Any, want: Any, spread: Any = 0.0) -> str:
    """The difference of two arrays that do not agree to rounding, NaN and infinity included; else "".

    ``spread`` is allowed on top.
    """
    if got is None or want is None:
        return "" if got is want else f"{got!r} instead of {want!r}"
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}"
    if want.dtype.kind != "f":
        return "" if np.array_equal(got, want) else "other values"
    finite = np.isfinite(want)
    if not np.array_equal(np.isfinite(got), finite) or not np.array_equal(got[~finite], want[~finite], True):
        return "NaN or infinity elsewhere"
    size = np.abs(want[finite]).max(initial=0.0)
    tolerance = {2: 2e-3, 4: 2e-5, 8: 1e-12}[want.dtype.itemsize]
    allowed = tolerance * (np.abs(want) + size) + spread + np.finfo(want.dtype).tiny
    with np.errstate(all="ignore"):
        beyond = finite & (np.abs(got - want) > allowed)
    return f"differs by {np.abs(got - want)[beyond].max()} of {size}" if beyond.any() else ""


def distance(one: Any, other: Any) -> float:
    """The largest difference of two arrays, where both are finite numbers."""
    if other is None or other.dtype.kind != "f":
        return 0.0
    with np.errstate(all="ignore"):
        apart = np.abs(one - other)
    return float(apart[np.isfinite(apart)].max(initial=0.0))


def _copied(x: Any, dtype: Any = None) -> Any:
    """The same values in other memory; single precision as ``dtype``, where one is given."""
    if isinstance(x, (list, tuple)):
        return [_copied(each, dtype) for each in x]
    if not isinstance(x, np.ndarray) or not x.size:
        return x
    if dtype is not None:
        return x.astype(dtype if x.dtype == np.float32 else x.dtype)
    # With the strides of x, those that step back or stay too: sums in NumPy depend on them.
    low, high = np.lib.array_utils.byte_bounds(x)
    room = np.empty(high - low, np.uint8)
    made: Any = np.ndarray(x.shape, x.dtype, room, x.ctypes.data - low, x.strides)
    made[...] = x
    return made


def _flat(values: Any) -> Iterator[Any]:
    for each in values:
        if isinstance(each, (list, tuple)):
            yield from _flat(each)
        else:
            yield each
