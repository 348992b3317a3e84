"""Normalization that makes its parameters."""

from __future__ import annotations

import math as python_math
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.eager.grad_mode import no_grad
from engine.nn import functional
from engine.nn.functional import norm as norms
from engine.nn.initializer import Constant
from engine.nn.param_attr import AttrLike, ParamAttr
from engine.ops.elementwise import arithmetic, power
from engine.static.nn.helper import Helper, activated, require_variable, spec_of
from engine.tensor.tensor_like import AnyTensor


def batch_norm(
    input: AnyTensor,
    act: str | None = None,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
) -> Any:
    """Each channel of ``input`` normalized over the other dimensions, then ``* scale + bias``.

    In training (``is_test=False``) the statistics of the batch are used and the running ones are updated.
    Raises ShapeError where the number of channels is unknown.
    """
    helper = Helper("batch_norm", name)
    channels = _channels("batch_norm", input, data_layout)
    dtype = "float32" if input.dtype.itemsize == 2 else input.dtype
    scale = helper.parameter([channels], param_attr or None, dtype, default_initializer=Constant(1.0))
    bias = helper.parameter([channels], bias_attr or None, dtype, is_bias=True)
    mean, variance = (
        helper.parameter([channels], attr, dtype)
        for attr in (
            ParamAttr(own, Constant(value), 1.0, None, False, do_model_average_for_mean_and_var)
            for own, value in ((moving_mean_name, 0.0), (moving_variance_name, 1.0))
        )
    )
    with helper.named(order="SavedMean SavedVariance ReserveSpace Y"):
        out = functional.batch_norm(
            input,
            mean,
            variance,
            scale,
            bias,
            training=not is_test,
            momentum=momentum,
            epsilon=epsilon,
            data_format=data_layout,
            use_global_stats=True if use_global_stats else None,
        )
        return activated("batch_norm", out, act)


def layer_norm(
    input: AnyTensor,
    scale: bool = True,
    shift: bool = True,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-05,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """Each sample normalized over its dimensions from ``begin_norm_axis`` on, then ``* scale + shift``.

    Raises ShapeError where one of these dimensions is not known.
    """
    helper = Helper("layer_norm", name)
    require_variable("layer_norm", "input", input)
    wanted = input.spec.shape[begin_norm_axis:]
    if not wanted or -1 in wanted:
        raise ShapeError(
            f"layer_norm: input is {input.spec}: the dimensions from {begin_norm_axis} on must be known; "
            "give them in static.data()"
        )
    flat = [python_math.prod(wanted)]
    weight = bias = None
    if scale:
        weight = helper.parameter(flat, param_attr, input.dtype, default_initializer=Constant(1.0))
    if shift:
        bias = helper.parameter(flat, bias_attr, input.dtype, is_bias=True)
    with helper.named():
        out = functional.layer_norm(input, list(wanted), weight, bias, epsilon)
        return activated("layer_norm", out, act)


def group_norm(
    input: AnyTensor,
    groups: int,
    epsilon: float = 1e-05,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Each sample normalized over ``groups`` groups of channels, then ``* scale + bias``.

    As in Paddle there is a scale or bias only where ``param_attr`` or ``bias_attr`` is given.
    """
    helper = Helper("group_norm", name)
    channels = _channels("group_norm", input, data_layout)
    weight = bias = None
    if param_attr:
        weight = helper.parameter([channels], param_attr, input.dtype, default_initializer=Constant(1.0))
    if bias_attr:
        bias = helper.parameter([channels], bias_attr, input.dtype, is_bias=True)
    with helper.named(form="_generated_var"):
        out = norms.group_norm(input, groups, epsilon, weight, bias, data_layout)
        return activated("group_norm", out, act)


def instance_norm(
    input: AnyTensor,
    epsilon: float = 1e-05,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    name: str | None = None,
) -> Any:
    """Each channel of each sample normalized over its elements.

    As in Paddle it is then ``* scale + bias`` only if attributes of both are given. Raises ArgumentError
    where only one of the two is omitted with False.
    """
    if (param_attr is False) != (bias_attr is False):
        raise ArgumentError(
            f"instance_norm: param_attr and bias_attr are omitted together or not at all: got "
            f"{param_attr!r} and {bias_attr!r}; pass False for both"
        )
    helper = Helper("instance_norm", name)
    channels = _channels("instance_norm", input, "NCHW")
    weight = bias = None
    if param_attr and bias_attr:
        weight = helper.parameter([channels], param_attr, input.dtype, default_initializer=Constant(1.0))
        bias = helper.parameter([channels], bias_attr, input.dtype, is_bias=True)
    with helper.named():
        return norms.instance_norm(input, weight=weight, bias=bias, eps=epsilon)


def data_norm(
    input: AnyTensor,
    act: str | None = None,
    epsilon: float = 1e-05,
    param_attr: dict[str, float] | AttrLike = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    slot_dim: int = -1,
    sync_stats: bool = False,
    summary_decay_rate: float = 0.9999999,
    enable_scale_and_shift: bool = False,
) -> Any:
    """``(input - sum / size) * sqrt(size / square)`` of each column of ``input`` [N, C].

    The initial values of the parameters size, sum and square come from the dict ``param_attr``
    (``batch_size``, ``batch_sum``, ``batch_square``; also ``scale_w`` and ``bias`` of
    ``enable_scale_and_shift``).

    Differs from Paddle: they do not change. Paddle's distributed trainer accumulates statistics in them,
    which ``slot_dim`` (refused), ``sync_stats`` and ``summary_decay_rate`` configure. Raises ShapeError for
    other shapes, ArgumentError for another layout.
    """
    require_variable("data_norm", "input", input)
    spec = spec_of(input)
    if data_layout not in ("NCHW", "NHWC"):
        raise ArgumentError(f"data_norm: data_layout {data_layout!r} is unknown; use 'NCHW' or 'NHWC'")
    if slot_dim > 0:
        raise ArgumentError("data_norm: slot_dim belongs to Paddle's distributed trainer; leave it at -1")
    if input.ndim != 2 or spec.shape[1] < 0:
        raise ShapeError(f"data_norm: input is {spec}: it must be [N, C] of a known C; reshape it")
    helper, prefix = Helper("data_norm", name), name or "dn"
    given = param_attr if isinstance(param_attr, dict) else {}

    def made(part: str, value: float) -> Any:
        initializer = Constant(float(given.get(part.replace("square_sum", "square"), value)))
        attr = ParamAttr(name=f"{prefix}.{part}", initializer=initializer)
        return helper.parameter([spec.shape[1]], attr, input.dtype)

    shifted = [made("scale_w", 1.0), made("bias", 0.0)] if enable_scale_and_shift else None
    size, total, square = made("batch_size", 1e4), made("batch_sum", 0.0), made("batch_square_sum", 1e4)
    with helper.named(form="_generated_var"):
        with no_grad():
            mean, scale = arithmetic.divide(total, size), power.sqrt(arithmetic.divide(size, square))
        out = arithmetic.multiply(arithmetic.subtract(input, mean), scale)
        if shifted is not None:
            out = arithmetic.add(arithmetic.multiply(out, shifted[0]), shifted[1])
        return activated("data_norm", out, act)


def _channels(where: str, input: Any, layout: str) -> int:
    require_variable(where, "input", input)
    if layout not in ("NCHW", "NHWC"):
        raise ArgumentError(f"{where}: data_layout {layout!r} is unknown; use 'NCHW' or 'NHWC'")
    if input.ndim < 2:
        raise ShapeError(f"{where}: input is {input.spec}: it needs a batch and channels; unsqueeze it")
    channels = int(input.spec.shape[1 if layout == "NCHW" or input.ndim == 2 else -1])
    if channels < 0:
        raise ShapeError(
            f"{where}: input is {input.spec}: the parameters need a known number of channels; give it in "
            "static.data()"
        )
    return channels
