"""Losses between predicted and true values, as layers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.nn import functional
from engine.nn.functional.reducing import check_reduction
from engine.nn.layer.layers import Layer


class MSELoss(Layer):
    """functional.mse_loss as a layer that stores its reduction."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        check_reduction("MSELoss", reduction)
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        return functional.mse_loss(input, label, self.reduction)


class L1Loss(Layer):
    """functional.l1_loss as a layer that stores its reduction."""

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction("L1Loss", reduction)
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.l1_loss(input, label, self.reduction, self.name)


class SmoothL1Loss(Layer):
    """functional.smooth_l1_loss as a layer that stores its options."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        check_reduction("SmoothL1Loss", reduction)
        self.reduction = reduction
        self.delta = delta
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.smooth_l1_loss(
            input, label, reduction=self.reduction, delta=self.delta, name=self.name
        )


class KLDivLoss(Layer):
    """functional.kl_div as a layer that stores its reduction: 'mean', 'batchmean', 'sum' or 'none'."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        check_reduction("KLDivLoss", reduction, "batchmean")
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        return functional.kl_div(input, label, self.reduction)


class PoissonNLLLoss(Layer):
    """functional.poisson_nll_loss as a layer that stores its options."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        epsilon: float = 1e-8,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if epsilon <= 0:
            raise ArgumentError(f"PoissonNLLLoss: epsilon must be above 0: got {epsilon}; pass e.g. 1e-8")
        check_reduction("PoissonNLLLoss", reduction)
        self._log_input = log_input
        self._full = full
        self._epsilon = epsilon
        self._reduction = reduction
        self._name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.poisson_nll_loss(
            input,
            label,
            log_input=self._log_input,
            full=self._full,
            epsilon=self._epsilon,
            reduction=self._reduction,
            name=self._name,
        )


class GaussianNLLLoss(Layer):
    """functional.gaussian_nll_loss as a layer that stores its options."""

    def __init__(
        self, full: bool = False, epsilon: float = 1e-6, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        check_reduction("GaussianNLLLoss", reduction)
        self.full = full
        self.epsilon = epsilon
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, label: Any, variance: Any) -> Any:
        return functional.gaussian_nll_loss(
            input, label, variance, self.full, self.epsilon, self.reduction, self.name
        )
