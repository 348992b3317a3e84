"""Distances and similarities of vectors as layers."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.layer.layers import Layer


class PairwiseDistance(Layer):
    """The p-norm of x - y + epsilon along the last dimension."""

    def __init__(
        self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
    ) -> None:
        super().__init__()
        self.p = p
        self.epsilon = epsilon
        self.keepdim = keepdim
        self.name = name

    def forward(self, x: Any, y: Any) -> Any:
        return functional.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim, self.name)

    def extra_repr(self) -> str:
        text = f"p={self.p}"
        if self.epsilon != 1e-6:
            text += f", epsilon={self.epsilon}"
        if self.keepdim is not False:
            text += f", keepdim={self.keepdim}"
        return text + (f", name={self.name}" if self.name is not None else "")


class CosineSimilarity(Layer):
    """The cosine of the angle between x1 and x2 along ``axis``."""

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis = axis
        self._eps = eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return functional.cosine_similarity(x1, x2, axis=self._axis, eps=self._eps)

    def extra_repr(self) -> str:
        return f"axis={self._axis}, eps={self._eps}"
