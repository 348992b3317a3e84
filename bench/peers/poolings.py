"""Worker: a pooling and its gradient, ``python -m bench.peers.poolings LIBRARY``; a job is a row's name.

LIBRARY is ``engine`` or ``paddle``, whose functions have the same names. The sizes are small as in tests of
operators, odd, uneven, and as in networks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bench.peers.protocol import imported, serve, threads

FIRST = 30  # calls before any is measured: the engine's compiled kernels come with the 21st


class Pooling(NamedTuple):
    """A pooling: function, shape of the image, arguments behind it, and whether positions are asked for."""

    function: str
    shape: tuple[int, ...]
    arguments: tuple[Any, ...]
    marked: bool = False

    @property
    def name(self) -> str:
        sizes = "x".join(map(str, self.shape))
        return f"{self.function} {sizes} -> {self.arguments}{' mask' * self.marked}"


def _rows() -> list[Pooling]:
    adaptive: list[tuple[tuple[int, ...], Any]] = [
        ((2, 3, 7, 7), 3),
        ((4, 32, 56, 56), 7),
        ((4, 32, 55, 53), 7),
        ((8, 64, 14, 14), [5, 4]),
        ((16, 128, 7, 7), 1),
        ((2, 3, 5, 7, 7), 3),
        ((2, 3, 5, 7, 7), [3, 3, 5]),
        ((2, 8, 12, 16, 16), 4),
        ((2, 16, 9, 28, 28), [4, 7, 5]),
    ]
    rows = []
    for shape, out in adaptive:
        rank = len(shape) - 2
        rows.append(Pooling(f"adaptive_avg_pool{rank}d", shape, (out,)))
        rows += [Pooling(f"adaptive_max_pool{rank}d", shape, (out,), marked) for marked in (False, True)]
    for shape, arguments in (((4, 32, 56, 56), (3, 2, 1)), ((2, 16, 9, 28, 28), (3, 2, 1))):
        rank = len(shape) - 2
        rows.append(Pooling(f"avg_pool{rank}d", shape, arguments))
        rows += [Pooling(f"max_pool{rank}d", shape, arguments, marked) for marked in (False, True)]
    rows.append(Pooling("max_unpool2d", (4, 32, 28, 28), (2, 2)))
    rows.append(Pooling("max_unpool3d", (2, 16, 4, 14, 14), (2, 2)))
    return rows


ROWS = {row.name: row for row in _rows()}


def prepared(library: Any, row: Pooling) -> tuple[Callable[[], Any], Callable[[], None]]:
    """What computes a row, and what computes it and its gradient."""
    functional, rng = library.nn.functional, np.random.default_rng(0)
    function = getattr(functional, row.function)

    def tensor(shape: Any, stop: bool = True) -> Any:
        return library.to_tensor(rng.standard_normal(tuple(shape)).astype(np.float32), stop_gradient=stop)

    x = tensor(row.shape, stop=False)
    if "unpool" in row.function:
        pool = getattr(functional, row.function.replace("unpool", "pool"))
        whole = tensor((*row.shape[:2], *[2 * size for size in row.shape[2:]]))
        _, mask = pool(whole, *row.arguments, return_mask=True)
        forward = lambda: function(x, mask, *row.arguments)  # noqa: E731
    elif row.marked:
        forward = lambda: function(x, *row.arguments, return_mask=True)[0]  # noqa: E731
    else:
        forward = lambda: function(x, *row.arguments)  # noqa: E731
    g = tensor(forward().shape)

    def both() -> None:
        forward().backward(g)
        x.clear_grad()

    return forward, both


def main(name: str) -> None:
    """Serve calls of any row; a job is the row's name, with " +" for its gradient too."""
    library, version = imported(name)
    library.set_device("cpu")
    if name == "engine":
        library.set_num_threads(threads())
    calls: dict[str, Callable[[], Any]] = {}

    def repeat(count: int, job: str) -> dict[str, float]:
        if job not in calls:
            calls[job] = prepared(library, ROWS[job.removesuffix(" +")])[job.endswith(" +")]
            for _ in range(FIRST):
                calls[job]()
        call = calls[job]
        for _ in range(count):
            call()
        return {}

    serve(version, repeat)


if __name__ == "__main__":
    main(sys.argv[1])
