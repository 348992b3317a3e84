"""``FC``, ``Linear`` and ``Embedding``."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ShapeError
from engine.fluid.dygraph.nn.forms import Formed, alias, form
from engine.fluid.values.variable import result
from engine.nn import functional
from engine.tensor.manipulation import reshape
from engine.tensor.math import add_n


class FC(Formed):
    """``act(sum of input @ weight + bias)``, the input flattened from dimension ``num_flatten_dims`` on.

    The weight [features, size] is made at the first call; a list of inputs has a weight for each.
    """

    EARLY = form(
        lambda name_scope, size, num_flatten_dims=1, param_attr=None, bias_attr=None, act=None,
        is_test=False, dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda size, num_flatten_dims=1, param_attr=None, bias_attr=None, act=None, is_test=False,
        dtype="float32": None
    )  # fmt: skip

    def _build_once(self, input: Any) -> None:
        given, weights = self.given, []
        inputs = input if isinstance(input, (list, tuple)) else [input]
        attrs = given["param_attr"] if isinstance(given["param_attr"], (list, tuple)) else None
        for n, each in enumerate(inputs):
            features = [int(d) for d in each.shape[given["num_flatten_dims"] :]]
            if any(d < 0 for d in features):
                raise ShapeError(
                    f"{self.full_name()}: the features of input {n} must be known: got shape "
                    f"{list(each.shape)} with num_flatten_dims={given['num_flatten_dims']}; give the "
                    "dimensions in layers.data"
                )
            attr = attrs[n] if attrs else given["param_attr"]
            weight = self.create_parameter(attr, [math.prod(features), given["size"]], self._dtype)
            weights.append(self.add_parameter(f"_w{n}", weight))
        self.__dict__["_weights"] = weights
        self._b = self.create_parameter(given["bias_attr"], [given["size"]], self._dtype, is_bias=True)

    @property
    def _w(self) -> Any:
        """The weight of the first input."""
        return self._parameters["_w0"]

    @_w.setter
    def _w(self, value: Any) -> None:
        self.add_parameter("_w0", value)
        self._weights[0] = value

    weight = _w

    bias = alias("_b")

    def forward(self, input: Any) -> Any:
        """``input`` [..., features] or a list of such; the result keeps the first num_flatten_dims."""
        flat_dims = self.given["num_flatten_dims"]
        inputs = input if isinstance(input, (list, tuple)) else [input]
        bias = self._b
        if len(inputs) == 1:
            weight = self._weights[0]
            return self._activated(functional.linear(_flat(inputs[0], weight, flat_dims), weight, bias))
        pairs = zip(inputs, self._weights, strict=True)
        total = add_n([functional.linear(_flat(x, w, flat_dims), w) for x, w in pairs])
        return self._activated(total if bias is None else total + bias)


def _flat(x: Any, weight: Any, flat_dims: int) -> Any:
    """``x``, its dimensions from ``flat_dims`` on as one: as many as ``weight`` has rows."""
    leading = [0] * flat_dims  # 0 keeps a dimension, also one that is not known before the Program runs
    return x if len(x.shape) == flat_dims + 1 else reshape(x, [*leading, int(weight.shape[0])])


class Linear(Formed):
    """``act(input @ weight + bias)``, weight [input_dim, output_dim]; the layer that followed FC in 1.7."""

    LATE = form(
        lambda input_dim, output_dim, param_attr=None, bias_attr=None, act=None, dtype="float32": None
    )

    def _make(self) -> None:
        given = self.given
        self.weight = self.create_parameter(given["param_attr"], [given["input_dim"], given["output_dim"]])
        self.bias = self.create_parameter(given["bias_attr"], [given["output_dim"]], is_bias=True)

    def forward(self, input: Any) -> Any:
        """``input`` [..., input_dim]."""
        return self._activated(functional.linear(input, self.weight, self.bias))


class Embedding(Formed):
    """Rows of a table [rows, size] by number: ids [N, 1] give [N, size], as in ``lookup_table``."""

    EARLY = form(
        lambda name_scope, size, is_sparse=False, is_distributed=False, padding_idx=None, param_attr=None,
        dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda size, is_sparse=False, is_distributed=False, padding_idx=None, param_attr=None,
        dtype="float32": None
    )  # fmt: skip

    def _make(self) -> None:
        self.weight = self.create_parameter(self.given["param_attr"], list(self.given["size"]))

    _w = alias("weight")

    def forward(self, input: Any) -> Any:
        """``input``: int64 ids whose last dimension is 1 (from 1.7 on any shape)."""
        if self._scoped:
            if int(input.shape[-1]) != 1:
                raise ShapeError(
                    f"{self.full_name()}: the ids must end in a dimension of 1: got shape "
                    f"{list(input.shape)}; reshape them to [..., 1]"
                )
            input = reshape(input, [0] * (len(input.shape) - 1)) if len(input.shape) > 1 else input
        return result(functional.embedding(input, self.weight, self.given["padding_idx"]))
