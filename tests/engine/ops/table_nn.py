"""Rows of the operators of networks: products, normalisation, losses, updates, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, bools, ints, pos, row, s, v


def _matmul(x: Any, y: Any, trans_x: bool = False, trans_y: bool = False) -> Any:
    x = np.moveaxis(x, -1, -2) if trans_x and x.ndim > 1 else x
    y = np.moveaxis(y, -1, -2) if trans_y and y.ndim > 1 else y
    if x.ndim == 1 and y.ndim == 1:
        return (x * y).sum()
    if x.ndim == 1:
        return (x[:, None] * y).sum(-2)
    if y.ndim == 1:
        return (x * y).sum(-1)
    return (x[..., :, :, None] * y[..., None, :, :]).sum(-2)


# -- normalisation -----------------------------------------------------------------------------------------


def _channels_last(function: Any) -> Any:
    def run(x: Any, *rest: Any, data_layout: str = "NCHW", **attrs: Any) -> Any:
        return function(x, *rest, channel=x.ndim - 1 if data_layout == "NHWC" else 1, **attrs)

    return run


def _shown(values: Any, ndim: int, channel: int) -> Any:
    return np.asarray(values).reshape([-1 if n == channel else 1 for n in range(ndim)])


@_channels_last
def _batch_norm(
    x: Any, scale: Any, bias: Any, mean: Any, variance: Any, channel: int, momentum: float = 0.9,
    epsilon: float = 1e-5, is_test: bool = False, use_global_stats: bool = False,
        trainable_statistics: bool = False,
) -> Any:  # fmt: skip
    flat = np.moveaxis(x, channel, 0).reshape(x.shape[channel], -1)
    if use_global_stats or (is_test and not trainable_statistics):
        used, spread, mean_out, variance_out = mean, variance, mean, variance
    else:
        used, spread = flat.mean(1), flat.var(1)
        mean_out, variance_out = (
            momentum * mean + (1 - momentum) * used,
            momentum * variance + (1 - momentum) * spread,
        )
    y = (x - _shown(used, x.ndim, channel)) / np.sqrt(_shown(spread, x.ndim, channel) + epsilon)
    y = y * _shown(scale, x.ndim, channel) + _shown(bias, x.ndim, channel)
    return y, mean_out, variance_out, used, 1 / np.sqrt(spread + epsilon)


def _batch_norm_grad(x: Any, scale: Any, g: Any, saved_mean: Any, saved_variance: Any, **attrs: Any) -> Any:
    """By the chain rule through the formula of each element: d y[i] / d x[j] written out."""
    channel = x.ndim - 1 if attrs.get("data_layout") == "NHWC" else 1
    xs = np.moveaxis(x, channel, 0).reshape(x.shape[channel], -1)
    gs = np.moveaxis(g, channel, 0).reshape(x.shape[channel], -1)
    count = xs.shape[1]
    given = attrs.get("use_global_stats") or (attrs.get("is_test") and not attrs.get("trainable_statistics"))
    result = np.zeros_like(xs)
    for c in range(xs.shape[0]):
        n = (xs[c] - saved_mean[c]) * saved_variance[c]
        matrix = np.eye(count) if given else np.eye(count) - 1 / count - np.outer(n, n) / count
        result[c] = scale[c] * saved_variance[c] * matrix @ gs[c]
    normal = (xs - saved_mean[:, None]) * saved_variance[:, None]
    moved = [x.shape[channel], *(d for n, d in enumerate(x.shape) if n != channel)]
    return np.moveaxis(result.reshape(moved), 0, channel), (gs * normal).sum(1), gs.sum(1)


def _norm_sample(*shape: int, **attrs: Any) -> Sample:
    c = shape[-1] if attrs.get("data_layout") == "NHWC" else shape[1]
    return s(v(*shape), pos(c), v(c, seed=3), v(c, seed=4), pos(c, seed=5), **attrs)


def _norm_grad_sample(*shape: int, **attrs: Any) -> Sample:
    inputs = _norm_sample(*shape, **attrs).inputs
    _, _, _, used, inverse = _batch_norm(*inputs, **attrs)
    return s(inputs[0], inputs[1], v(*shape, seed=9), used, inverse, **attrs)


def _layer_norm(
    x: Any, scale: Any = None, bias: Any = None, epsilon: float = 1e-5, begin_norm_axis: int = 1
) -> Any:
    flat = x.reshape(*x.shape[:begin_norm_axis], -1)
    mean, variance = flat.mean(-1), flat.var(-1)
    y = (flat - mean[..., None]) / np.sqrt(variance[..., None] + epsilon)
    y = y * (1 if scale is None else scale) + (0 if bias is None else bias)
    return y.reshape(x.shape), mean, variance


def _layer_norm_grad(
    x: Any,
    g: Any,
    mean: Any,
    variance: Any,
    scale: Any = None,
    epsilon: float = 1e-5,
    begin_norm_axis: int = 1,
) -> Any:
    size = int(np.prod(x.shape[begin_norm_axis:]))
    xs, gs = x.reshape(-1, size), g.reshape(-1, size)
    r = 1 / np.sqrt(variance.reshape(-1) + epsilon)
    result, normal = np.zeros_like(xs), np.zeros_like(xs)
    for n in range(len(xs)):
        normal[n] = (xs[n] - mean.reshape(-1)[n]) * r[n]
        matrix = np.eye(size) - 1 / size - np.outer(normal[n], normal[n]) / size
        result[n] = r[n] * matrix @ (gs[n] * (1 if scale is None else scale))
    return result.reshape(x.shape), None if scale is None else (gs * normal).sum(0), gs.sum(0)


def _layer_norm_grads(sample: Sample) -> Sample:
    x, scale = sample.inputs[0], sample.inputs[1]
    _, mean, variance = _layer_norm(*sample.inputs, **sample.attrs)
    return s(x, v(*x.shape, seed=9), mean, variance, scale, **sample.attrs)


LAYER_NORMS = [
    s(v(3, 4), pos(4), v(4, seed=2)),
    s(v(2, 3, 4), pos(12), v(12, seed=2), epsilon=1e-3),
    s(v(2, 3, 4), pos(4), v(4, seed=2), begin_norm_axis=2),
    s(v(5), pos(5), v(5, seed=2), begin_norm_axis=0),
]
PLAIN_NORM = s(v(2, 5), None, None)

# -- losses ------------------------------------------------------------------------------------------------


def _softmax(x: Any, axis: int) -> Any:
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


def _picked(x: Any, label: Any, axis: int, ignore: int) -> Any:
    result = np.zeros(label.shape)
    for place in np.ndindex(label.shape):
        if label[place] != ignore:
            source = list(place)
            source[axis] = int(label[place])
            result[place] = x[tuple(source)]
    return result


def _cross_entropy(
    logits: Any, label: Any, soft_label: bool = False, ignore_index: int = -100, axis: int = -1
) -> Any:
    softmax = _softmax(logits, axis)
    if soft_label:
        return softmax, -(label * np.log(softmax)).sum(axis, keepdims=True)
    return softmax, -_picked(np.log(softmax), label, axis, ignore_index)


def _cross_entropy_grad(
    g: Any, softmax: Any, label: Any, soft_label: bool = False, ignore_index: int = -100, axis: int = -1
) -> Any:
    if soft_label:
        return (softmax * label.sum(axis, keepdims=True) - label) * g
    classes = np.expand_dims(np.eye(softmax.shape[axis])[np.where(label == ignore_index, 0, label)], 0)
    one_hot = np.moveaxis(classes[0], -1, axis % softmax.ndim).reshape(softmax.shape)
    return (softmax - one_hot) * g * (label != ignore_index)


def _soft(*shape: int) -> Any:
    return pos(*shape, seed=6) / pos(*shape, seed=6).sum(-1, keepdims=True)


IGNORED = np.array([[1], [-100], [2]])


def _kept(label: Any, ignore_index: int) -> int:
    return max(int((label != ignore_index).sum()), 1)


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _put_class(g: Any, label: Any, x: Any, axis: int = -1, ignore_index: int = -100) -> Any:
    result = np.zeros(x.shape)
    for place in np.ndindex(label.shape):
        if label[place] != ignore_index:
            target = list(place)
            target[axis] = int(label[place])
            result[tuple(target)] += g[place]
    return result


def _accuracy(values: Any, indices: Any, label: Any) -> Any:
    correct = sum(int(label[n, 0]) in indices[n].tolist() for n in range(len(label)))
    return np.float32(correct / max(len(label), 1)), np.int32(correct), np.int32(len(label))


# -- updates -----------------------------------------------------------------------------------------------


def _momentum(
    param: Any, grad: Any, velocity: Any, rate: Any, mu: float = 0.9, use_nesterov: bool = False,
    regularization_method: str = "", regularization_coeff: float = 0.0, rescale_grad: float = 1.0,
) -> Any:  # fmt: skip
    grad = grad * rescale_grad + (regularization_coeff * param if regularization_method == "l2_decay" else 0)
    velocity = mu * velocity + grad
    return param - rate * (grad + mu * velocity if use_nesterov else velocity), velocity


def _adam(
    param: Any, grad: Any, rate: Any, moment1: Any, moment2: Any, beta1_pow: Any, beta2_pow: Any,
        beta1: float = 0.9,
    beta2: float = 0.999, epsilon: float = 1e-8, lr_ratio: float = 1.0, coeff: float = 0.0,
        with_decay: bool = True,
) -> Any:  # fmt: skip
    rate = rate * lr_ratio
    param = param * (1 - rate * coeff * with_decay)
    moment1, moment2 = beta1 * moment1 + (1 - beta1) * grad, beta2 * moment2 + (1 - beta2) * grad**2
    step = moment1 / (1 - beta1_pow) / (np.sqrt(moment2 / (1 - beta2_pow)) + epsilon)
    return param - rate * step, moment1, moment2, beta1_pow * beta1, beta2_pow * beta2


def _adamw(*inputs: Any, coeff: float = 0.01, **attrs: Any) -> Any:
    return _adam(*inputs, coeff=coeff, **attrs)


RATE = np.array([0.1])
ADAM = (
    v(2, 3),
    v(2, 3, seed=2),
    RATE,
    v(2, 3, seed=3) * 0.1,
    pos(2, 3, seed=4),
    np.array([0.81]),
    np.array([0.998]),
)

# -- random numbers ----------------------------------------------------------------------------------------


def _check_dropout(
    results: Any, x: Any, dropout_prob: float = 0.5, is_test: bool = False,
    dropout_implementation: str = "upscale_in_train", axis: Any = None, seed: int = 0,
) -> None:  # fmt: skip
    out, mask = results
    np.testing.assert_allclose(out, x * mask)
    keep = 1 - dropout_prob
    upscale = dropout_implementation == "upscale_in_train"
    if is_test:
        assert (mask == (1.0 if upscale else keep)).all()
        return
    kept = mask[mask != 0]
    np.testing.assert_allclose(kept, (1 / keep if upscale else 1.0) if keep else 1.0)
    if dropout_prob in (0.0, 1.0):
        assert kept.size == x.size * (1 - dropout_prob)
    elif x.size > 1000:
        assert abs(kept.size / x.size - keep) < 0.05
    if axis is not None:
        other = tuple(n for n in range(x.ndim) if n not in axis)
        assert (mask.std(axis=other) == 0).all()


CASES: list[Case] = [
    *row("matmul_v2", _matmul, s(v(2, 3), v(3, 4)), s(v(3, 2), v(3, 4), trans_x=True),
         s(v(2, 3), v(4, 3), trans_y=True),
         s(v(3, 2), v(4, 3), trans_x=True, trans_y=True), s(v(3), v(3, seed=2)), s(v(3), v(3, 2)),
         s(v(2, 3), v(3)), s(v(3), v(2, 3), trans_y=True),
         s(v(3, 2), v(3), trans_x=True), s(v(2, 2, 3), v(2, 3, 2)), s(v(2, 2, 3), v(3, 2)),
         s(v(2, 1, 2, 3), v(3, 3, 2)), s(v(2, 2, 3), v(3)),
         s(v(3), v(2, 3, 2)), s(v(2, 3, 2), v(3, 2), trans_x=True), s(v(0, 3), v(3, 2)), s(v(2, 0), v(0, 2)),
         grads="x y"),
    *row("squared_l2_norm", lambda x: np.array([(x**2).sum()]), s(v(2, 3)), s(v()), s(v(0, 2)), grads="x"),
    # -- normalisation
    *row("batch_norm", _batch_norm, _norm_sample(4, 3), _norm_sample(2, 3, 2, 2, momentum=0.7, epsilon=1e-3),
         _norm_sample(3, 2, 4),
         _norm_sample(2, 2, 2, 3, data_layout="NHWC"), _norm_sample(2, 3, 2, 2, is_test=True),
             _norm_sample(2, 3, 2, use_global_stats=True),
         _norm_sample(3, 2, 2, is_test=True, trainable_statistics=True), grads="x scale bias", through=(0,)),
    *row("batch_norm_grad", _batch_norm_grad, _norm_grad_sample(4, 3), _norm_grad_sample(2, 2, 2, 2),
         _norm_grad_sample(2, 2, 2, 3, data_layout="NHWC")),
    *row("batch_norm_grad", _batch_norm_grad, _norm_grad_sample(2, 3, 2, is_test=True),
         _norm_grad_sample(2, 3, 2, use_global_stats=True),
         grads="x scale g_in"),
    *row("layer_norm", _layer_norm, *LAYER_NORMS, grads="x scale bias", through=(0,)),
    *row("layer_norm", _layer_norm, PLAIN_NORM, grads="x", through=(0,)),
    *row("layer_norm_grad", _layer_norm_grad, *[_layer_norm_grads(c) for c in (*LAYER_NORMS, PLAIN_NORM)]),
    # -- losses
    *row("softmax_with_cross_entropy", _cross_entropy, s(v(3, 4), ints(3, 1)), s(v(3, 4), IGNORED),
         s(v(2, 3, 2), ints(2, 1, 2, high=3), axis=1),
         s(v(3, 4), np.array([[1], [3], [2]]), ignore_index=3), s(v(3, 4), _soft(3, 4), soft_label=True),
         grads="logits"),
    *row("softmax_with_cross_entropy_grad", _cross_entropy_grad, s(v(3, 1), _soft(3, 4), ints(3, 1)),
         s(v(3, 1), _soft(3, 4), IGNORED),
         s(v(2, 1, 2), pos(2, 3, 2), ints(2, 1, 2, high=3), axis=1),
         s(v(3, 1), _soft(3, 4), _soft(3, 4), soft_label=True), grads="g_in softmax"),
    *row("accuracy", _accuracy, s(v(3, 2), np.array([[1, 2], [0, 3], [2, 1]]), np.array([[2], [1], [2]])),
         s(v(2, 1), np.array([[1], [0]]), np.array([[0], [0]]))),
    *row("pick_class", lambda x, label, axis=-1, ignore_index=-100: _picked(x, label, axis, ignore_index),
         s(v(3, 4), ints(3, 1)), s(v(3, 4), IGNORED),
         s(v(2, 3, 2), ints(2, 1, 2, high=3), axis=1), grads="x"),
    *row("pick_class_grad", _put_class, s(v(3, 1), ints(3, 1), v(3, 4)), s(v(3, 1), IGNORED, v(3, 4)),
         s(v(2, 1, 2), ints(2, 1, 2, high=3), v(2, 3, 2), axis=1),
         grads="g_in"),
    *row("kept_mean", lambda x, label, ignore_index=-100: x.sum() / _kept(label, ignore_index),
         s(v(3, 1), IGNORED), s(v(3), ints(3)),
         s(v(2), np.array([7, 7]), ignore_index=7), grads="x"),
    *row("kept_mean_grad", lambda g, x, label, ignore_index=-100: np.full(x.shape,
         g / _kept(label, ignore_index)), s(v(), v(3, 1), IGNORED), s(v(), v(3), ints(3)),
         grads="g_in"),
    *row("bce_loss", lambda x, y: -np.log(np.where(y == 1, x, 1 - x)),
         s(_soft(2, 3), bools(2, 3).astype(float)), grads="x"),
    *row("bce_loss", lambda x, y: np.array([100.0, 0.0]), s(np.array([0.0, 0.0]), np.array([1.0, 0.0]))),
    *row("sigmoid_cross_entropy_with_logits", lambda x,
         y: -np.log(np.where(y == 1, _logistic(x), _logistic(-x))),
         s(v(2, 3), bools(2, 3).astype(float)), grads="x"),
    *row("sigmoid_cross_entropy_with_logits", lambda x, y: np.array([0.0, 1e4]),
         s(np.array([1e4, -1e4]), np.array([1.0, 1.0]))),
    # -- updates
    *row("sgd", lambda p, rate, g: p - rate.item() * g, s(v(2, 3), RATE, v(2, 3, seed=2)),
         s(v(), RATE, v(seed=2))),
    *row("momentum", _momentum, s(v(3), v(3, seed=2), v(3, seed=3), RATE),
         s(v(3), v(3, seed=2), v(3, seed=3), RATE, mu=0.5, use_nesterov=True),
         s(v(3), v(3, seed=2), v(3, seed=3), RATE, regularization_method="l2_decay",
         regularization_coeff=0.3, rescale_grad=0.5)),
    *row("adam", _adam, s(*ADAM), s(*ADAM, beta1=0.8, beta2=0.99, epsilon=1e-3)),
    *row("adamw", _adamw, s(*ADAM), s(*ADAM, coeff=0.2, lr_ratio=0.5), s(*ADAM, with_decay=False)),
    *row("assign_into", lambda target, value: value, s(v(2, 3), v(2, 3, seed=2)), s(v(), v(seed=2))),
    # -- random numbers
    *row("dropout", None, s(v(40, 50), dropout_prob=0.3), s(v(3), is_test=True),
         s(v(3), is_test=True, dropout_implementation="downgrade_in_infer"),
         s(v(2000), dropout_implementation="downgrade_in_infer"), s(v(40, 5), axis=[0]),
         s(v(3), dropout_prob=0.0), s(v(3), dropout_prob=1.0),
         check=_check_dropout, grads="x", through=(0,)),
]  # fmt: skip
