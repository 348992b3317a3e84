"""Many arrays in one launch: the second axis of the grid is their number, addresses and sizes are parameters.

A kernel is written for 1, 2, 4 ... 64 parts; a launch with fewer repeats one, which no block asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engine.kernels.cupy.source import EXACT, Kernel, generated
from engine.kernels.cupy.writer import helpers

THREADS = 256
_EACH = 4  # elements of a thread, where there are enough
_MOST_BLOCKS = 1024  # of one part
_ROOM = 3600  # bytes for addresses and sizes: CUDA gives a kernel's parameters 4096
_SIZES = (1, 2, 4, 8, 16, 32, 64)


def most(columns: int) -> int:
    """The most parts of one launch, for a number of addresses and sizes each."""
    return max(n for n in _SIZES if n == 1 or n * 8 * columns <= _ROOM)


def stretches(count: int, columns: int) -> Iterator[slice]:
    """Which parts each launch has."""
    step = most(columns)
    return (slice(begin, begin + step) for begin in range(0, count, step))


def written_for(count: int) -> int:
    """For how many parts the kernel of a launch with ``count`` is written."""
    return next(n for n in _SIZES if n >= count)


def chosen(columns: Sequence[tuple[str, str]], parts: int) -> tuple[list[str], list[str]]:
    """The parameters of all parts, and statements that give a block's own ones their names.

    ``columns`` are types and names, such as ``("float *", "x")``.
    """
    parameters = [f"{kind} {name}_{n}" for n in range(parts) for kind, name in columns]
    body = [f"{kind} {name} = {name}_0;" for kind, name in columns]
    if parts > 1:
        body.append("switch (blockIdx.y) {")
        for n in range(1, parts):
            body.append(f"case {n}: {' '.join(f'{name} = {name}_{n};' for _, name in columns)} break;")
        body.append("}")
    return parameters, body


def arguments(rows: Sequence[Sequence[Any]]) -> list[Any]:
    """The arguments of all parts, each a row in the order of the columns."""
    full = [*rows, *[rows[0]] * (written_for(len(rows)) - len(rows))]
    return [each for row in full for each in row]


def grid(sizes: Sequence[int]) -> tuple[int, int]:
    """Blocks for parts of the given sizes."""
    return max(1, min(-(-max(sizes) // (THREADS * _EACH)), _MOST_BLOCKS)), len(sizes)


# Statements that a thread's elements of its part, ``size`` long, are walked with.
EACH = (
    "const i64 step = (i64)gridDim.x * blockDim.x;",
    "for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step) {",
)


def kernel(name: str, parameters: Sequence[str], body: Sequence[str]) -> Kernel:
    """The kernel of these statements; arithmetic is bitwise identical to NumPy's."""
    lines = "\n    ".join(body)
    head = f'extern "C" __global__ void __launch_bounds__({THREADS})\n{name}({", ".join(parameters)})'
    return generated(f"{helpers()}\n{head} {{\n    {lines}\n}}\n", name, EXACT)
