"""``GRUUnit``: one step of a gated recurrent unit."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.core.strictness import tolerate
from engine.fluid.dygraph.nn.forms import Formed, alias, form
from engine.fluid.layers.gates import GATE_ACTIVATIONS, gru_step
from engine.fluid.values.variable import result


class GRUUnit(Formed):
    """One step of a GRU for a batch; ``size`` is three times that of the hidden state.

    The input [N, size] is already multiplied by its weight. The weight [size / 3, size] is memory that holds
    two matrices one after the other: [size / 3, 2 * size / 3] for update and reset, then
    [size / 3, size / 3] for the candidate. ``origin_mode`` has no effect, as in Paddle, where it does not
    reach the operator; True gives a LeniencyWarning. Raises ArgumentError for another activation.
    """

    EARLY = form(
        lambda name_scope, size, param_attr=None, bias_attr=None, activation="tanh",
        gate_activation="sigmoid", origin_mode=False, dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda size, param_attr=None, bias_attr=None, activation="tanh", gate_activation="sigmoid",
        origin_mode=False, dtype="float32": None
    )  # fmt: skip

    def _make(self) -> None:
        given = self.given
        if given["size"] % 3:
            raise ArgumentError(f"GRUUnit: size is three times the hidden size: got {given['size']}")
        for name in ("activation", "gate_activation"):
            if given[name] not in GATE_ACTIVATIONS:
                raise ArgumentError(f"GRUUnit: {name} is one of {GATE_ACTIVATIONS}: got {given[name]!r}")
        if given["origin_mode"]:
            tolerate(
                ArgumentError(
                    "GRUUnit: origin_mode has no effect: got True; use nn.GRUCell, which keeps the state by "
                    "the update gate"
                )
            )
        hidden = given["size"] // 3
        self.weight = self.create_parameter(given["param_attr"], [hidden, 3 * hidden], self._dtype)
        self.bias = self.create_parameter(given["bias_attr"], [1, 3 * hidden], self._dtype, is_bias=True)

    _weight = alias("weight")
    _bias = alias("bias")

    def forward(self, input: Any, hidden: Any) -> Any:
        """The new state, ``reset * hidden``, and the gates (update, reset, candidate) side by side."""
        names = [self.given["activation"], self.given["gate_activation"]]
        return result(gru_step(input, hidden, self.weight, self.bias, *names))
