"""The loss over a tree of sigmoids, as a layer."""

from __future__ import annotations

from typing import Any

from engine.core.dtype import default_dtype
from engine.core.errors import ArgumentError
from engine.nn import functional
from engine.nn.layer.layers import Layer


class HSigmoidLoss(Layer):
    """functional.hsigmoid_loss with the weights of the tree's inner nodes: num_classes - 1 of them.

    With ``is_custom`` the tree is given with each call by ``path_table`` and ``path_code``, and num_classes
    counts its inner nodes.
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_classes < 2 and not is_custom:
            raise ArgumentError(f"HSigmoidLoss: num_classes must be 2 or more: got {num_classes}")
        self._num_classes = num_classes
        self._is_custom = is_custom
        self._is_sparse = is_sparse
        self._name = name
        self._dtype = default_dtype().name
        nodes = num_classes if is_custom else num_classes - 1
        self.weight: Any = self.create_parameter([nodes, feature_size], weight_attr, self._dtype)
        self.bias = self.create_parameter([nodes, 1], bias_attr, self._dtype, is_bias=True)

    def forward(self, input: Any, label: Any, path_table: Any = None, path_code: Any = None) -> Any:
        if self._is_custom and path_table is None:
            raise ArgumentError("HSigmoidLoss: with is_custom calls need path_table and path_code: got none")
        return functional.hsigmoid_loss(
            input,
            label,
            self._num_classes,
            self.weight,
            self.bias,
            path_table,
            path_code,
            self._is_sparse,
            self._name,
        )
