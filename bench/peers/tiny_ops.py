"""Worker: one tiny op again and again, ``python -m bench.peers.tiny_ops LIBRARY``; a job is an op's name.

LIBRARY is ``numpy`` (bare, no gradients), ``engine``, ``paddle`` or ``torch``; the operands have shape (3,),
float32, and need gradients, so an op computes and records.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from itertools import repeat as times
from typing import Any

import numpy as np

from bench.peers.protocol import imported, serve, threads

OPERATORS = {
    "x + y": operator.add,
    "x * y": operator.mul,
    "x @ y": operator.matmul,
    "x * 2.0": lambda x, y: x * 2.0,
    "x > 0.5": lambda x, y: x > 0.5,
}
FUNCTIONS = {"add(x, y)": "add", "multiply(x, y)": "multiply", "matmul(x, y)": "matmul"}
OPS = (*OPERATORS, *FUNCTIONS, "relu(x)")


def function(name: str, library: Any, op: str) -> Callable[..., Any]:
    """What users of ``library`` call for ``op``."""
    if op in OPERATORS:
        return OPERATORS[op]
    if op in FUNCTIONS:
        return getattr(library, FUNCTIONS[op])  # type: ignore[no-any-return]
    if name == "numpy":
        return lambda x: np.maximum(x, 0)
    return library.relu if name == "torch" else library.nn.functional.relu  # type: ignore[no-any-return]


def operands(name: str, library: Any) -> list[Any]:
    """Two vectors of three numbers that need gradients where the library knows them."""
    arrays = [np.array([0.5, -1.0, 2.0], np.float32), np.array([3.0, 0.25, -1.5], np.float32)]
    if name == "numpy":
        return arrays
    if name == "torch":
        library.set_num_threads(threads())
        return [library.from_numpy(array).requires_grad_() for array in arrays]
    library.set_device("cpu")
    return [library.to_tensor(array, stop_gradient=False) for array in arrays]


def main(name: str) -> None:
    """Serve calls of any op."""
    library, version = imported(name)
    x, y = operands(name, library)
    calls = {op: function(name, library, op) for op in OPS}

    def repeat(count: int, op: str) -> dict[str, float]:
        call = calls[op]
        if op.endswith("(x)"):
            for _ in times(None, count):
                call(x)
        else:
            for _ in times(None, count):
                call(x, y)
        return {}

    serve(version, repeat)


if __name__ == "__main__":
    main(sys.argv[1])
