"""Worker: one tiny op again and again, ``python -m bench.peers.tiny_ops LIBRARY OP``.

LIBRARY is ``numpy`` (bare, no gradients), ``engine``, ``paddle`` or ``torch``; the operands have shape (3,),
float32, and need gradients, so an op computes and records.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from itertools import repeat as times
from typing import Any

import numpy as np

from bench.peers.protocol import serve, threads

OPS = ("add", "multiply", "matmul", "relu")


def function(name: str, library: Any, op: str) -> Callable[..., Any]:
    """The public function of ``library`` that users call for ``op``."""
    if op != "relu":
        return getattr(library, op)  # type: ignore[no-any-return]
    if name == "numpy":
        return lambda x: np.maximum(x, 0)
    return library.relu if name == "torch" else library.nn.functional.relu  # type: ignore[no-any-return]


def operands(name: str, library: Any, count: int) -> list[Any]:
    """``count`` vectors of three numbers that need gradients where the library knows them."""
    arrays = [np.array([0.5, -1.0, 2.0], np.float32) + i for i in range(count)]
    if name == "numpy":
        return arrays
    if name == "torch":
        library.set_num_threads(threads())
        return [library.from_numpy(array).requires_grad_() for array in arrays]
    library.set_device("cpu")
    return [library.to_tensor(array, stop_gradient=False) for array in arrays]


def main(name: str, op: str) -> None:
    """Serve calls of one op."""
    library = importlib.import_module(name)
    call = function(name, library, op)
    values = operands(name, library, 1 if op == "relu" else 2)

    def repeat(count: int) -> dict[str, float]:
        if len(values) == 1:
            (x,) = values
            for _ in times(None, count):
                call(x)
        else:
            x, y = values
            for _ in times(None, count):
                call(x, y)
        return {}

    serve(f"{name} {library.__version__}", repeat)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
