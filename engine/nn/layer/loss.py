"""Losses of classifications, as layers."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.functional.reducing import check_reduction
from engine.nn.layer.layers import Layer


class CrossEntropyLoss(Layer):
    """functional.cross_entropy as a layer that stores its options."""

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.weight = weight
        check_reduction("CrossEntropyLoss", reduction)
        self.reduction = reduction
        self.ignore_index = ignore_index
        self.soft_label = soft_label
        self.axis = axis
        self.use_softmax = use_softmax
        self.label_smoothing = label_smoothing
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.cross_entropy(
            input,
            label,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            soft_label=self.soft_label,
            axis=self.axis,
            use_softmax=self.use_softmax,
            label_smoothing=self.label_smoothing,
            name=self.name,
        )


class NLLLoss(Layer):
    """functional.nll_loss as a layer that stores its options."""

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        self._weight = weight
        self._ignore_index = ignore_index
        check_reduction("NLLLoss", reduction)
        self._reduction = reduction
        self._name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.nll_loss(
            input, label, self._weight, self._ignore_index, self._reduction, self._name
        )


class BCELoss(Layer):
    """functional.binary_cross_entropy as a layer that stores its options."""

    def __init__(self, weight: Any = None, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.weight = weight
        check_reduction("BCELoss", reduction)
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.binary_cross_entropy(input, label, self.weight, self.reduction, self.name)


class BCEWithLogitsLoss(Layer):
    """functional.binary_cross_entropy_with_logits as a layer that stores its options."""

    def __init__(
        self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None, name: str | None = None
    ) -> None:
        super().__init__()
        self.weight = weight
        check_reduction("BCEWithLogitsLoss", reduction)
        self.reduction = reduction
        self.pos_weight = pos_weight
        self.name = name

    def forward(self, logit: Any, label: Any) -> Any:
        return functional.binary_cross_entropy_with_logits(
            logit, label, self.weight, self.reduction, self.pos_weight, self.name
        )
