"""One step of gated units, for the functions of ``fluid.layers`` and the Layers of ``fluid.dygraph``."""

from __future__ import annotations

from typing import Any

from engine.fluid.layers.adapting import activated
from engine.tensor.elements.arranging import slice_
from engine.tensor.manipulation import concat, reshape

GATE_ACTIVATIONS = ("identity", "sigmoid", "tanh", "relu")
"""Activations that gru_unit may name."""


def gru_step(
    input: Any,
    hidden: Any,
    weight: Any,
    bias: Any,
    activation: str = "tanh",
    gate_activation: str = "sigmoid",
    origin_mode: bool = False,
) -> tuple[Any, Any, Any]:
    """The new state [N, size], ``reset * hidden``, and the gates (update, reset, candidate) side by side.

    ``input`` [N, 3 * size] is already multiplied by its weight. ``weight`` [size, 3 * size] is memory that
    holds two matrices one after the other: [size, 2 * size] for update and reset, then [size, size] for the
    candidate; ``bias`` is [1, 3 * size] or None. The update gate takes the share of the candidate, with
    ``origin_mode`` that of the state before.
    """
    size = int(hidden.shape[1])
    flat, cut = reshape(weight, [-1]), 2 * size * size
    gates = reshape(slice_(flat, [0], [0], [cut]), [size, 2 * size])
    candidate = reshape(slice_(flat, [0], [cut], [cut + size * size]), [size, size])
    given = input if bias is None else input + bias
    both = _through(gate_activation, _columns(given, 0, 2 * size) + hidden @ gates)
    update, reset = _columns(both, 0, size), _columns(both, size, 2 * size)
    gated = reset * hidden
    new = _through(activation, _columns(given, 2 * size, 3 * size) + gated @ candidate)
    moved = new + update * (hidden - new) if origin_mode else hidden + update * (new - hidden)
    return moved, gated, concat([both, new], axis=1)


def _through(name: str, value: Any) -> Any:
    return value if name == "identity" else activated(value, name)


def _columns(value: Any, first: int, end: int) -> Any:
    return slice_(value, [1], [first], [end])
