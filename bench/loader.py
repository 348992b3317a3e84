"""What workers of a DataLoader cost for each batch, and what they save where a sample takes work.

``python -m engine.run bench/loader.py``; with Paddle installed ``python bench/loader.py`` measures it. The
shortest of three epochs counts.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import paddle  # the engine's, where the engine runs this file


class Samples(paddle.io.Dataset):
    """Equal samples, each after ``work`` passes over its array."""

    def __init__(self, count: int, shape: tuple[int, ...], work: int = 0) -> None:
        self.count = count
        self.array = np.ones(shape, "float32")
        self.work = work

    def __getitem__(self, idx: int) -> tuple[np.ndarray, int]:
        for _ in range(self.work):
            np.sqrt(self.array)
        return self.array, idx

    def __len__(self) -> int:
        return self.count


def seconds(data: Samples, size: int, arguments: dict[str, Any]) -> tuple[float, float]:
    """Until the first batch, and then for each."""
    first = each = float("inf")
    for _ in range(3):
        loader = paddle.io.DataLoader(data, batch_size=size, **arguments)
        begin = time.perf_counter()
        batches = iter(loader)
        next(batches)
        middle = time.perf_counter()
        count = sum(1 for _ in batches)
        first = min(first, middle - begin)
        each = min(each, (time.perf_counter() - middle) / count)
    return first, each


def main() -> None:
    for name, data, size in [
        ("[32, 8]", Samples(32 * 400, (8,)), 32),
        ("[64, 784]", Samples(64 * 200, (784,)), 64),
        ("[32, 3, 224, 224]", Samples(32 * 40, (3, 224, 224)), 32),
        ("[32, 3, 224, 224], with work", Samples(32 * 20, (3, 224, 224), 8), 32),
    ]:
        for arguments in (
            {},
            {"num_workers": 1},
            {"num_workers": 2},
            {"num_workers": 2, "use_shared_memory": False},
        ):
            first, each = seconds(data, size, arguments)
            shown = ", ".join(f"{key}={value}" for key, value in arguments.items()) or "in the process"
            print(f"{name:30} {shown:40} first {first * 1e3:7.1f} ms, each {each * 1e3:8.3f} ms", flush=True)


if __name__ == "__main__":
    main()
