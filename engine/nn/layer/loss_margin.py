"""Losses that ask for a margin, as layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.errors import ArgumentError
from engine.nn import functional
from engine.nn.functional.reducing import check_reduction
from engine.nn.layer.layers import Layer


class MarginRankingLoss(Layer):
    """functional.margin_ranking_loss as a layer that stores its options."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction("MarginRankingLoss", reduction)
        self.margin = margin
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, other: Any, label: Any) -> Any:
        return functional.margin_ranking_loss(input, other, label, self.margin, self.reduction, self.name)


class HingeEmbeddingLoss(Layer):
    """functional.hinge_embedding_loss as a layer that stores its options."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction("HingeEmbeddingLoss", reduction)
        self.margin = margin
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.hinge_embedding_loss(input, label, self.margin, self.reduction, self.name)


class CosineEmbeddingLoss(Layer):
    """functional.cosine_embedding_loss as a layer that stores its options; the margin is from -1 to 1."""

    def __init__(self, margin: float = 0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        if not -1 <= margin <= 1:
            raise ArgumentError(f"CosineEmbeddingLoss: margin must be a cosine, -1 to 1: got {margin}")
        check_reduction("CosineEmbeddingLoss", reduction)
        self.margin = margin
        self.reduction = reduction
        self.name = name

    def forward(self, input1: Any, input2: Any, label: Any) -> Any:
        return functional.cosine_embedding_loss(input1, input2, label, self.margin, self.reduction, self.name)


class SoftMarginLoss(Layer):
    """functional.soft_margin_loss as a layer that stores its reduction."""

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction("SoftMarginLoss", reduction)
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.soft_margin_loss(input, label, self.reduction, self.name)


class MultiLabelSoftMarginLoss(Layer):
    """functional.multi_label_soft_margin_loss as a layer that stores its options."""

    def __init__(self, weight: Any = None, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction("MultiLabelSoftMarginLoss", reduction)
        self.weight = weight
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.multi_label_soft_margin_loss(input, label, self.weight, self.reduction, self.name)


class MultiMarginLoss(Layer):
    """functional.multi_margin_loss as a layer that stores its options."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction("MultiMarginLoss", reduction)
        self.p = p
        self.margin = margin
        self.weight = weight
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.multi_margin_loss(
            input, label, self.p, self.margin, self.weight, self.reduction, self.name
        )


class TripletMarginLoss(Layer):
    """functional.triplet_margin_loss as a layer that stores its options."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        epsilon: float = 1e-6,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction("TripletMarginLoss", reduction)
        self.margin = margin
        self.p = p
        self.epsilon = epsilon
        self.swap = swap
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, positive: Any, negative: Any) -> Any:
        return functional.triplet_margin_loss(
            input, positive, negative, self.margin, self.p, self.epsilon, self.swap, self.reduction, self.name
        )


class TripletMarginWithDistanceLoss(Layer):
    """functional.triplet_margin_with_distance_loss as a layer that stores its options.

    Differs from Paddle: the distance function is used; Paddle 2.6.2 keeps it and measures with the 2-norm.
    """

    def __init__(
        self,
        distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction("TripletMarginWithDistanceLoss", reduction)
        self.margin = margin
        self.swap = swap
        self.reduction = reduction
        self.distance_function = distance_function
        self.name = name

    def forward(self, input: Any, positive: Any, negative: Any) -> Any:
        return functional.triplet_margin_with_distance_loss(
            input,
            positive,
            negative,
            self.distance_function,
            self.margin,
            self.swap,
            self.reduction,
            self.name,
        )
