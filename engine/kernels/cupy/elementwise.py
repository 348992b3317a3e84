"""Elementwise operators on a GPU: a chain of them, or one that takes CuPy several launches, as one kernel.

Arithmetic is bitwise identical to NumPy's: products and sums are not contracted. float16 and bfloat16 are
computed in float and rounded after each operator. The maker of a kernel is called once for each layout of the
arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from engine.core.errors import EngineError
from engine.core.operators.opdef import OPS
from engine.core.values import bfloat
from engine.core.values.dtype import bfloat16
from engine.core.values.spec import Spec
from engine.kernels.cupy.chain import THREADS, Chain, Steps, run_of, values_of
from engine.kernels.cupy.defaults import default

Array = Any
# Layouts of arrays that a chain remembers; steps of plans keep their own.
_LAYOUTS = 64
_SINGLES = 1024


class Launch:
    """One kernel for arrays of certain shapes, strides and dtypes."""

    __slots__ = ("_block", "_dtypes", "_fixed", "_grid", "_kernel", "_made", "_outputs", "_shape")

    def __init__(
        self,
        chain: Chain,
        outputs: Sequence[int],
        shape: tuple[int, ...],
        dtypes: Sequence[Any],
        kernel: Any,
        fixed: Sequence[Any],
    ) -> None:
        self._shape, self._outputs, self._made = shape, tuple(outputs), chain.results
        self._dtypes, self._kernel, self._fixed = list(dtypes), kernel, list(fixed)
        size = int(np.prod(shape, dtype=np.int64))
        threads = min(THREADS, -(-size // 32) * 32)
        self._block, self._grid = (max(1, threads),), (-(-size // max(1, threads)),)

    def __call__(self, xs: Sequence[Array], out: Sequence[Array | None] | None) -> list[Array]:
        """The results for ``xs``; ``out`` has arrays to write into, or None, for each output."""
        results = []
        for number, dtype in zip(self._made, self._dtypes, strict=True):
            given = None if out is None else out[self._outputs.index(number)]
            results.append(cupy.empty(self._shape, dtype) if given is None else given)
        self._kernel(self._grid, self._block, [*xs, *results, *self._fixed])
        found = dict(zip(self._made, results, strict=True))
        return [found[n] if n in found else xs[n] for n in self._outputs]


def _launch(
    xs: Sequence[Array], steps: Steps, outputs: Sequence[int], out: Sequence[Array | None] | None
) -> Launch | None:
    """A launch that computes the steps for arrays like these; None if the operators must run one by one."""
    try:
        values = values_of([Spec.of(x) for x in xs], steps)
    except EngineError:
        return None  # the operators say why
    shape = np.broadcast_shapes(*[x.shape for x in xs])
    results = [n for n in dict.fromkeys(outputs) if n >= len(xs)]
    if not results or any(values[n].shape != shape for n in outputs):
        return None
    chain = Chain(values, len(xs), steps, results)
    if chain.made is None:
        return None
    dtypes = [np.dtype(values[n].dtype.np) for n in results]
    lies = [(x.shape, x.strides, x.dtype.itemsize) for x in xs]
    for number, dtype in zip(results, dtypes, strict=True):
        given = None if out is None else out[outputs.index(number)]
        if given is None:
            lies.append((shape, _in_a_row(shape, dtype.itemsize), dtype.itemsize))
        elif given.shape != shape or given.dtype != dtype:
            return None
        else:
            lies.append((shape, given.strides, dtype.itemsize))
    run = run_of(shape, lies)
    written = None if run is None else chain.kernel(run)
    return None if written is None else Launch(chain, outputs, shape, dtypes, *written)


def _in_a_row(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """The strides of a contiguous array."""
    found = []
    for length in reversed(shape):
        found.append(size)
        size *= length
    return tuple(reversed(found))


def _layout(xs: Sequence[Array | None]) -> Any:
    return tuple([None if x is None else (x.shape, x.strides, x.dtype) for x in xs])


def fused(xp: Any, xs: list[Array], *, steps: Any, outputs: tuple[int, ...], out: Any = None) -> Any:
    """The override of ``fused_elementwise``."""
    launches = steps.launches if hasattr(steps, "launches") else {}
    key = outputs, _layout(xs), None if out is None else _layout(out)
    if key not in launches:
        if len(launches) >= _LAYOUTS:
            launches.clear()
        launches[key] = _launch(xs, steps, outputs, out)
    launch = launches[key]
    if launch is None:
        return _one_by_one("fused_elementwise", (xs,), {"steps": steps, "outputs": outputs}, out)
    return tuple(launch(xs, out))


def _one_by_one(name: str, values: Sequence[Any], attrs: dict[str, Any], out: Any) -> Any:
    """The default kernel's results, of bfloat16 through float32."""
    opdef, kernel = OPS[name], default(name)
    arrays = [x for each in values for x in (each if isinstance(each, list) else [each]) if x is not None]
    if not any(bfloat.is_bfloat16(x) for x in arrays):
        return kernel(cupy, *values, **attrs, **({} if out is None else {"out": out}))
    specs = opdef.infer_specs([_specs(each) for each in values], opdef.with_defaults(attrs))
    low = [spec.dtype is bfloat16 for spec in specs]
    return bfloat.by_float32(opdef, kernel, False, low, attrs)(cupy, *values, **attrs)


def _specs(value: Any) -> Any:
    return (
        [Spec.of(x) for x in value] if isinstance(value, list) else None if value is None else Spec.of(value)
    )


class _Like:
    """Represents an array in a cache's key and for the maker."""

    __slots__ = ("dtype", "shape", "strides")

    def __init__(self, layout: Any) -> None:
        self.shape, self.strides, self.dtype = layout


@lru_cache(maxsize=_SINGLES)
def _of_one(name: str, attrs: tuple[tuple[str, Any], ...], layouts: Any, out: Any) -> Launch | None:
    xs = [_Like(each) for each in layouts]
    into = None if out is None else [_Like(out)]
    return _launch(xs, [(name, range(len(xs)), attrs)], (len(xs),), into)


def single(name: str) -> Callable[..., Any]:
    """The override of one operator whose result is one array."""

    def kernel(xp: Any, *xs: Array, out: Array | None = None, **attrs: Any) -> Array:
        launch = None
        if all(x is not None for x in xs):
            launch = _found(name, attrs, xs, out)
        if launch is None:
            return _one_by_one(name, xs, attrs, out)
        return launch(xs, None if out is None else (out,))[0]

    return kernel


def _found(name: str, attrs: Mapping[str, Any], xs: Sequence[Array], out: Array | None) -> Launch | None:
    layout = None if out is None else (out.shape, out.strides, out.dtype)
    try:
        return _of_one(name, tuple(attrs.items()), _layout(xs), layout)
    except TypeError:  # an attribute that can't be a key, such as a list
        return None


@lru_cache(maxsize=256)
def __getattr__(name: str) -> Callable[..., Any]:
    """The override of the operator ``name``: the table of overrides names it so."""
    if name.startswith("_"):
        raise AttributeError(name)
    return single(name)
