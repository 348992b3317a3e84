"""The loss of noise-contrastive estimation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ConditionError, DTypeError, ShapeError
from engine.nn.initializer import Assign
from engine.nn.param_attr import AttrLike
from engine.ops.random import noise
from engine.static.nn.helper import Helper, require_variable
from engine.tensor.tensor_like import AnyTensor

_SAMPLERS = {"uniform": noise.UNIFORM, "log_uniform": noise.LOG_UNIFORM, "custom_dist": noise.CUSTOM}
DRAWN = 10


def sampler_of(
    where: str, sampler: str, custom_dist: Sequence[float] | np.ndarray | None, num_total_classes: int
) -> tuple[int, list[np.ndarray]]:
    """The number of a sampler and its tables: none, or probabilities, aliases and shares of each class.

    Raises ArgumentError for another name or number of probabilities, ConditionError without any.
    """
    if sampler not in _SAMPLERS:
        raise ArgumentError(f"{where}: Unsupported sampler type {sampler!r}; use one of {list(_SAMPLERS)}")
    if sampler != "custom_dist":
        return _SAMPLERS[sampler], []
    if custom_dist is None:
        raise ConditionError(
            f"{where}: sampler 'custom_dist' needs custom_dist, a probability for each class"
        )
    if len(custom_dist) != num_total_classes:
        raise ArgumentError(
            f"{where}: custom_dist has {len(custom_dist)} probabilities; give {num_total_classes}, one "
            "for each class"
        )
    aliases, shares = _aliases(custom_dist)
    return noise.CUSTOM, [
        np.array(custom_dist).astype(np.float32),
        np.array(aliases).astype(np.int32),
        np.array(shares).astype(np.float32),
    ]


def _aliases(probabilities: Any) -> tuple[list[int], list[float]]:
    """The tables of Walker's alias method: class n is drawn with its share, else its alias (-1: none)."""
    count = len(probabilities)
    aliases, shares = [-1] * count, [1.0] * count
    scaled = [(n, p * count) for n, p in enumerate(probabilities)]
    large, small = [each for each in scaled if each[1] > 1], [each for each in scaled if each[1] < 1]
    while large and small:
        (most, p), (least, q) = large.pop(0), small.pop(0)
        aliases[least], shares[least] = most, q
        left = p + q - 1
        if left > 1:
            large.append((most, left))
        elif left < 1:
            small.append((most, left))
    return aliases, shares


def nce(
    input: AnyTensor,
    label: AnyTensor,
    num_total_classes: int,
    sample_weight: AnyTensor | None = None,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    num_neg_samples: int | None = None,
    name: str | None = None,
    sampler: str = "uniform",
    custom_dist: Sequence[float] | np.ndarray | None = None,
    seed: int = 0,
    is_sparse: bool = False,
) -> Any:
    """The loss of telling each sample's classes from drawn ones, divided by one more than these: [N, 1].

    Args:
        input: float32 or float64 [N, size]; the parameters are a weight [classes, size] and a bias
        [classes, 1].
        label: int64 [N, classes of a sample].
        num_total_classes: number of classes.
        sample_weight: a factor for each sample, [N, 1].
        num_neg_samples: classes drawn for each sample, 10 by default.
        sampler: ``'uniform'``, ``'log_uniform'``, or ``'custom_dist'`` with the probabilities
        ``custom_dist``.
        seed: of the draws; every run draws the same classes, unless it is 0.
        is_sparse: has no effect: gradients are dense.

    Raises ArgumentError for another sampler, ShapeError for inputs of other dimensions.
    """
    require_variable("nce", "input", input)
    require_variable("nce", "label", label)
    if input.dtype.name not in ("float32", "float64") or label.dtype.name != "int64":
        raise DTypeError(
            f"nce: input must be float32 or float64, label int64: got {input.spec}, {label.spec}"
        )
    if input.ndim != 2 or label.ndim != 2:
        raise ShapeError(f"nce: input must be [N, size], label [N, labels]: got {input.spec}, {label.spec}")
    kind, tables = sampler_of("nce", sampler, custom_dist, num_total_classes)
    helper = Helper("nce", name)
    weight = helper.parameter([num_total_classes, input.spec.shape[1]], param_attr, input.dtype)
    bias = helper.parameter([num_total_classes, 1], bias_attr, input.dtype, is_bias=True)
    made = [helper.parameter(t.shape, None, str(t.dtype), default_initializer=Assign(t)) for t in tables]
    for each in made:
        each.stop_gradient = True
    drawn = DRAWN if num_neg_samples is None else int(num_neg_samples)
    with helper.named():
        cost, _, _ = noise.nce(
            input, label, weight, bias, sample_weight, *made, num_total_classes=int(num_total_classes),
            num_neg_samples=drawn, sampler=kind, seed=int(seed), is_sparse=bool(is_sparse),
        )  # fmt: skip
    return cost / (drawn + 1)
