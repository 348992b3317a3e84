"""Functions of fluid.layers against NumPy: in a guard and in a Program, by position and by keyword."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import engine
from engine import fluid
from engine.fluid import layers

RNG = np.random.default_rng(7)


def f(*shape: int) -> Any:
    """Numbers that are away from 0 and from one another."""
    return RNG.permutation(np.linspace(-2.0, 2.1, int(np.prod(shape)))).reshape(shape).astype(np.float32)


def p(*shape: int) -> Any:
    return np.abs(f(*shape)) + np.float32(0.25)


def softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


class Row(NamedTuple):
    """One call: the name, its inputs, its other arguments, and what NumPy gives for float64 inputs."""

    name: str
    inputs: tuple[Any, ...]
    options: dict[str, Any]
    expected: Callable[..., Any]


X, Y, P = f(3, 4), f(3, 4), p(3, 4)
IMAGE = f(2, 4, 4, 4)
LABEL = np.array([[1], [3], [0]], np.int64)
CHANCES = softmax(f(3, 4)).astype(np.float32)
WHOLE = np.array([[7, -7, 9, 4]], np.int32)
MASK = X > 0


def unary(name: str, expected: Callable[..., Any], x: Any = X, **options: Any) -> Row:
    return Row(name, (x,), options, expected)


def hard(x: Any, label: Any) -> Any:
    return np.take_along_axis(x, label.astype(np.int64), -1)


def smooth_l1(x: Any, y: Any, sigma: float = 1.0) -> Any:
    d, s = np.abs(x - y), sigma**2
    return np.where(d < 1 / s, 0.5 * s * d * d, d - 0.5 / s).reshape(len(x), -1).sum(1, keepdims=True)


ROWS = [
    unary("abs", np.abs),
    unary("ceil", np.ceil),
    unary("floor", np.floor),
    unary("cos", np.cos),
    unary("sin", np.sin),
    unary("exp", np.exp),
    unary("log", np.log, P),
    unary("sqrt", np.sqrt, P),
    unary("rsqrt", lambda x: x**-0.5, P),
    unary("reciprocal", lambda x: 1 / x, P),
    unary("square", np.square),
    unary("sign", np.sign),
    unary("tanh", np.tanh),
    unary("tanh_shrink", lambda x: x - np.tanh(x)),
    unary("sigmoid", sigmoid),
    unary("logsigmoid", lambda x: np.log(sigmoid(x))),
    unary("softplus", lambda x: np.log1p(np.exp(x))),
    unary("softsign", lambda x: x / (1 + np.abs(x))),
    unary("relu", lambda x: np.maximum(x, 0)),
    unary("softmax", softmax),
    unary("softmax", lambda x: softmax(x, 0), axis=0),
    unary("leaky_relu", lambda x: np.where(x > 0, x, 0.02 * x)),
    unary("leaky_relu", lambda x: np.where(x > 0, x, 0.3 * x), alpha=0.3),
    unary("elu", lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)), alpha=0.5),
    unary("selu", lambda x: 2.0 * np.where(x > 0, x, 1.5 * np.expm1(x)), scale=2.0, alpha=1.5),
    unary("relu6", lambda x: np.clip(x, 0, 1.5), threshold=1.5),
    unary("brelu", lambda x: np.clip(x, -1, 1.5), t_min=-1.0, t_max=1.5),
    unary("soft_relu", lambda x: np.log1p(np.exp(np.clip(x, -1, 1))), threshold=1.0),
    unary("stanh", lambda x: 1.7159 * np.tanh(x * 2 / 3)),
    unary("hard_sigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    unary("hard_swish", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    unary("hard_shrink", lambda x: np.where(np.abs(x) > 0.5, x, 0)),
    unary("softshrink", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    unary("thresholded_relu", lambda x: np.where(x > 1, x, 0)),
    unary("swish", lambda x: x * sigmoid(2 * x), beta=2.0),
    unary("pow", lambda x: x**3, factor=3.0),
    unary("maxout", lambda x: x.reshape(2, 2, 2, 4, 4).max(2), IMAGE, groups=2),
    unary("cumsum", lambda x: np.cumsum(x, -1)),
    unary("cumsum", lambda x: np.cumsum(x, 0) - x, axis=0, exclusive=True),
    unary("cumsum", lambda x: np.cumsum(x[:, ::-1], 1)[:, ::-1], axis=1, reverse=True),
    # -- of two tensors
    Row("elementwise_add", (X, Y), {}, np.add),
    Row("elementwise_add", (X, f(3)), {"axis": 0}, lambda x, y: x + y[:, None]),
    Row("elementwise_mul", (IMAGE, f(4, 4)), {"axis": 1}, lambda x, y: x * y[:, :, None]),
    Row("elementwise_mul", (X, f(3, 1)), {"axis": 0}, np.multiply),
    Row("elementwise_mul", (IMAGE, f(2, 1)), {"axis": 0}, lambda x, y: x * y[:, :, None, None]),
    Row("elementwise_sub", (X, Y), {"act": "relu"}, lambda x, y: np.maximum(x - y, 0)),
    Row("elementwise_div", (X, P), {}, np.divide),
    Row("elementwise_div", (WHOLE, np.array([2], np.int32)), {}, lambda x, y: np.trunc(x / y)),
    Row("elementwise_max", (X, Y), {}, np.maximum),
    Row("elementwise_min", (X, Y), {}, np.minimum),
    Row("elementwise_pow", (P, Y), {}, np.power),
    Row("elementwise_mod", (WHOLE, np.array([4], np.int32)), {}, np.mod),
    Row("elementwise_floordiv", (np.abs(WHOLE), np.array([2], np.int32)), {}, np.floor_divide),
    Row("matmul", (X, Y), {"transpose_y": True, "alpha": 0.5}, lambda x, y: 0.5 * x @ y.T),
    Row("matmul", (X, Y), {"transpose_x": True}, lambda x, y: x.T @ y),
    Row("mul", (f(2, 3, 4), f(12, 5)), {}, lambda x, y: x.reshape(2, 12) @ y),
    Row("mul", (f(2, 3, 4), f(4, 5)), {"x_num_col_dims": 2}, np.matmul),
    # -- reductions
    unary("mean", lambda x: x.mean().reshape(1)),
    unary("reduce_sum", lambda x: x.sum().reshape(1)),
    unary("reduce_sum", lambda x: x.sum((0, 2)), IMAGE, dim=[0, 2]),
    unary("reduce_mean", lambda x: x.mean(1, keepdims=True), dim=1, keep_dim=True),
    unary("reduce_max", lambda x: x.max(-1), dim=-1),
    unary("reduce_min", lambda x: x.min(0), dim=[0]),
    unary("reduce_prod", lambda x: x.prod(1), dim=1),
    unary("reduce_all", lambda x: x.astype(bool).all(1), MASK, dim=1),
    unary("reduce_any", lambda x: x.astype(bool).any(0), MASK, dim=0),
    Row("logical_and", (MASK, Y > 0), {}, np.logical_and),
    Row("logical_or", (MASK, Y > 0), {}, np.logical_or),
    Row("logical_xor", (MASK, Y > 0), {}, np.logical_xor),
    Row("logical_not", (MASK,), {}, np.logical_not),
    # -- shapes
    unary("reshape", lambda x: x.reshape(2, 4, 16), IMAGE, shape=[0, -1, 16]),
    unary("reshape", lambda x: np.maximum(x.reshape(4, 3), 0), shape=[4, 3], act="relu"),
    unary("transpose", lambda x: x.transpose(1, 0), perm=[1, 0]),
    unary("squeeze", lambda x: x[:, 0], f(3, 1, 4), axes=[1]),
    unary("squeeze", lambda x: x[:, 0], f(3, 1, 4), axes=[]),
    unary("unsqueeze", lambda x: x[:, None, :, None], axes=[1, 3]),
    unary("flatten", lambda x: x.reshape(2, 64), IMAGE),
    unary("flatten", lambda x: x.reshape(8, 16), IMAGE, axis=2),
    unary("flatten", lambda x: x.reshape(1, 12), axis=0),
    unary("split", lambda x: np.split(x, 2, 1), num_or_sections=2),
    unary("split", lambda x: np.split(x, [1], 0), num_or_sections=[1, 2], dim=0),
    unary("slice", lambda x: x[1:3, :2], axes=[0, 1], starts=[1, 0], ends=[3, 2]),
    unary("slice", lambda x: x[:, -2:-1], axes=[1], starts=[-2], ends=[-1]),
    unary("strided_slice", lambda x: x[:, ::2], axes=[1], starts=[0], ends=[4], strides=[2]),
    unary("stack", lambda x: x[None]),
    unary("unstack", list),
    unary("unbind", lambda x: list(x.T), axis=1),
    unary("expand", lambda x: np.tile(x, (2, 3)), expand_times=[2, 3]),
    Row("expand_as", (X, f(6, 8)), {}, lambda x, y: np.tile(x, (2, 2))),
    Row("gather", (X, np.array([2, 0])), {}, lambda x, i: x[i.astype(int)]),
    Row("gather", (X, np.array([[2], [0]])), {}, lambda x, i: x[i.astype(int).ravel()]),
    Row("gather_nd", (X, np.array([[2, 1], [0, 3]])), {}, lambda x, i: x[[2, 0], [1, 3]]),
    Row("where", (MASK,), {}, lambda x: np.argwhere(x)),
    unary("shape", lambda x: np.array(x.shape)),
    unary("size", lambda x: np.array([12])),
    unary("rank", lambda x: np.array([2])),
    unary("topk", lambda x: [np.sort(x)[:, :-3:-1], np.argsort(x)[:, :-3:-1]], k=2),
    unary("one_hot", lambda x: np.eye(5)[x.astype(int).ravel()], LABEL, depth=5),
    unary("scale", lambda x: 2 * (x + 1), scale=2.0, bias=1.0, bias_after_scale=False),
    unary("clip", lambda x: np.clip(x, -1, 1), min=-1.0, max=1.0),
    unary("clip_by_norm", lambda x: x / np.sqrt((x * x).sum()), max_norm=1.0),
    unary("clip_by_norm", lambda x: x, max_norm=100.0),
    unary("l2_normalize", lambda x: x / np.sqrt((x * x).sum(0) + 0.1), axis=0, epsilon=0.1),
    unary(
        "pad",
        lambda x: np.pad(x, ((0, 1), (2, 0)), constant_values=3),
        paddings=[0, 1, 2, 0],
        pad_value=3.0,
    ),
    unary("pad2d", lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0))), IMAGE, paddings=[1, 2, 3, 0]),
    unary(
        "pad2d",
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0)), "edge"),
        IMAGE,
        paddings=[1, 2, 3, 0],
        mode="edge",
    ),
    unary(
        "pad2d",
        lambda x: np.pad(x, ((0, 0), (1, 1), (2, 0), (0, 0)), "reflect"),
        IMAGE,
        paddings=[1, 1, 2, 0],
        mode="reflect",
        data_format="NHWC",
    ),
    Row("pad_constant_like", (f(4, 5), X), {}, lambda x, y: np.pad(y, ((0, 1), (0, 1)))),
    unary("crop", lambda x: x[1:3, 2:3], shape=[2, 1], offsets=[1, 2]),
    # -- losses
    Row("cross_entropy", (CHANCES, LABEL), {}, lambda x, i: -np.log(hard(x, i))),
    Row(
        "cross_entropy",
        (CHANCES, CHANCES),
        {"soft_label": True},
        lambda x, y: -(y * np.log(x)).sum(1, keepdims=True),
    ),
    Row("cross_entropy", (CHANCES, LABEL), {"ignore_index": 3}, lambda x, i: -np.log(hard(x, i)) * (i != 3)),
    Row("softmax_with_cross_entropy", (X, LABEL), {}, lambda x, i: -np.log(hard(softmax(x), i))),
    Row(
        "softmax_with_cross_entropy",
        (X, LABEL),
        {"return_softmax": True},
        lambda x, i: [-np.log(hard(softmax(x), i)), softmax(x)],
    ),
    Row(
        "sigmoid_cross_entropy_with_logits",
        (X, np.float32(MASK)),
        {},
        lambda x, y: np.log1p(np.exp(x)) - x * y,
    ),
    Row("square_error_cost", (X, Y), {}, lambda x, y: (x - y) ** 2),
    Row("smooth_l1", (X, Y), {}, smooth_l1),
    Row("smooth_l1", (IMAGE, f(2, 4, 4, 4)), {"sigma": 2.0}, lambda x, y: smooth_l1(x, y, 2.0)),
    Row(
        "huber_loss",
        (X, Y),
        {"delta": 1.5},
        lambda x, y: np.where(np.abs(x - y) <= 1.5, (x - y) ** 2 / 2, 1.5 * (np.abs(x - y) - 0.75)),
    ),
    Row("kldiv_loss", (X, CHANCES), {"reduction": "none"}, lambda x, t: t * (np.log(t) - x)),
    Row("kldiv_loss", (X, CHANCES), {}, lambda x, t: (t * (np.log(t) - x)).mean().reshape(1)),
    Row(
        "log_loss",
        (CHANCES, np.float32(MASK)),
        {},
        lambda x, y: -y * np.log(x + 1e-4) - (1 - y) * np.log(1 - x + 1e-4),
    ),
    Row("rank_loss", (np.float32(MASK), X, Y), {}, lambda z, x, y: np.log1p(np.exp(x - y)) - z * (x - y)),
    Row("margin_rank_loss", (np.sign(f(3, 4)), X, Y), {}, lambda z, x, y: np.maximum(0, -z * (x - y) + 0.1)),
    Row(
        "cos_sim",
        (X, Y),
        {},
        lambda x, y: ((x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1)))[:, None],
    ),
    unary("label_smooth", lambda x: 0.9 * x + 0.1 / 4, CHANCES),
    Row(
        "bpr_loss",
        (X, LABEL),
        {},
        lambda x, i: (np.log1p(np.exp(x - hard(x, i))).sum(1, keepdims=True) - np.log(2)) / 3,
    ),
    Row("fsp_matrix", (IMAGE, f(2, 3, 4, 4)), {}, lambda x, y: np.einsum("nchw,ndhw->ncd", x, y) / 16),
    # -- tensors
    unary("cast", lambda x: x.astype(int), dtype="int64"),
    unary("concat", lambda x: x),
    unary("assign", lambda x: x),
    unary("zeros_like", np.zeros_like),
    unary("ones_like", np.ones_like),
    unary("argmin", lambda x: x.argmin(0)),
    unary("argmax", lambda x: x.argmax(1), axis=1),
    unary("argsort", lambda x: [np.sort(x), np.argsort(x)]),
    unary("reverse", lambda x: x[::-1], axis=0),
    unary("has_inf", lambda x: np.array([False])),
    unary("has_nan", lambda x: np.array([True]), np.float32([np.nan, 1])),
    unary("isfinite", lambda x: np.array([False]), np.float32([np.inf, 1])),
    unary("diag", np.diag, f(3)),
    unary(
        "fill_constant_batch_size_like",
        lambda x: np.full((3, 2), 5.0),
        shape=[-1, 2],
        dtype="float32",
        value=5.0,
    ),
    Row("less_than", (X, Y), {}, np.less),
    Row("less_equal", (X, X), {}, np.less_equal),
    Row("greater_than", (X, Y), {}, np.greater),
    Row("greater_equal", (X, Y), {}, np.greater_equal),
    Row("equal", (X, X), {}, np.equal),
    Row("not_equal", (X, Y), {}, np.not_equal),
    unary("increment", lambda x: x + 2.0, f(1), value=2.0),
    Row("accuracy", (CHANCES, LABEL), {}, lambda x, i: (x.argmax(1) == i.ravel()).mean().reshape(1)),
    # -- pooling, dropping
    unary("pool2d", lambda x: x.reshape(2, 4, 2, 2, 2, 2).max((3, 5)), IMAGE, pool_size=2, pool_stride=2),
    unary("pool2d", lambda x: x.mean((2, 3), keepdims=True), IMAGE, pool_type="avg", global_pooling=True),
    unary("pool3d", lambda x: x.max((2, 3, 4), keepdims=True), f(1, 2, 2, 2, 2), pool_size=2),
    unary(
        "adaptive_pool2d",
        lambda x: x.reshape(2, 4, 2, 2, 2, 2).mean((3, 5)),
        IMAGE,
        pool_size=[2, 2],
        pool_type="avg",
    ),
    # -- images
    unary("resize_nearest", lambda x: x[:, :, [0, 2, 3]][..., [0, 2, 3]], IMAGE, out_shape=[3, 3]),
    unary(
        "resize_nearest",
        lambda x: x.repeat(2, 2).repeat(2, 3),
        IMAGE,
        scale=2.0,
        align_corners=False,
    ),
    unary("resize_bilinear", lambda x: x[:, :, [0, -1]][..., [0, -1]], IMAGE, out_shape=[2, 2]),
    unary("image_resize_short", lambda x: x[:, :, [0, -1]][..., [0, -1]], IMAGE, out_short_len=2),
    unary("lrn", lambda x: x / (2 + 0.1 * (x * x)) ** 0.75, IMAGE, n=1, k=2.0, alpha=0.1),
    Row(
        "affine_channel",
        (IMAGE, f(4), f(4)),
        {},
        lambda x, a, b: x * a[:, None, None] + b[:, None, None],
    ),
    unary(
        "space_to_depth",
        lambda x: x.reshape(2, 4, 2, 2, 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 16, 2, 2),
        IMAGE,
        blocksize=2,
    ),
    unary(
        "shuffle_channel",
        lambda x: x.reshape(2, 2, 2, 4, 4).swapaxes(1, 2).reshape(x.shape),
        IMAGE,
        group=2,
    ),
    unary(
        "add_position_encoding",
        lambda x: (
            0.5 * x
            + 2 * np.array([[np.sin(n), np.sin(n / 1e4), np.cos(n), np.cos(n / 1e4)] for n in range(3)])
        ),
        f(1, 3, 4),
        alpha=0.5,
        beta=2.0,
    ),
    unary("dropout", lambda x: x * 0.75, dropout_prob=0.25, is_test=True),
    unary("dropout", lambda x: x, dropout_prob=0.25, is_test=True, dropout_implementation="upscale_in_train"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join([row.name, *row.options]))
def test_values(row: Row, world: Callable[..., list[Any]]) -> None:
    function = getattr(layers, row.name)
    expected = row.expected(*(a.astype(np.float64) for a in row.inputs))
    expected = expected if isinstance(expected, list) else [expected]
    listed = row.name in ("concat", "sums")

    def by_keyword(*inputs: Any) -> Any:
        return function(list(inputs) if listed else inputs[0], *inputs[1:], **row.options)

    def by_position(*inputs: Any) -> Any:
        bound = inspect.signature(function).bind(*inputs, **row.options)
        bound.apply_defaults()
        return function(*bound.args)

    for call in (by_keyword, by_position):
        found = world(call, row.inputs)
        assert len(found) == len(expected)
        for value, wanted in zip(found, expected, strict=True):
            assert value.shape == np.shape(wanted)
            np.testing.assert_allclose(value.astype(np.float64), wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    "name",
    [
        "shrink_memory",
        "split_lod_tensor",
        "Send",
        "ssd_loss",
        "prroi_pool",
        "save",
    ],
)
def test_omitted_names_raise_with_the_modern_replacement(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"paddle.fluid.layers.{name}: is absent: .*use "):
        getattr(layers, name)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("nn", "tree_conv"),
        ("tensor", "save"),
        ("control_flow", "shrink_memory"),
        ("io", "Send"),
    ],
)
def test_its_modules_say_so_too(module: str, name: str) -> None:
    with pytest.raises(AttributeError, match=rf"paddle.fluid.layers.{name}: is absent: .*use "):
        getattr(getattr(layers, module), name)
    with pytest.raises(AttributeError, match="no attribute 'zzz'"):
        _ = getattr(layers, module).zzz


def test_data_has_a_batch_dimension_unless_one_is_unknown() -> None:
    engine.enable_static()
    try:
        with engine.static.program_guard(engine.static.Program(), engine.static.Program()):
            assert tuple(layers.data("a", [1, 28, 28]).shape) == (-1, 1, 28, 28)
            assert tuple(layers.data("b", [None, 3]).shape) == (-1, 3)
            assert tuple(layers.data("c", [3], append_batch_size=False).shape) == (3,)
            assert layers.data("d", [1], lod_level=1).lod_level == 1
    finally:
        engine.disable_static()


def test_builders_make_their_parameters() -> None:
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup), engine.utils.unique_name.guard():
            image = layers.data("image", [1, 8, 8])
            ids = layers.data("ids", [1], dtype="int64")
            out = layers.conv2d(image, 4, 3, act="relu")
            out = layers.pool2d(layers.batch_norm(out), 2, "max", 2)
            out = layers.fc([out, layers.embedding(ids, [7, 5])], 3, act="softmax")
        names = [p.name for p in main.all_parameters()]
        assert names[-3:] == ["fc_0.w_0", "fc_0.w_1", "fc_0.b_0"]
        assert "embedding_0.w_0" in names
        exe = engine.static.Executor()
        exe.run(startup)
        feed = {"image": f(2, 1, 8, 8), "ids": np.array([[1], [6]])}
        (value,) = exe.run(main, feed, [out])
        np.testing.assert_allclose(value.sum(1), np.ones(2), rtol=1e-6)
    finally:
        engine.disable_static()


def test_lstm_unit() -> None:
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup):
            x, h, c = (layers.data(name, [4]) for name in "xhc")
            found = layers.lstm_unit(x, h, c, forget_bias=1.0)
        exe = engine.static.Executor()
        exe.run(startup)
        arrays = dict(zip("xhc", (X, Y, P), strict=True))
        *states, weight, bias = exe.run(main, arrays, [*found, *main.all_parameters()])
    finally:
        engine.disable_static()
    gates = np.concatenate([X, Y], 1).astype(np.float64) @ weight + bias
    i, forget, o, g = np.split(gates, 4, 1)
    cell = sigmoid(forget + 1) * P + sigmoid(i) * np.tanh(g)
    np.testing.assert_allclose(states[0], sigmoid(o) * np.tanh(cell), rtol=1e-5)
    np.testing.assert_allclose(states[1], cell, rtol=1e-5)


def test_dropout_in_a_guard_follows_its_mode() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.ones((50, 50), np.float32))
        kept = layers.dropout(x, 0.5).numpy()
        assert set(np.unique(kept)) == {0.0, 1.0}
        fluid.dygraph.Layer("net").eval()
        np.testing.assert_array_equal(layers.dropout(x, 0.25).numpy(), x.numpy() * np.float32(0.75))


def test_a_seed_of_dropout_fixes_its_mask(world: Callable[..., list[Any]]) -> None:
    # Recorded from dropout of Paddle 2.6.2 with fix_seed and seed 5.
    kept = np.array([1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1], np.float32)
    for mode, factor in (("upscale_in_train", 2), ("downgrade_in_infer", 1)):

        def dropped(x: Any, mode: str = mode) -> Any:
            return layers.dropout(x, 0.5, seed=5, dropout_implementation=mode)

        (found,) = world(dropped, (np.ones(12, np.float32),))
        np.testing.assert_array_equal(found, kept * factor)


def test_random_tensors_have_their_shapes(world: Callable[..., list[Any]]) -> None:
    def draw(x: Any) -> list[Any]:
        return [
            layers.uniform_random([3, 2], min=2.0, max=3.0),
            layers.gaussian_random([4], std=0.5),
            layers.uniform_random_batch_size_like(x, [-1, 5]),
            layers.gaussian_random_batch_size_like(x, [5, -1], output_dim_idx=1),
            layers.sampling_id(x),
        ]

    found = world(draw, (CHANCES,))
    assert [v.shape for v in found] == [(3, 2), (4,), (3, 5), (5, 3), (3,)]
    assert found[0].min() >= 2.0
    assert set(found[4]) <= set(range(4))
