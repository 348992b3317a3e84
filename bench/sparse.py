"""ms a call of functions on sparse tensors of medium size, forward and backward.

``python -m engine.run bench/sparse.py``; with Paddle installed ``python bench/sparse.py`` measures it. The
shortest of ten calls counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle  # the engine's, where the engine runs this file

SIDE, POINTS, CHANNELS = 32, 2_000, 16


def points() -> Any:
    """A volume [2, 32, 32, 32, 16] with 2,000 elements: with 20,000 Paddle takes minutes."""
    rng = np.random.default_rng(0)
    shape = (2, SIDE, SIDE, SIDE)
    numbers = np.sort(rng.choice(int(np.prod(shape)), POINTS, replace=False))
    values = rng.standard_normal((POINTS, CHANNELS)).astype("float32")
    made = paddle.sparse.sparse_coo_tensor(
        np.stack(np.unravel_index(numbers, shape)), values, [*shape, CHANNELS]
    )
    return made


def matrix(seed: int) -> Any:
    """[4000, 4000] with 160,000 elements."""
    rng = np.random.default_rng(seed)
    numbers = np.sort(rng.choice(4000 * 4000, 160_000, replace=False))
    values = rng.standard_normal(len(numbers)).astype("float32")
    made = paddle.sparse.sparse_coo_tensor(
        np.stack(np.unravel_index(numbers, (4000, 4000))), values, [4000, 4000]
    )
    return made


def leaf(x: Any) -> Any:
    """The tensor without earlier gradients: Paddle crashes where it adds to a sparse one."""
    made = x.detach()
    made.stop_gradient = False
    return made


def milliseconds(call: Callable[[], Any], start: Any = None) -> str:
    """The shortest of ten calls, forward and backward."""
    forward = backward = float("inf")
    for _ in range(10):
        begin = time.perf_counter()
        try:
            out = call()
        except NotImplementedError:
            return "no kernel"
        except RuntimeError as error:  # Paddle has none on the CPU
            return str(error).strip().splitlines()[-1][:40]
        middle = time.perf_counter()
        out.backward(start(out) if start else None)
        forward = min(forward, middle - begin)
        backward = min(backward, time.perf_counter() - middle)
    return f"forward {forward * 1e3:8.2f} ms, backward {backward * 1e3:8.2f} ms"


def main() -> None:
    functional = paddle.sparse.nn.functional
    x, kernel = points(), paddle.randn([3, 3, 3, CHANNELS, 32])
    kernel.stop_gradient = False
    a, b = matrix(0), matrix(1)
    rows = a.to_sparse_csr()
    dense = paddle.randn([4000, 64])
    for name, call in {
        "subm_conv3d, 3 x 3 x 3, 16 to 32": lambda: functional.subm_conv3d(leaf(x), kernel, padding=1),
        "conv3d, stride 2": lambda: functional.conv3d(leaf(x), kernel, stride=2, padding=1),
        "max_pool3d, 2": lambda: functional.max_pool3d(leaf(x), 2),
        "relu": lambda: functional.relu(leaf(x)),
        "add, two patterns": lambda: paddle.sparse.add(leaf(a), leaf(b)),
        "multiply, two patterns": lambda: paddle.sparse.multiply(leaf(a), leaf(b)),
        "softmax, CSR": lambda: functional.softmax(leaf(rows)),
        "sum of rows": lambda: paddle.sparse.sum(leaf(a), 1),
        "transpose, CSR": lambda: paddle.sparse.transpose(leaf(rows), [1, 0]),
        "CSR times [4000, 64]": lambda: paddle.sparse.matmul(leaf(rows), dense),
    }.items():
        start = None if "times" in name else paddle.sparse.abs
        print(f"{name:34} {milliseconds(call, start)}", flush=True)


if __name__ == "__main__":
    main()
