"""Losses of sequences whose alignment is not known, as layers."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.functional.reducing import check_reduction
from engine.nn.layer.layers import Layer


class CTCLoss(Layer):
    """functional.ctc_loss as a layer that stores its options."""

    def __init__(self, blank: int = 0, reduction: str = "mean") -> None:
        super().__init__()
        check_reduction("CTCLoss", reduction)
        self.blank = blank
        self.reduction = reduction

    def forward(
        self,
        log_probs: Any,
        labels: Any,
        input_lengths: Any,
        label_lengths: Any,
        norm_by_times: bool = False,
    ) -> Any:
        return functional.ctc_loss(
            log_probs, labels, input_lengths, label_lengths, self.blank, self.reduction, norm_by_times
        )


class RNNTLoss(Layer):
    """functional.rnnt_loss as a layer that stores its options."""

    def __init__(
        self, blank: int = 0, fastemit_lambda: float = 0.001, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        check_reduction("RNNTLoss", reduction)
        self.blank = blank
        self.reduction = reduction
        self.fastemit_lambda = fastemit_lambda
        self.name = name

    def forward(self, input: Any, label: Any, input_lengths: Any, label_lengths: Any) -> Any:
        return functional.rnnt_loss(
            input,
            label,
            input_lengths,
            label_lengths,
            self.blank,
            self.fastemit_lambda,
            self.reduction,
            self.name,
        )
