"""Losses as layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.errors import ArgumentError
from engine.core.values.dtype import default_dtype
from engine.nn import functional
from engine.nn.functional.losses.reducing import check_reduction
from engine.nn.layer.function_layer import FUNCTIONS, FunctionLayer
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import AttrLike
from engine.tensor.tensor_like import AnyTensor


class _Loss(FunctionLayer):
    """A loss that stores its options, one of which is the reduction."""

    _shown = ()
    _reductions: tuple[str, ...] = ()  # besides 'sum', 'mean' and 'none'
    _checked = True  # False: the call refuses other reductions, as in Paddle

    def __init__(self, *options: Any) -> None:
        super().__init__(*options)
        if self._checked:
            reduction = getattr(self, self._prefix + "reduction")
            check_reduction(self._class_name, reduction, *self._reductions)


class _OfLabel(_Loss):
    """The loss of an input and its label."""

    def forward(self, input: AnyTensor, label: AnyTensor) -> Any:
        kind = type(self)
        return FUNCTIONS[kind._function](input, label, *kind._values(self))


class _OnlyReduced(_OfLabel):
    """A loss whose only option is its reduction."""

    def forward(self, input: AnyTensor, label: AnyTensor) -> Any:
        return FUNCTIONS[type(self)._function](input, label, self.reduction)


class _OfTriplet(_Loss):
    """The loss of an input, one that is to be near and one that is to be far."""

    def forward(self, input: AnyTensor, positive: AnyTensor, negative: AnyTensor) -> Any:
        return self._applied(input, positive, negative)


class CrossEntropyLoss(_OfLabel):
    """functional.cross_entropy as a layer that stores its options."""

    _function, _checked = "cross_entropy", False

    def __init__(
        self,
        weight: AnyTensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__(
            weight, ignore_index, reduction, soft_label, axis, use_softmax, label_smoothing, name
        )


class NLLLoss(_OfLabel):
    """functional.nll_loss as a layer that stores its options."""

    _function, _prefix = "nll_loss", "_"

    def __init__(
        self,
        weight: AnyTensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(weight, ignore_index, reduction, name)


class BCELoss(_OfLabel):
    """functional.binary_cross_entropy as a layer that stores its options."""

    _function = "binary_cross_entropy"

    def __init__(
        self, weight: AnyTensor | None = None, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(weight, reduction, name)


class BCEWithLogitsLoss(_Loss):
    """functional.binary_cross_entropy_with_logits as a layer that stores its options."""

    _function = "binary_cross_entropy_with_logits"

    def __init__(
        self,
        weight: AnyTensor | None = None,
        reduction: str = "mean",
        pos_weight: AnyTensor | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight, reduction, pos_weight, name)

    def forward(self, logit: AnyTensor, label: AnyTensor) -> Any:
        return self._applied(logit, label)


class MSELoss(_OnlyReduced):
    """functional.mse_loss as a layer that stores its reduction."""

    _function = "mse_loss"

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction)


class L1Loss(_OfLabel):
    """functional.l1_loss as a layer that stores its reduction."""

    _function = "l1_loss"

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(reduction, name)


class SmoothL1Loss(_OfLabel):
    """functional.smooth_l1_loss as a layer that stores its options."""

    _function, _checked = "smooth_l1_loss", False

    def __init__(self, reduction: str = "mean", delta: float = 1.0, name: str | None = None) -> None:
        super().__init__(reduction, delta, name)


class KLDivLoss(_OnlyReduced):
    """functional.kl_div as a layer that stores its reduction: 'mean', 'batchmean', 'sum' or 'none'."""

    _function = "kl_div"
    _reductions = ("batchmean",)

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction)


class PoissonNLLLoss(_OfLabel):
    """functional.poisson_nll_loss as a layer that stores its options."""

    _function, _prefix = "poisson_nll_loss", "_"

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        epsilon: float = 1e-8,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(log_input, full, epsilon, reduction, name)
        if epsilon <= 0:
            raise ArgumentError(f"PoissonNLLLoss: epsilon must be above 0: got {epsilon}; pass e.g. 1e-8")


class GaussianNLLLoss(_Loss):
    """functional.gaussian_nll_loss as a layer that stores its options."""

    _function = "gaussian_nll_loss"

    def __init__(
        self, full: bool = False, epsilon: float = 1e-6, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(full, epsilon, reduction, name)

    def forward(self, input: AnyTensor, label: AnyTensor, variance: AnyTensor) -> Any:
        return self._applied(input, label, variance)


class MarginRankingLoss(_Loss):
    """functional.margin_ranking_loss as a layer that stores its options."""

    _function = "margin_ranking_loss"

    def __init__(self, margin: float = 0.0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(margin, reduction, name)

    def forward(self, input: AnyTensor, other: AnyTensor, label: AnyTensor) -> Any:
        return self._applied(input, other, label)


class HingeEmbeddingLoss(_OfLabel):
    """functional.hinge_embedding_loss as a layer that stores its options."""

    _function, _checked = "hinge_embedding_loss", False

    def __init__(self, margin: float = 1.0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(margin, reduction, name)


class CosineEmbeddingLoss(_Loss):
    """functional.cosine_embedding_loss as a layer that stores its options; the margin is from -1 to 1."""

    _function = "cosine_embedding_loss"

    def __init__(self, margin: float = 0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(margin, reduction, name)
        if not -1 <= margin <= 1:
            raise ArgumentError(f"CosineEmbeddingLoss: margin must be a cosine, -1 to 1: got {margin}")

    def forward(self, input1: AnyTensor, input2: AnyTensor, label: AnyTensor) -> Any:
        return self._applied(input1, input2, label)


class SoftMarginLoss(_OfLabel):
    """functional.soft_margin_loss as a layer that stores its reduction."""

    _function = "soft_margin_loss"

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(reduction, name)


class MultiLabelSoftMarginLoss(_OfLabel):
    """functional.multi_label_soft_margin_loss as a layer that stores its options."""

    _function = "multi_label_soft_margin_loss"

    def __init__(
        self, weight: AnyTensor | None = None, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(weight, reduction, name)


class MultiMarginLoss(_OfLabel):
    """functional.multi_margin_loss as a layer that stores its options."""

    _function = "multi_margin_loss"

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: AnyTensor | None = None,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(p, margin, weight, reduction, name)


class TripletMarginLoss(_OfTriplet):
    """functional.triplet_margin_loss as a layer that stores its options."""

    _function = "triplet_margin_loss"

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        epsilon: float = 1e-6,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(margin, p, epsilon, swap, reduction, name)


class TripletMarginWithDistanceLoss(_OfTriplet):
    """functional.triplet_margin_with_distance_loss as a layer that stores its options.

    Differs from Paddle: the distance function is used; Paddle 2.6.2 keeps it and measures with the 2-norm.
    """

    _function = "triplet_margin_with_distance_loss"

    def __init__(
        self,
        distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(distance_function, margin, swap, reduction, name)


class CTCLoss(_Loss):
    """functional.ctc_loss as a layer that stores its options."""

    _function = "ctc_loss"

    def __init__(self, blank: int = 0, reduction: str = "mean") -> None:
        super().__init__(blank, reduction)

    def forward(
        self,
        log_probs: AnyTensor,
        labels: AnyTensor,
        input_lengths: AnyTensor,
        label_lengths: AnyTensor,
        norm_by_times: bool = False,
    ) -> Any:
        return functional.ctc_loss(
            log_probs, labels, input_lengths, label_lengths, self.blank, self.reduction, norm_by_times
        )


class RNNTLoss(_Loss):
    """functional.rnnt_loss as a layer that stores its options."""

    _function = "rnnt_loss"

    def __init__(
        self, blank: int = 0, fastemit_lambda: float = 0.001, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(blank, fastemit_lambda, reduction, name)

    def forward(
        self, input: AnyTensor, label: AnyTensor, input_lengths: AnyTensor, label_lengths: AnyTensor
    ) -> Any:
        return self._applied(input, label, input_lengths, label_lengths)


class HSigmoidLoss(Layer):
    """functional.hsigmoid_loss with the weights of the tree's inner nodes: num_classes - 1 of them.

    With ``is_custom`` the tree is given with each call by ``path_table`` and ``path_code``, and num_classes
    counts its inner nodes.
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
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

    def forward(
        self,
        input: AnyTensor,
        label: AnyTensor,
        path_table: AnyTensor | None = None,
        path_code: AnyTensor | None = None,
    ) -> Any:
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
