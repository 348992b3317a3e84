"""Rows of the operators in ``engine/ops/training/metrics.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _accuracy(values: Any, indices: Any, label: Any) -> Any:
    correct = sum(int(label[n, 0]) in indices[n].tolist() for n in range(len(label)))
    return np.float32(correct / max(len(label), 1)), np.int32(correct), np.int32(len(label))


CASES: list[Case] = [
    *row("accuracy", _accuracy, s(v(3, 2), np.array([[1, 2], [0, 3], [2, 1]]), np.array([[2], [1], [2]])),
         s(v(2, 1), np.array([[1], [0]]), np.array([[0], [0]])))
]
