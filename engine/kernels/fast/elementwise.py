"""Kernels of elementwise operators, fused ones and those alone that compute much: one loop over all steps.

Any strides: axes that form one run in all arrays become one loop; a value that broadcasts along the inner
loop is put into a vector once. See ``layout.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.cpu import pool
from engine.kernels.fast import Fast
from engine.kernels.fast import vectors as v
from engine.kernels.fast.arguments import as_arrays
from engine.kernels.fast.chain import Part
from engine.kernels.fast.compiler import Handle, function
from engine.kernels.fast.layout import DEPTH, Walk
from engine.kernels.fast.steps import KINDS, emit
from engine.kernels.fast.target import lanes
from engine.kernels.steps.cost import cost_of

Array = Any
Steps = Sequence[tuple[str, Sequence[int], Sequence[tuple[str, Any]]]]

# Below this many values computed (elements times steps) NumPy is done before a call has begun.
_LEAST = 4096
_LARGE = 1 << 16  # of a gradient of relu
# From here on elements are shared among threads; a function counts as _FUNCTION more. That is 30 to 40 us of
# one thread, where to wake another one that sleeps takes 14: 65,536 sums and relus are done in 12.
_SHARED = 1 << 18
_FUNCTION = 4
# Layouts of inputs that a kernel remembers.
_LAYOUTS = 64


def fused(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``fused_elementwise``."""
    (specs,) = inputs
    loop = _loop(specs, attrs["steps"], attrs["outputs"])
    if loop is None:
        return None

    def kernel(xs: Sequence[Array], out: Sequence[Array] | None = None) -> list[Array]:
        return loop(xs, out)

    return Fast(kernel, [loop.handle])


def single(name: str) -> Any:
    """The maker for one operator whose result is one array."""

    def maker(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
        loop = _loop(inputs, [(name, range(len(inputs)), tuple(attrs.items()))], (len(inputs),))
        if loop is None:
            return None

        def kernel(*xs: Array, out: Array | None = None) -> Array:
            return loop(xs, None if out is None else (out,))[0]

        return Fast(kernel, [loop.handle])

    return maker


def relu_grad(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``relu_grad``; NumPy's three walks are as fast over few elements."""
    return single("relu_grad")(inputs, attrs) if inputs[0].size >= _LARGE else None


def fused_part(inputs: Sequence[Any], outputs: Sequence[Any], attrs: Mapping[str, Any]) -> Part | None:
    """``fused_elementwise`` as part of a chain."""
    return _part(inputs, attrs["steps"], attrs["outputs"])


def single_part(name: str) -> Any:
    """What makes parts of chains of one operator whose result is one array."""

    def maker(inputs: Sequence[Any], outputs: Sequence[Any], attrs: Mapping[str, Any]) -> Part | None:
        steps = [(name, range(len(inputs)), tuple(attrs.items()))]
        return _part(inputs, steps, (len(inputs),))

    return maker


def _part(specs: Sequence[Spec], steps: Steps, outputs: Sequence[int]) -> Part | None:
    loop = _loop(specs, steps, outputs, any_size=True)
    return None if loop is None else loop.part([np.empty(s.shape, s.dtype.np) for s in specs])


def _loop(specs: Sequence[Spec], steps: Steps, outputs: Sequence[int], any_size: bool = False) -> Loop | None:
    values = list(specs)
    for name, read, attrs in steps:
        values += OPS[name].infer_specs([values[n] for n in read], dict(attrs))
    if any(s.dtype.name not in KINDS for s in values):
        return None
    shape = np.broadcast_shapes(*(s.shape for s in values))
    size = int(np.prod(shape, dtype=np.int64))
    if any(values[n].shape != shape for n in outputs) or (size * len(steps) < _LEAST and not any_size):
        return None
    written = Written(values, len(specs), steps, tuple(outputs))
    return Loop(shape, values, written) if written.possible() else None


class Written:
    """The code of a loop over ``steps``; ``values`` are the Specs of the inputs and of each step's result."""

    def __init__(self, values: Sequence[Spec], inputs: int, steps: Steps, outputs: tuple[int, ...]) -> None:
        self.kinds = [KINDS[s.dtype.name] for s in values]
        self.values, self.inputs, self.steps, self.outputs = values, inputs, steps, outputs
        self.results = [n for n in dict.fromkeys(outputs) if n >= inputs]

    def possible(self) -> bool:
        """Whether there is code for all steps."""
        module = ir.Module("trial")
        frame = v.Frame(module, "trial")
        given = [ir.Constant(ir.VectorType(kind, 4), ir.Undefined) for kind in self.kinds[: self.inputs]]
        return self._computed(frame.builder, given) is not None

    def functions(self) -> int:
        """How many steps compute a function such as exp."""
        kinds = [s.dtype.name for s in self.values]
        costs = [
            cost_of(OPS[name], [kinds[k] for k in read], dict(attrs)) for name, read, attrs in self.steps
        ]
        return sum(cost is not None and cost.functions > 0 for cost in costs)

    def key(self) -> str:
        names = [s.dtype.name for s in self.values[: self.inputs]]
        steps = [(name, tuple(read), tuple(attrs)) for name, read, attrs in self.steps]
        return f"elementwise {names} {steps!r} {self.results}"

    def _computed(self, b: v.Builder, given: Sequence[v.Value]) -> list[v.Value] | None:
        made = list(given)
        for n, (name, read, attrs) in enumerate(self.steps):
            value = emit(b, name, [made[k] for k in read], dict(attrs), self.values[self.inputs + n])
            if value is None:
                return None
            made.append(value)
        return made

    def build(self, module: ir.Module, name: str) -> ir.Function:
        """Write the function; its arguments are those of a Walk, then the addresses."""
        frame = v.Frame(module, name)
        b, width = frame.builder, lanes()
        inner, total = frame.integer(0), frame.integer(1)
        sizes = [frame.integer(2 + n) for n in range(DEPTH - 1)]
        operands = [*range(self.inputs), *self.results]
        head = 2 + len(sizes)
        strides = [
            [frame.integer(head + n * (DEPTH + 1) + k) for k in range(DEPTH + 1)]
            for n in range(len(operands))
        ]
        bases = [frame.pointer(head + len(operands) * (DEPTH + 1) + n) for n in range(len(operands))]
        memory = [v.I8 if self.kinds[n] == v.I1 else self.kinds[n] for n in operands]
        spread = [b.alloca(ir.VectorType(kind, width)) for kind in memory[: self.inputs]]
        with v.loop(b, frame.begin, frame.end) as shard:
            left = b.sub(total, b.mul(shard, inner))
            length = b.select(b.icmp_signed("<", left, inner), left, inner)
            places = [v.offset(b, p, b.mul(shard, s[0])) for p, s in zip(bases, strides, strict=True)]
            self._rows(b, places, strides, sizes, 0, (length, memory, spread, width))
        return frame.close()

    def _rows(
        self,
        b: v.Builder,
        places: list[v.Value],
        strides: list[list[v.Value]],
        sizes: list[v.Value],
        depth: int,
        inner: tuple[Any, ...],
    ) -> None:
        """The outer loops, from ``depth`` on, and the innermost."""
        if depth < len(sizes):
            with v.loop(b, v.I64(0), sizes[depth]) as index:
                moved = [
                    v.offset(b, p, b.mul(index, s[depth + 1])) for p, s in zip(places, strides, strict=True)
                ]
                self._rows(b, moved, strides, sizes, depth + 1, inner)
            return
        length, memory, spread, width = inner
        sources, steps = [], []
        for n in range(self.inputs):
            run = b.icmp_signed("!=", strides[n][-1], v.I64(0))
            with b.if_then(b.not_(run)):
                one = v.load(b, places[n], memory[n])
                v.store(b, v.broadcast(b, one, width), spread[n])
            # Inputs that broadcast along the run are read from the same vector again and again.
            sources.append(b.select(run, places[n], spread[n]))
            steps.append(strides[n][-1])
        targets = places[self.inputs :]
        whole = b.sub(length, b.srem(length, v.I64(width)))
        with v.loop(b, v.I64(0), whole, width) as i:
            self._block(b, i, sources, steps, targets, memory, width, None)
        with b.if_then(b.icmp_signed("<", whole, length)):
            mask = v.first(b, b.sub(length, whole), width)
            self._block(b, whole, sources, steps, targets, memory, width, mask)

    def _block(
        self,
        b: v.Builder,
        i: v.Value,
        sources: list[v.Value],
        steps: list[v.Value],
        targets: list[v.Value],
        memory: list[Any],
        width: int,
        mask: v.Value | None,
    ) -> None:
        given = []
        for n, (source, step) in enumerate(zip(sources, steps, strict=True)):
            place = v.offset(b, source, b.mul(i, step))
            kind = ir.VectorType(memory[n], width)
            x = v.load(b, place, kind) if mask is None else v.masked_load(b, place, kind, mask)
            given.append(b.icmp_unsigned("!=", x, v.constant(kind, 0)) if self.kinds[n] == v.I1 else x)
        made = self._computed(b, given)
        assert made is not None
        for number, target, kind in zip(self.results, targets, memory[self.inputs :], strict=True):
            value = made[number]
            if self.kinds[number] == v.I1:
                value = b.zext(value, ir.VectorType(v.I8, width))
            place = v.offset(b, target, i, kind)
            if mask is None:
                v.store(b, value, place)
            else:
                v.masked_store(b, value, place, mask)


class Loop:
    """Calls a compiled loop for arrays of any strides."""

    def __init__(self, shape: tuple[int, ...], values: Sequence[Spec], written: Written) -> None:
        self.handle: Handle = function(written.key(), written.build)
        self._shape = shape
        self._inputs, self._outputs, self._results = written.inputs, written.outputs, written.results
        self._dtypes = [values[n].dtype.np for n in written.results]
        self._itemsizes = [np.dtype(dtype).itemsize for dtype in self._dtypes]
        self._walks: dict[Any, Walk] = {}
        functions = written.functions()
        self._shared = int(np.prod(shape, dtype=np.int64)) * (1 + _FUNCTION * functions) >= _SHARED

    def part(self, xs: Sequence[Array]) -> Part | None:
        """The call for arrays of the layouts of ``xs`` and new results."""
        walk = Walk(self._shape, xs, self._itemsizes)
        if walk.copies or list(self._outputs) != self._results:
            return None
        operands = range(self._inputs + len(self._outputs))
        return Part(self.handle, walk.arguments.numbers, operands, walk.shards)

    def __call__(self, xs: Sequence[Array], out: Sequence[Array | None] | None) -> list[Array]:
        """The results for ``xs``; ``out`` has arrays to write into, or None, for each output."""
        xs = as_arrays(xs)
        key = tuple([x.strides for x in xs])
        walk = self._walks.get(key)
        if walk is None:
            if len(self._walks) >= _LAYOUTS:
                self._walks.clear()
            walk = self._walks[key] = Walk(self._shape, xs, self._itemsizes)
        results = []
        for n, number in enumerate(self._results):
            given = None if out is None else out[self._outputs.index(number)]
            taken = given is not None and walk.fits(n, given)
            results.append(given if taken else walk.empty(self._dtypes[n]))
        operands = [*walk.prepared(xs), *results]
        args = walk.arguments.of(operands)
        if self._shared:
            pool.parallel(self.handle.address, args, walk.shards)
        else:
            self.handle.call(args, 0, walk.shards)
        made = dict(zip(self._results, results, strict=True))
        return [made[n] if n in made else xs[n] for n in self._outputs]
