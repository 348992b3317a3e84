"""Random networks: lists of steps that hypothesis draws, built of public layers and functions.

A step names its kind and holds numbers that choose among the fitting values at hand, so every list of
steps is a network, and hypothesis may shorten it as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

import engine as paddle
from engine import nn

F = nn.functional
Step = tuple[str, int, int]


def pick(options: Sequence[Any], number: int) -> Any:
    """One of the options."""
    return options[number % len(options)]


class Network(nn.Layer):
    """The steps one after the other over values that all have the batch as their first axis, then a product.

    Layers are created at the first value, in the order of the steps.
    """

    def __init__(self, steps: Sequence[Step], dtype: str) -> None:
        super().__init__(dtype=dtype)
        self.steps, self.kind = list(steps), dtype
        self.parts = nn.LayerDict()

    def part(self, key: int, make: Callable[[], nn.Layer]) -> nn.Layer:
        """The layer of a step."""
        name = f"p{key}"
        if name not in self.parts:
            self.parts[name] = make()
        return self.parts[name]

    def forward(self, x: Any) -> list[Any]:
        """All values, the input first."""
        values = [x]
        for number, (kind, one, other) in enumerate(self.steps):
            # The last value comes most often: networks are rather deep than wide.
            value = values[-1 - one % len(values) if one % 5 == 4 else -1]
            if kind in ANY:
                made = ANY[kind](value, other)
            elif kind == "binary":
                made = binary(value, pick(values, one), other)
            else:
                made = LAYERS[kind](self, number, value, other)
            values.append(made)
        width = int(values[-1].shape[-1])
        values.append(self.part(len(self.steps), lambda: nn.Linear(width, 2))(values[-1]))
        return values


# -- functions of one value ----------------------------------------------------------------------------------
ACTIVATIONS: list[Callable[[Any], Any]] = [
    F.relu,
    F.tanh,
    F.sigmoid,
    F.gelu,
    lambda x: F.gelu(x, approximate=True),
    F.silu,
    F.softplus,
    F.elu,
    lambda x: F.leaky_relu(x, 0.1),
    F.relu6,
    F.hardswish,
    F.hardsigmoid,
    F.softsign,
    F.tanhshrink,
    F.log_sigmoid,
    F.mish,
    F.selu,
    F.hardtanh,
    lambda x: F.swish(x),
    F.softshrink,
]
FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: x * 0.5 + 0.1,
    lambda x: 1.0 - x,
    paddle.abs,
    paddle.square,
    paddle.sin,
    lambda x: paddle.exp(paddle.clip(x, -3.0, 3.0)),
    lambda x: paddle.sqrt(paddle.abs(x) + 0.1),
    lambda x: paddle.rsqrt(paddle.abs(x) + 0.1),
    lambda x: paddle.log(paddle.abs(x) + 0.1),
    lambda x: paddle.log1p(paddle.abs(x)),
    lambda x: paddle.expm1(paddle.clip(x, -2.0, 2.0)),
    lambda x: paddle.reciprocal(paddle.abs(x) + 0.5),
    lambda x: paddle.pow(x, 2.0),
    paddle.erf,
    lambda x: paddle.clip(x, -0.5, 0.7),
    lambda x: x.detach(),
    lambda x: -x,
]
# Discontinuous functions: rounding before them may change values after them.
JUMPS: list[Callable[[Any], Any]] = [
    lambda x: x + paddle.sign(x),
    lambda x: x + paddle.floor(x * 3.0),
    lambda x: x * paddle.ceil(x),
    lambda x: paddle.where(x > 0.25, x, x * 0.5),
    lambda x: x * paddle.cast(paddle.isfinite(x), x.dtype),
    lambda x: paddle.where(paddle.logical_or(x < 0.0, x >= 1.0), -x, x),
    lambda x: x + paddle.trunc(x),
    lambda x: paddle.where(paddle.logical_not(x != x), x, paddle.zeros_like(x)),
    lambda x: paddle.sort(x, axis=-1),
    lambda x: x + paddle.cast(paddle.argmax(x, axis=-1, keepdim=True), x.dtype),
]


def through(dtype: str) -> Callable[[Any], Any]:
    """Some elementwise operators in another dtype."""

    def run(x: Any) -> Any:
        low = paddle.cast(paddle.clip(x, -9.0, 9.0), dtype)
        return paddle.cast(paddle.tanh(low * 0.5 + low) * low, x.dtype)

    return run


def integers(dtype: str) -> Callable[[Any], Any]:
    """Arithmetic and comparison of integers."""

    def run(x: Any) -> Any:
        known = paddle.where(paddle.isfinite(x), x, paddle.zeros_like(x))
        n = paddle.cast(paddle.clip(known, -9.0, 9.0) * 4.0, dtype)
        m = paddle.maximum(n * n - n, n + 3)
        m = paddle.where(paddle.logical_and(m > n, n != 2), m, paddle.minimum(n, m)) % 7
        return x + paddle.cast(m, x.dtype) * 0.1

    return run


LOW = [through("float16"), through("bfloat16"), integers("int32"), integers("int64")]


def reduced(x: Any, other: int) -> Any:
    """The value and a reduction of it over some axes but the batch's."""
    axes = list(range(1, len(x.shape)))
    axis = pick([axes, axes[-1:], axes[:1], [0], [0, *axes]], other // 8)
    kind = pick(["mean", "sum", "max", "min", "var", "norm", "logsumexp", "prod"], other)
    if kind == "norm":
        return x / (paddle.sqrt(paddle.sum(x * x, axis=axis, keepdim=True)) + 1.0)
    if kind == "sum":
        return x + 0.1 * paddle.sum(x, axis=axis, keepdim=True)
    if kind == "var":
        return x - paddle.var(x, axis=axis, unbiased=False, keepdim=True)
    if kind == "prod":
        return x * paddle.prod(paddle.tanh(x), axis=axis[-1], keepdim=True)
    return x - getattr(paddle, kind)(x, axis=axis, keepdim=True)


def moved(x: Any, other: int) -> Any:
    """Another shape or other places of the elements."""
    rank = len(x.shape)
    kind = pick(["concat", "slice", "flip", "roll", "transpose", "cumsum", "pad", "split", "gather"], other)
    if kind == "concat":
        return paddle.concat([x, x * 0.5], axis=rank - 1) if x.shape[-1] < 12 else x
    if kind == "slice":
        return x[..., ::2]
    if kind == "flip":
        return paddle.flip(x, axis=[rank - 1])
    if kind == "roll":
        return paddle.roll(x, 1, axis=rank - 1)
    if kind == "transpose":
        return paddle.transpose(x, [0, *range(rank - 1, 0, -1)])
    if kind == "cumsum":
        return paddle.cumsum(x, axis=1) * 0.3
    if kind == "split":
        return paddle.split(x, [1, -1], axis=1)[1] if x.shape[1] > 1 else x
    if kind == "gather":
        return paddle.gather(x, paddle.to_tensor([0, x.shape[1] - 1, 0]), axis=1)
    return F.pad(x, [0, 0] * (rank - 1) + [1, 0]) if x.shape[-1] < 12 else x


ANY: dict[str, Callable[[Any, int], Any]] = {
    "activation": lambda x, other: pick(ACTIVATIONS, other)(x),
    "function": lambda x, other: pick(FUNCTIONS, other)(x),
    "jump": lambda x, other: pick(JUMPS, other)(x),
    "cast": lambda x, other: through("float64")(x),
    "low": lambda x, other: pick(LOW, other)(x),
    "reduce": reduced,
    "move": moved,
    "dropout": lambda x, other: F.dropout(x, 0.3),
    "softmax": lambda x, other: pick([F.softmax, F.log_softmax], other)(x, axis=pick([-1, 1], other // 2)),
}


def binary(x: Any, y: Any, other: int) -> Any:
    """Two values, where their shapes fit; else a value and one that broadcasts to it."""
    if list(x.shape[1:]) != list(y.shape[1:]):
        y = paddle.mean(x, axis=pick([[0], [len(x.shape) - 1], 1], other // 8), keepdim=True)
    return pick(
        [
            lambda: x + y,
            lambda: x * y,
            lambda: x - y,
            lambda: x / (paddle.abs(y) + 1.0),
            lambda: paddle.maximum(x, y),
            lambda: paddle.minimum(x, y),
            lambda: F.relu(x) * F.tanh(y),
        ],
        other,
    )()


# -- layers --------------------------------------------------------------------------------------------------
def as_images(x: Any) -> Any:
    """The value with four axes."""
    while len(x.shape) < 4:
        x = paddle.unsqueeze(x, 1)
    return x


def as_rows(x: Any) -> Any:
    return paddle.flatten(x, 1) if len(x.shape) > 2 else x


def as_sequence(x: Any) -> Any:
    return x if len(x.shape) == 3 else paddle.unsqueeze(x, 1) if len(x.shape) == 2 else paddle.flatten(x, 2)


def convolution(net: Network, key: int, x: Any, other: int) -> Any:
    x = as_images(x)
    channels, smallest = x.shape[1], min(x.shape[2:])
    size = pick([3, 1, 2, (3, 1)], other)
    if smallest < 2 or other % 7 == 6:
        size = 1
    config = pick(
        [
            {"padding": 1},
            {},
            {"stride": 2, "padding": 1},
            {"groups": channels, "padding": 1},
            {"padding": "SAME"},
            {"dilation": 2, "padding": 2},
            {"padding": [1, 0, 2, 1], "bias_attr": False},
        ],
        other // 4,
    )
    if not config:
        config = {"padding": 0 if smallest >= 3 else 1}
    wide = channels * pick([1, 2], other // 28) if "groups" in config else pick([3, 4, 1, 5], other // 28)
    made = net.part(key, lambda: nn.Conv2D(channels, wide, size, **config))(x)
    return pick([lambda v: v, F.relu], other // 56)(made)


def transposed(net: Network, key: int, x: Any, other: int) -> Any:
    x = as_images(x)
    if max(x.shape[2:]) > 9:
        return x
    config = pick([{"stride": 2}, {"padding": 1}, {"stride": 2, "output_padding": 1}], other)
    return net.part(key, lambda: nn.Conv2DTranspose(x.shape[1], 2, 3, **config))(x)


def pooling(net: Network, key: int, x: Any, other: int) -> Any:
    x = as_images(x)
    if min(x.shape[2:]) < 3:
        return F.adaptive_avg_pool2d(x, 1)
    options = pick([{"stride": 2}, {"stride": 1, "padding": 1}, {"stride": 2, "ceil_mode": True}], other // 3)
    pool = pick([F.max_pool2d, F.avg_pool2d, lambda v, k, **_: F.adaptive_max_pool2d(v, k)], other)
    return pool(x, pick([2, 3], other // 9), **options)


def normalized(net: Network, key: int, x: Any, other: int) -> Any:
    rank, channels = len(x.shape), x.shape[1]
    if rank == 2:
        kinds = [nn.BatchNorm1D, lambda n: nn.LayerNorm(n)]
        return net.part(key, lambda: pick(kinds, other)(channels))(x)
    if rank == 3 or other % 4 == 1:
        return net.part(key, lambda: nn.LayerNorm(list(x.shape[-1:])))(x)
    kinds = [nn.BatchNorm2D, None, nn.InstanceNorm2D, lambda n: nn.GroupNorm(1, n)]
    return net.part(key, lambda: pick(kinds, other)(channels))(x)


def linear(net: Network, key: int, x: Any, other: int) -> Any:
    if other % 3 and len(x.shape) != 3:
        x = as_rows(x)
    wide = pick([5, 1, 8, 17, 3], other // 3)
    made = net.part(key, lambda: nn.Linear(x.shape[-1], wide, bias_attr=other % 7 != 0))(x)
    return pick([lambda v: v, F.relu, F.gelu], other // 15)(made)


def attention(net: Network, key: int, x: Any, other: int) -> Any:
    x = as_sequence(x)
    lines = net.part(key, lambda: nn.LayerList([nn.Linear(x.shape[-1], 4) for _ in range(3)]))
    q, k, v = (line(x) for line in lines)
    return paddle.matmul(F.softmax(paddle.matmul(q, k, transpose_y=True) * 0.5), v)


def recurrent(net: Network, key: int, x: Any, other: int) -> Any:
    x = as_sequence(x)
    kind = pick([nn.LSTM, nn.GRU, nn.SimpleRNN], other)
    way = pick(["forward", "bidirect"], other // 3)
    return net.part(key, lambda: kind(x.shape[-1], 3 + other % 4, direction=way))(x)[0]


LAYERS: dict[str, Callable[[Network, int, Any, int], Any]] = {
    "conv": convolution,
    "transposed": transposed,
    "pool": pooling,
    "norm": normalized,
    "linear": linear,
    "attention": attention,
    "recurrent": recurrent,
}
# Layers come as often as all that is cheap.
KINDS = [*ANY, "binary", *LAYERS, "conv", "linear", "norm", "pool", "activation", "activation"]


def steps(most: int = 7, jumps: bool = True) -> Any:
    """Lists of steps; without ``jumps`` small changes of the input change the results little."""
    kinds = [k for k in KINDS if jumps or k not in ("jump", "low")]
    return st.lists(
        st.tuples(st.sampled_from(kinds), st.integers(0, 30), st.integers(0, 120)), min_size=1, max_size=most
    )


# -- losses and updates --------------------------------------------------------------------------------------
def loss_of(value: Any, label: Any, number: int) -> Any:
    """A loss of the last value; labels are integers from 0 to 1."""
    kinds: list[Callable[[], Any]] = [
        lambda: F.cross_entropy(as_rows(value), label),
        lambda: paddle.mean(paddle.square(value)),
        lambda: F.cross_entropy(as_rows(value), label, label_smoothing=0.1),
        lambda: F.smooth_l1_loss(value, paddle.zeros_like(value)),
        lambda: F.binary_cross_entropy_with_logits(value, paddle.ones_like(value)),
    ]
    return pick(kinds, number)()


RULES: list[Callable[[Any], Any]] = [
    lambda p: paddle.optimizer.Adam(0.01, parameters=p),
    lambda p: paddle.optimizer.SGD(0.05, parameters=p),
    lambda p: paddle.optimizer.Momentum(0.05, 0.9, parameters=p, weight_decay=0.01),
    lambda p: paddle.optimizer.AdamW(0.01, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    lambda p: paddle.optimizer.RMSProp(0.01, parameters=p, centered=True, momentum=0.5),
    lambda p: paddle.optimizer.Adagrad(0.05, parameters=p, grad_clip=nn.ClipGradByNorm(0.5)),
    lambda p: paddle.optimizer.Adamax(0.01, parameters=p, grad_clip=nn.ClipGradByValue(0.3)),
    lambda p: paddle.optimizer.Adadelta(0.5, parameters=p),
    lambda p: paddle.optimizer.Lamb(0.01, parameters=p),
]
