"""Normalization with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.ops import norm as ops
from engine.ops import shape

_FORMATS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """Each channel of ``x`` normalized over all other dimensions, then ``* weight + bias``.

    While training the batch's mean and variance are used, and ``running_mean`` and ``running_var`` become
    ``running * momentum + batch * (1 - momentum)`` in place; else, or with ``use_global_stats=True``, the
    running ones are used. All four are [channels].
    """
    if data_format not in _FORMATS:
        raise ArgumentError(f"batch_norm: data_format {data_format!r} is none of {list(_FORMATS)}")
    if x.ndim < 2:
        raise ShapeError(f"batch_norm: x has shape {list(x.shape)}: it needs [N, C, ...]; unsqueeze it")
    return ops.batch_norm(
        x,
        shape.fill_like(running_mean, value=1.0) if weight is None else weight,
        shape.fill_like(running_mean, value=0.0) if bias is None else bias,
        running_mean,
        running_var,
        momentum=momentum,
        epsilon=epsilon,
        is_test=not training,
        data_layout="NCHW" if data_format[1] == "C" else "NHWC",
        # is_test alone says that the running statistics are used: a saved model can then be switched back to
        # training.
        use_global_stats=bool(use_global_stats),
        trainable_statistics=use_global_stats is not None and not use_global_stats,
    )[0]


def layer_norm(
    x: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Any:
    """Each sample of ``x`` normalized over the dimensions ``normalized_shape``, then ``* weight + bias``.

    ``weight`` and ``bias`` are flat, one number for each normalized element. Raises ShapeError where x does
    not end in ``normalized_shape``.
    """
    wanted = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    begin = x.ndim - len(wanted)
    if begin < 0 or any(
        have != want and have != -1 for have, want in zip(x.shape[begin:], wanted, strict=True)
    ):
        raise ShapeError(
            f"layer_norm: x has shape {list(x.shape)}: it must end in normalized_shape {wanted}; "
            "give the layer the sizes of the last dimensions"
        )
    return ops.layer_norm(x, weight, bias, epsilon=epsilon, begin_norm_axis=begin)[0]
