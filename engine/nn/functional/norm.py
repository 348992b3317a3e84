"""Normalization with Paddle's signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.nn.functional.padding import pad
from engine.nn.functional.pooling import avg_pool2d, avg_pool3d
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import arithmetic, extremes, power
from engine.ops.normalization import batch_norm as batch_norm_ops
from engine.ops.normalization import group_norm as group_ops
from engine.ops.normalization import layer_norm as layer_norm_ops
from engine.ops.normalization import sync_batch_norm as sync_batch_norm_ops
from engine.ops.reductions.vector_norm import p_norm
from engine.program.build.calls import takes_name
from engine.tensor.arguments.factories import require_tensor
from engine.tensor.tensor_like import AnyTensor

_FORMATS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


@takes_name
def batch_norm(
    x: AnyTensor,
    running_mean: AnyTensor,
    running_var: AnyTensor,
    weight: AnyTensor | None = None,
    bias: AnyTensor | None = None,
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
    return _batch_normalized(
        batch_norm_ops.batch_norm,
        x,
        running_mean,
        running_var,
        weight,
        bias,
        training,
        momentum,
        epsilon,
        data_format,
        use_global_stats,
    )


@takes_name
def sync_batch_norm(
    x: AnyTensor,
    running_mean: AnyTensor,
    running_var: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None,
    training: bool,
    momentum: float,
    epsilon: float,
    data_format: str,
    name: str | None = None,
) -> Any:
    """``batch_norm``, while training with the mean and variance of the batches of all processes.

    Every process calls it. With one process it is ``batch_norm``.
    """
    from engine.distributed.environment import SIZE, number  # the room is loaded where a script asks for it

    operator = batch_norm_ops.batch_norm
    if training and number(SIZE, 1, 1) > 1:
        operator = sync_batch_norm_ops.sync_batch_norm
    return _batch_normalized(
        operator, x, running_mean, running_var, weight, bias, training, momentum, epsilon, data_format, None
    )


def _batch_normalized(
    operator: Any,
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: bool,
    momentum: float,
    epsilon: float,
    data_format: str,
    use_global_stats: bool | None,
) -> Any:
    if data_format not in _FORMATS:
        raise ArgumentError(f"batch_norm: data_format {data_format!r} is not one of {list(_FORMATS)}")
    if x.ndim < 2:
        raise ShapeError(f"batch_norm: x has shape {list(x.shape)}: it needs [N, C, ...]; unsqueeze it")
    return operator(
        x,
        creation.fill_like(running_mean, value=1.0) if weight is None else weight,
        creation.fill_like(running_mean, value=0.0) if bias is None else bias,
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


def _in_parameters_dtype(normalized: Callable[[Any], Any], x: Any, *parameters: Any) -> Any:
    """``normalized(x)`` in the dtype of x; computed in float32 where x is narrower than its parameters."""
    wide = any(p is not None and p.dtype == "float32" for p in parameters)
    if not wide or x.dtype.itemsize > 2:
        return normalized(x)
    return arithmetic.cast(normalized(arithmetic.cast(x, out_dtype="float32")), out_dtype=x.dtype.name)


@takes_name
def layer_norm(
    x: AnyTensor,
    normalized_shape: int | Sequence[int],
    weight: AnyTensor | None = None,
    bias: AnyTensor | None = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Any:
    """Each sample of ``x`` normalized over the dimensions ``normalized_shape``, then ``* weight + bias``.

    ``weight`` and ``bias`` are flat, one number for each normalized element. Raises ShapeError where x does
    not end in ``normalized_shape``.
    """
    if not 0 <= epsilon <= 0.001:
        raise ArgumentError(f"layer_norm: epsilon must be between 0 and 0.001: got {epsilon}")
    wanted = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    begin = x.ndim - len(wanted)
    if begin < 0 or any(
        have != want and have != -1 for have, want in zip(x.shape[begin:], wanted, strict=True)
    ):
        raise ShapeError(
            f"layer_norm: x has shape {list(x.shape)}: it must end in normalized_shape {wanted}; "
            "give the layer the sizes of the last dimensions"
        )
    return _in_parameters_dtype(
        lambda x: layer_norm_ops.layer_norm(x, weight, bias, epsilon=epsilon, begin_norm_axis=begin)[0],
        x,
        weight,
        bias,
    )


@takes_name
def group_norm(
    x: AnyTensor,
    num_groups: int,
    epsilon: float = 1e-05,
    weight: AnyTensor | None = None,
    bias: AnyTensor | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Each sample of ``x`` normalized over ``num_groups`` groups of channels, then ``* weight + bias``.

    ``weight`` and ``bias`` are [channels]; ``data_format`` is 'NCHW' or 'NHWC', for any rank. Raises
    ArgumentError where the channels do not divide into groups.
    """
    if data_format not in _FORMATS:
        raise ArgumentError(f"group_norm: data_format {data_format!r} is not one of {list(_FORMATS)}")
    layout = "NCHW" if data_format[1] == "C" else "NHWC"
    return _in_parameters_dtype(
        lambda x: group_ops.group_norm(
            x, weight, bias, epsilon=epsilon, groups=num_groups, data_layout=layout
        )[0],
        x,
        weight,
        bias,
    )


@takes_name
def instance_norm(
    x: AnyTensor,
    running_mean: AnyTensor | None = None,
    running_var: AnyTensor | None = None,
    weight: AnyTensor | None = None,
    bias: AnyTensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-05,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Each channel of each sample of ``x`` normalized over its elements, then ``* weight + bias``.

    ``weight`` and ``bias`` are [channels], given together or not at all. Running statistics are not stored,
    as in Paddle: ``momentum`` does nothing.

    Differs from Paddle: ``use_input_stats=False`` normalizes with ``running_mean`` and ``running_var``, and a
    ``data_format`` with the channels last is followed; Paddle ignores both. Raises ArgumentError where the
    statistics are missing.
    """
    if data_format not in _FORMATS:
        raise ArgumentError(f"instance_norm: data_format {data_format!r} is not one of {list(_FORMATS)}")
    if x.ndim < 2:
        raise ShapeError(f"instance_norm: x has shape {list(x.shape)}: it needs [N, C, ...]; unsqueeze it")
    last = data_format[1] != "C" and x.ndim > 2
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise ArgumentError(
                "instance_norm: use_input_stats=False needs running_mean and running_var; pass both"
            )
        return batch_norm(
            x, running_mean, running_var, weight, bias, training=False, epsilon=eps, data_format=data_format
        )
    if last:
        x = shape.transpose(x, axis=[0, x.ndim - 1, *range(1, x.ndim - 1)])
    out = _in_parameters_dtype(
        lambda x: group_ops.instance_norm(x, weight, bias, epsilon=eps)[0], x, weight, bias
    )
    return shape.transpose(out, axis=[0, *range(2, x.ndim), 1]) if last else out


@takes_name
def local_response_norm(
    x: AnyTensor,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """``x / (k + alpha * mean of the squares of size neighbouring channels) ** beta``.

    ``x`` has 3 dimensions or more. Channels beyond the first and the last count as 0. Source: Krizhevsky et
    al., ImageNet Classification with Deep Convolutional Neural Networks.
    """
    formats = _FORMATS[1:]
    if data_format not in formats:
        raise ArgumentError(f"local_response_norm: data_format {data_format!r} is not one of {list(formats)}")
    if x.ndim < 3:
        raise ShapeError(
            f"local_response_norm: x has shape {list(x.shape)}: it needs 3 dimensions or more; unsqueeze it"
        )
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ArgumentError(f"local_response_norm: size is an integer number of channels: got {size!r}")
    last = data_format[-1] == "C"
    squares = power.square(x)
    around = [size // 2, (size - 1) // 2]
    if x.ndim == 3:
        padded = pad(shape.unsqueeze(squares, axes=[1]), [*around, 0, 0] if last else [0, 0, *around])
        mean = avg_pool2d(padded, (1, size) if last else (size, 1), stride=1)
    else:
        # All dimensions of the image but the first as one.
        if last:
            flat = shape.flatten(squares, start_axis=1, stop_axis=x.ndim - 2)
            flat = shape.unsqueeze(flat, axes=[1, 2])
            padded, window = pad(flat, [*around, 0, 0, 0, 0], data_format="NCDHW"), (1, 1, size)
        else:
            flat = shape.unsqueeze(shape.flatten(squares, start_axis=2), axes=[1, 3])
            padded, window = pad(flat, [0, 0, 0, 0, *around], data_format="NCDHW"), (size, 1, 1)
        mean = avg_pool3d(padded, window, stride=1)
    mean = shape.reshape_to(mean, x)
    return arithmetic.divide(x, arithmetic.scale(mean, scale=alpha, bias=k) ** float(beta))


@takes_name
def normalize(
    x: AnyTensor, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None
) -> Any:
    """``x`` divided by its p-norm along ``axis``, or by ``epsilon`` where that is larger."""
    require_tensor("normalize", x=x)
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise DTypeError(f"normalize: p is a number: got {p!r}")
    if x.ndim == 1 and axis not in (0, -1):
        raise ArgumentError(f"normalize: axis {axis} is out of range for 1 dimension; use 0 or -1")
    norm = p_norm(x, porder=float(p), axis=axis, keepdim=True, epsilon=epsilon)
    least = creation.fill(shape=[1], value=epsilon, dtype=x.dtype.name)
    return arithmetic.divide(x, extremes.maximum(norm, least))
