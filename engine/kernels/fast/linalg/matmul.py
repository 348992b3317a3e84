"""Products of matrices in plans: checks that the operator's kernel makes in every call are made once.

Small products are calls of NumPy's ``matmul`` without anything around them, large ones tables of calls of
BLAS (``products.py``), of smaller shards than through the interpreter, or of a product of our own
(``tiled.py``) where that is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from operator import is_not
from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.cpu import products
from engine.kernels.cpu import threads as threads_
from engine.kernels.fast import Fast
from engine.kernels.fast.chain import Part
from engine.kernels.fast.linalg import blas, handoff, tiled
from engine.kernels.fast.linalg.products import Layout, Table, handle, joined, table
from engine.kernels.fast.steps import KINDS

Array = Any
Pair = Callable[[Array, Array], Array]
# Multiplications of a shard that compiled code hands over, about 20 us of one thread: to wake a worker that
# sleeps, as most do between two products of a plan, costs about 14 (python -m bench.products).
SHARD = 1 << 20
# Multiplications from which on the tiled product is called through a table, which takes 3 us more than NumPy,
# and rows and columns: BLAS has other functions for vectors.
_TILED, _LEAST = 1 << 19, 4
_LAYOUTS = 64  # that a kernel remembers


def matmul(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``matmul_v2``."""
    x, y = inputs
    if x.dtype is not y.dtype or x.dtype.name not in ("float32", "float64") or min(x.ndim, y.ndim) < 2:
        return None
    if not threads_.blas_is_ours:
        threads_.claim_blas()
    slow = partial(OPS["matmul_v2"].kernel, np, **attrs)
    turned = bool(attrs.get("trans_x")), bool(attrs.get("trans_y"))
    folds = y.ndim == 2 and x.ndim > 2 and not turned[0]  # one product of all rows, as in the operator
    work = x.size * y.shape[-2 if turned[1] else -1] * _repeats(x.shape[:-2], y.shape[:-2])
    shard = SHARD if handoff.supported() else products.SHARD
    kind = KINDS[x.dtype.name]
    rows = x.size // max(1, x.shape[-1]) if folds else x.shape[-1 if turned[0] else -2]
    few = work < _TILED or min(rows, y.shape[-2 if turned[1] else -1]) < _LEAST
    own = None if few else tiled.gemm(kind)
    if own is None and work < 2 * shard:
        return None if folds else Fast(_alone(*turned), [])
    gemm = own or blas.gemm(blas.letter(kind))
    if gemm is None:
        return None
    large = _Large(slow, turned, folds, shard, (x.shape, y.shape), own)
    return Fast(large, [handle(kind, gemm)], together=Together)


def part(inputs: Sequence[Any], outputs: Sequence[Any], attrs: Mapping[str, Any]) -> Part | None:
    """A small product of two matrices as part of a chain: by our own code where there is one, which calls of
    BLAS take 1.4 times as long as, else the call that NumPy makes."""
    x, y = inputs
    if x.dtype is not y.dtype or (x.ndim, y.ndim) != (2, 2):
        return None
    if not threads_.blas_is_ours:
        threads_.claim_blas()
    a, b, c = (np.empty(s.shape, s.dtype.np) for s in (x, y, *outputs))
    a, b = (a.T if attrs.get("trans_x") else a), (b.T if attrs.get("trans_y") else b)
    own = tiled.gemm(KINDS[x.dtype.name])
    found = table(a.dtype.char, *(Layout(m.shape, m.strides) for m in (a, b, c)), 0, (), own)
    return None if found is None else Part(found.handle, found.numbers, (0, 1, 2), found.count, found)


def of_rows(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``product_of_rows``: all dimensions but the last are one."""
    shapes = [(prod(s.shape[:-1]), s.shape[-1]) for s in inputs]
    flat = [Spec(shape, s.dtype) for shape, s in zip(shapes, inputs, strict=True)]
    made = matmul(flat, {"trans_x": True, "trans_y": False})
    if made is None:
        return None
    kernel, (of_x, of_y) = made.kernel, shapes
    if isinstance(kernel, _Large):
        kernel.given = of_x, of_y
        return made
    return Fast(lambda x, y: kernel(x.reshape(of_x), y.reshape(of_y)), made.handles)


def _repeats(x: tuple[int, ...], y: tuple[int, ...]) -> int:
    """How often each matrix of x is a factor."""
    return prod(np.broadcast_shapes(x, y)) // max(1, prod(x))


def _alone(turn_x: bool, turn_y: bool) -> Pair:
    """NumPy's product, of operands that are transposed first where they have to be."""
    if turn_x and turn_y:
        return lambda x, y: np.matmul(x.swapaxes(-1, -2), y.swapaxes(-1, -2))
    if turn_x:
        return lambda x, y: np.matmul(x.swapaxes(-1, -2), y)
    if turn_y:
        return lambda x, y: np.matmul(x, y.swapaxes(-1, -2))
    return np.matmul


class _Large:
    """The product of two arrays over the threads of this process."""

    def __init__(
        self,
        slow: Pair,
        turned: tuple[bool, bool],
        folds: bool,
        shard: int,
        shapes: Sequence[tuple[int, ...]],
        own: blas.Gemm | None,
    ) -> None:
        self._own = own
        self._slow, self._turned, self._folds, self._shard = slow, turned, folds, shard
        self._rows = (prod(shapes[0][:-1]), shapes[0][-1])
        self._shape = (*shapes[0][:-1], shapes[1][-2 if turned[1] else -1])
        self._tables: dict[Any, Table | None] = {}
        self.given: tuple[tuple[int, ...], ...] | None = None  # shapes that operands are given first

    def __call__(self, x: Array, y: Array) -> Array:
        operands = self.operands(x, y)
        if operands is None:
            return self.alone(x, y)
        a, b, found = operands
        made = products.empty(a, b)
        found.run(a, b, made)
        return self.result(made)

    def alone(self, x: Array, y: Array) -> Array:
        """The product by the operator's kernel."""
        return self._slow(*self._flat(x, y))

    def _flat(self, x: Array, y: Array) -> tuple[Array, Array]:
        return (x, y) if self.given is None else (x.reshape(self.given[0]), y.reshape(self.given[1]))

    def result(self, made: Array) -> Array:
        """The product of :meth:`operands` as the operator gives it."""
        return made.reshape(self._shape) if self._folds else made

    def operands(self, x: Array, y: Array) -> tuple[Array, Array, Table] | None:
        """The matrices of a product and the calls that compute it; None where the operator's kernel does."""
        x, y = self._flat(x, y)
        a, b = x, y
        if self._folds:
            if not x.flags.c_contiguous:
                return None
            a = x.reshape(self._rows)
        elif self._turned[0]:
            a = x.swapaxes(-1, -2)
        if self._turned[1]:
            b = y.swapaxes(-1, -2)
        key = a.strides, b.strides, threads_.get_num_threads()
        if key in self._tables:
            found = self._tables[key]
        else:
            if len(self._tables) >= _LAYOUTS:
                self._tables.clear()
            found = self._tables[key] = self._table(a, b)
        if found is None or products.is_squared(a, b):
            return None
        return a, b, found

    def _table(self, a: Array, b: Array) -> Table | None:
        cut = products.cut(a, b, threads_.get_num_threads(), self._shard)
        if cut is None and self._own is None:
            return None
        layouts = [Layout(x.shape, x.strides) for x in (a, b, products.empty(a, b))]
        return table(a.dtype.char, *layouts, *(cut or (0, ())), self._own)


class Together:
    """Several products that do not depend on each other, whose shards are handed over at once.

    It takes the operands of the first one, of the second one, and so on.
    """

    def __init__(self, kernels: Sequence[_Large]) -> None:
        self._kernels = kernels
        self._parts: list[Table] = []
        self._whole: Table | None = None  # of the parts

    def __call__(self, *values: Array) -> list[Array]:
        pairs = list(zip(values[::2], values[1::2], strict=True))
        found = [kernel.operands(*pair) for kernel, pair in zip(self._kernels, pairs, strict=True)]
        arrays: list[Array] = []
        parts: list[Table] = []
        for each in found:
            if each is not None:
                a, b, part = each
                arrays += (a, b, products.empty(a, b))
                parts.append(part)
        if len(parts) != len(found) or len({part.gemm for part in parts}) > 1:
            return [kernel(*pair) for kernel, pair in zip(self._kernels, pairs, strict=True)]
        if self._whole is None or any(map(is_not, parts, self._parts)):
            self._parts, self._whole = parts, joined(parts)
        self._whole.run(*arrays)
        return [kernel.result(made) for kernel, made in zip(self._kernels, arrays[2::3], strict=True)]
