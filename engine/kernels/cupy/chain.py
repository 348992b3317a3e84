"""The source of one kernel for a chain of elementwise steps: any strides, several results.

Axes that form one run in all arrays become one. How an array walks along each is part of the source (0 where
it broadcasts, 1 where elements are contiguous, else a parameter), sizes and strides are parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.cupy.source import EXACT, Kernel, generated
from engine.kernels.cupy.writer import STORED, CudaWriter, Value, helpers
from engine.kernels.steps.traced import written

THREADS = 256
_ROOM = 4000  # bytes of a kernel's parameters: CUDA gives 4096 everywhere
_INT = 1 << 31

Steps = Sequence[tuple[str, Sequence[int], Sequence[tuple[str, Any]]]]


class Run(NamedTuple):
    """Sizes of the axes, from the outermost, and the strides of each array along them, in elements."""

    sizes: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]


def run_of(shape: Sequence[int], arrays: Sequence[tuple[Sequence[int], Sequence[int], int]]) -> Run | None:
    """The axes of ``shape`` with those joined that every array walks as one.

    ``arrays`` are shape, strides in bytes and bytes of an element; None where a stride is not an integer
    of elements.
    """
    walks = []
    for own, strides, size in arrays:
        if any(s % size for s in strides):
            return None
        skipped = len(shape) - len(own)
        walk = [0 if d == 1 else s // size for d, s in zip(own, strides, strict=True)]
        walks.append([0] * skipped + walk)
    sizes: list[int] = []
    joined: list[list[int]] = [[] for _ in walks]
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        if sizes and all(j[-1] == w[axis] * length for j, w in zip(joined, walks, strict=True)):
            sizes[-1] *= length
            for j, w in zip(joined, walks, strict=True):
                j[-1] = w[axis]
            continue
        sizes.append(length)
        for j, w in zip(joined, walks, strict=True):
            j.append(w[axis])
    if not sizes:  # one element: as if there were an axis of it, so that the source is the usual one
        sizes, joined = [1], [[1] for _ in walks]
    return Run(tuple(sizes), tuple(map(tuple, joined)))


class Chain:
    """The statements of some steps: ``kinds`` are those of all values, the inputs first."""

    def __init__(self, values: Sequence[Spec], inputs: int, steps: Steps, results: Sequence[int]) -> None:
        self.kinds = [spec.dtype.name for spec in values]
        self.inputs, self.results = inputs, list(results)
        self.writer = CudaWriter()
        self.made: list[Value] | None = None
        if all(kind in STORED for kind in self.kinds):
            self.made = self._computed(steps)

    def _computed(self, steps: Steps) -> list[Value] | None:
        w = self.writer
        made = [Value(kind, f"v{n}") for n, kind in enumerate(self.kinds[: self.inputs])]
        for n, (name, read, attrs) in enumerate(steps):
            kind = self.kinds[self.inputs + n]
            value = written(w, name, [made[k] for k in read], dict(attrs), kind)
            if value is None:
                return None
            made.append(w.settled(value))
        return made

    def kernel(self, run: Run) -> tuple[Kernel, list[Any]] | None:
        """The kernel for arrays of these layouts (inputs, then results), and the arguments after them: None
        where there would be more than a kernel takes."""
        assert self.made is not None
        size = int(np.prod(run.sizes, dtype=np.int64))
        far = max(
            [size, *(sum(abs(s) * (d - 1) for s, d in zip(w, run.sizes, strict=True)) for w in run.strides)]
        )
        index, scalar = ("int", np.int32) if far < _INT - 1024 else ("i64", np.int64)
        arrays = [*range(self.inputs), *self.results]
        parameters = [
            f"{'const ' if place < self.inputs else ''}{STORED[self.kinds[n]]} *p{place}"
            for place, n in enumerate(arrays)
        ]
        arguments: list[Any] = []

        def passed(name: str, value: int) -> str:
            parameters.append(f"{index} {name}")
            arguments.append(scalar(value))
            return name

        body = [f"const {index} at = ({index})blockIdx.x * blockDim.x + threadIdx.x;"]
        body += [f"if (at < {passed('size', size)}) {{"]
        axes = len(run.sizes)
        left = "at"
        for axis in range(axes - 1, 0, -1):
            length = passed(f"n{axis}", run.sizes[axis])
            body.append(f"const {index} i{axis} = {left} % {length}, r{axis} = {left} / {length};")
            left = f"r{axis}"
        body.append(f"const {index} i0 = {left};")

        def place(number: int) -> str:
            terms = []
            for axis, stride in enumerate(run.strides[number]):
                if stride:
                    by = "" if stride == 1 else f" * {passed(f's{number}_{axis}', stride)}"
                    terms.append(f"i{axis}{by}")
            return f"p{number} + ({' + '.join(terms) or '0'})"

        for n in range(self.inputs):
            body.append(f"const auto v{n} = wide(*({place(n)}));")
        body += self.writer.statements([self.made[n] for n in self.results])
        for k, n in enumerate(self.results):
            body.append(f"put({place(self.inputs + k)}, {self.made[n].text});")
        body.append("}")
        parameters += self.writer.parameters()
        arguments += self.writer.given_numbers
        if 8 * len(arrays) + sum(8 for _ in arguments) > _ROOM:
            return None
        lines = "\n    ".join(body)
        source = (
            f'{helpers()}\nextern "C" __global__ void __launch_bounds__({THREADS})\n'
            f"chain({', '.join(parameters)}) {{\n    {lines}\n}}\n"
        )
        return generated(source, "chain", EXACT), arguments


def values_of(specs: Sequence[Spec], steps: Steps) -> list[Spec]:
    """The Specs of the inputs and of each step's result."""
    values = list(specs)
    for name, read, attrs in steps:
        values += OPS[name].infer_specs([values[n] for n in read], dict(attrs))
    return values
