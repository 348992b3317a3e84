"""``PRelu``, ``BilinearTensorProduct``, ``RowConv``, ``Dropout`` and ``Flatten``."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.dygraph.nn.forms import Formed, alias, form
from engine.fluid.layers.nn.dropping import dropout
from engine.fluid.values.variable import result
from engine.nn import functional
from engine.nn.initializer import Constant
from engine.static.nn.more import convolved_rows
from engine.tensor.manipulation import flatten

_MODES = ("all", "channel", "element")


class PRelu(Formed):
    """x where positive, else x times a learned slope, 1 at first.

    ``mode``: one slope for 'all', one for each 'channel', or one for each 'element' of a sample.
    """

    EARLY = form(lambda name_scope, mode, param_attr=None, dtype="float32": None)
    LATE = form(lambda mode, channel=None, input_shape=None, param_attr=None, dtype="float32": None)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # A mode in the first place is that of the later form, unless another mode follows the scope.
        scoped = "name_scope" in kwargs or "mode" in kwargs or (len(args) > 1 and args[1] in _MODES)
        if args and args[0] in _MODES and not scoped:
            kwargs = {**dict(zip(self.LATE.parameters, args, strict=False)), **kwargs}
            args = ()
        super().__init__(*args, **kwargs)

    def _make(self) -> None:
        given, mode = self.given, self.given["mode"]
        if mode not in _MODES:
            raise ArgumentError(f"PRelu: mode should be one of all, channel, element: got {mode!r}")
        if mode == "all":
            self._make_slopes([1])
        elif given.get("channel") is not None and mode == "channel":
            self._make_slopes([1, int(given["channel"]), 1, 1])
        elif given.get("input_shape") is not None and mode == "element":
            self._make_slopes([1, *(int(n) for n in given["input_shape"][1:])])

    def _build_once(self, input: Any) -> None:
        if "weight" in self._parameters:
            return
        sizes = [int(n) for n in input.shape[1:]]
        by_channel = self.given["mode"] == "channel"
        self._make_slopes([1, sizes[0], *[1] * (len(sizes) - 1)] if by_channel else [1, *sizes])

    def _make_slopes(self, shape: list[int]) -> None:
        self.weight = self.create_parameter(
            self.given["param_attr"], shape, self._dtype, default_initializer=Constant(1.0)
        )

    _alpha = alias("weight")

    def forward(self, input: Any) -> Any:
        """``input`` [N, channels, ...]."""
        negative = self.weight * (input - functional.relu(input))
        return result(functional.relu(input) + negative)


class BilinearTensorProduct(Formed):
    """``act(x[n] @ weight[k] @ y[n] + bias[k])``: [N, size]."""

    EARLY = form(
        lambda name_scope, size, name=None, act=None, param_attr=None, bias_attr=None, dtype="float32": None
    )
    LATE = form(
        lambda input1_dim, input2_dim, output_dim, name=None, act=None, param_attr=None, bias_attr=None,
        dtype="float32": None
    )  # fmt: skip

    def _make(self) -> None:
        given = self.given
        if "size" not in given:
            self._make_parameters(given["output_dim"], given["input1_dim"], given["input2_dim"])

    def _build_once(self, x: Any, y: Any) -> None:
        if "size" in self.given:
            self._make_parameters(self.given["size"], int(x.shape[1]), int(y.shape[1]))

    def _make_parameters(self, size: int, first: int, second: int) -> None:
        given = self.given
        self.weight = self.create_parameter(given["param_attr"], [size, first, second], self._dtype)
        self.bias = self.create_parameter(given["bias_attr"], [1, size], self._dtype, is_bias=True)

    _w = alias("weight")
    _bias_param = alias("bias")

    def forward(self, x: Any, y: Any) -> Any:
        """``x`` [N, features], ``y`` [N, features]."""
        return self._activated(functional.bilinear(x, y, self.weight, self.bias))


class RowConv(Formed):
    """The weighted sum of each row of [N, length, size] and the ``future_context_size`` rows after it."""

    EARLY = form(lambda name_scope, future_context_size, param_attr=None, act=None, dtype="float32": None)

    def _build_once(self, input: Any) -> None:
        shape = [self.given["future_context_size"] + 1, int(input.shape[2])]
        self.weight = self.create_parameter(self.given["param_attr"], shape, self._dtype)

    _filter_param = alias("weight")

    def forward(self, input: Any) -> Any:
        """``input`` [N, length, size]."""
        return self._activated(convolved_rows(input, self.weight))


class Dropout(Formed):
    """Elements set to zero with probability ``p`` in training; see ``fluid.layers.dropout``."""

    LATE = form(lambda p=0.5, seed=None, dropout_implementation="downgrade_in_infer", is_test=False: None)

    def forward(self, input: Any) -> Any:
        """``input`` of any shape."""
        given = self.given
        return dropout(
            input, given["p"], given["is_test"] or not self.training, given["seed"],
            dropout_implementation=given["dropout_implementation"],
        )  # fmt: skip


class Flatten(Formed):
    """The dimensions from ``start_axis`` to ``stop_axis`` as one."""

    LATE = form(lambda start_axis=1, stop_axis=-1: None)

    def forward(self, input: Any) -> Any:
        """``input`` of at least ``start_axis`` + 1 dimensions."""
        return result(flatten(input, self.given["start_axis"], self.given["stop_axis"]))
