"""Distances and similarities of vectors as layers."""

from __future__ import annotations

from typing import Any

from engine.nn.layer.function_layer import FunctionLayer
from engine.tensor.tensor_like import AnyTensor


class PairwiseDistance(FunctionLayer):
    """The p-norm of x - y + epsilon along the last dimension."""

    _function, _hidden = "pairwise_distance", {"epsilon": 1e-6, "keepdim": False}

    def __init__(
        self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
    ) -> None:
        super().__init__(p, epsilon, keepdim, name)

    def forward(self, x: AnyTensor, y: AnyTensor) -> Any:
        return self._applied(x, y)


class CosineSimilarity(FunctionLayer):
    """The cosine of the angle between x1 and x2 along ``axis``."""

    _function, _prefix = "cosine_similarity", "_"

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__(axis, eps)

    def forward(self, x1: AnyTensor, x2: AnyTensor) -> Any:
        return self._applied(x1, x2)
