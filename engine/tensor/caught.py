"""Which public functions explain the raw errors of their arguments, and which are too short to pay for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.core.raw_errors import explain_errors

_ROOMS = ("engine.tensor.", "engine.nn.functional.", "engine.fft", "engine.eager.backward")

# Called in every step of every network: catching costs 30 to 60 ns a call, which these would feel. They check
# what they need, or their operators do.
HOT = frozenset((
    "add", "subtract", "multiply", "divide", "matmul", "mm", "pow", "scale", "cast", "reshape", "transpose",
    "flatten", "sum", "mean", "relu", "linear", "conv2d", "max_pool2d", "softmax",
))  # fmt: skip


def explain_public(namespace: Mapping[str, Any]) -> None:
    """Let the functions of a public namespace, or the methods of a class, explain raw errors."""
    explain_errors(namespace, _ROOMS, HOT)
