"""Functions of nn.functional give what PaddlePaddle 2.6.2 gives, values and gradients.

The numbers in paddle_2_6_2.json were written by this file: ``python tests/engine/nn/test_paddle.py`` with an
interpreter that has paddlepaddle 2.6.2 and pytest.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

RECORD = Path(__file__).with_name("paddle_2_6_2.json")


class Inputs:
    """Arrays that depend on the case's name only."""

    def __init__(self, name: str) -> None:
        self.random = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)

    def normal(self, *shape: int) -> np.ndarray:
        return self.random.randn(*shape).astype("float32")

    def positive(self, *shape: int) -> np.ndarray:
        return (np.abs(self.normal(*shape)) + np.float32(0.1)).astype("float32")

    def share(self, *shape: int) -> np.ndarray:
        """Between 0 and 1, adding up to 1 along the last dimension."""
        values = self.positive(*shape)
        return (values / values.sum(-1, keepdims=True)).astype("float32")

    def classes(self, count: int, *shape: int) -> np.ndarray:
        return self.random.randint(0, count, shape)


def ce(**options: Any) -> Callable[..., Any]:
    """cross_entropy of six samples and five classes."""
    form = {key: options.pop(key, None) for key in ("soft", "column", "weighted", "ignored", "probabilities")}

    def case(F: Any, tensor: Any, given: Inputs) -> Any:
        label = given.share(6, 5) if form["soft"] else given.classes(5, 6)
        if form["ignored"] is not None:
            label[[1, 4]] = form["ignored"]
        if form["column"]:
            label = label[:, None]
        if form["weighted"]:
            options["weight"] = tensor(given.positive(5))
        x = given.share(6, 5) if form["probabilities"] else given.normal(6, 5)
        return (x,), lambda a: F.cross_entropy(a, tensor(label), **options)

    return case


def on(shape: tuple[int, ...], call: Callable[..., Any], *more: tuple[int, ...]) -> Callable[..., Any]:
    """``call(F, x, ...)`` of normal arrays, all with gradients."""

    def case(F: Any, tensor: Any, given: Inputs) -> Any:
        arrays = [given.normal(*s) for s in (shape, *more)]
        return arrays, lambda *ts: call(F, *ts)

    return case


def pair(call: Callable[..., Any], probabilities: bool = False, second: bool = False) -> Callable[..., Any]:
    """``call(F, x, label[, weight])`` of [6, 5] arrays, the gradient of x."""

    def case(F: Any, tensor: Any, given: Inputs) -> Any:
        x = given.share(6, 5) if probabilities else given.normal(6, 5)
        label = tensor(given.share(6, 5))
        more = (tensor(given.positive(5)),) if second else ()
        return (x,), lambda a: call(F, a, label, *more)

    return case


def nll(shape: tuple[int, ...], weighted: bool = False, **options: Any) -> Callable[..., Any]:
    def case(F: Any, tensor: Any, given: Inputs) -> Any:
        x = given.normal(*shape)
        label = tensor(given.classes(shape[1], shape[0], *shape[2:]))
        if weighted:
            options["weight"] = tensor(given.positive(shape[1]))
        return (x,), lambda a: F.nll_loss(a, label, **options)

    return case


def dense(axis: int, weighted: bool = False) -> Callable[..., Any]:
    """cross_entropy of an image's pixels."""

    def case(F: Any, tensor: Any, given: Inputs) -> Any:
        label = tensor(given.classes(3, 2, 4, 5))
        weight = tensor(given.positive(3)) if weighted else None
        return (given.normal(2, 3, 4, 5),), lambda a: F.cross_entropy(a, label, weight=weight, axis=axis)

    return case


def batch_norm(training: bool, use_global_stats: bool | None) -> Callable[..., Any]:
    def case(F: Any, tensor: Any, given: Inputs) -> Any:
        mean, variance = tensor(given.normal(4)), tensor(given.positive(4))
        arrays = [given.normal(2, 4, 3, 5), given.normal(4), given.normal(4)]

        def call(x: Any, weight: Any, bias: Any) -> Any:
            return F.batch_norm(
                x, mean, variance, weight, bias, training=training, use_global_stats=use_global_stats
            )

        return arrays, call, (mean, variance)

    return case


IMAGE, FILTER, BIAS = (2, 4, 7, 6), (6, 4, 3, 3), (6,)
LAST = (2, 7, 6, 4)


def conv(**options: Any) -> Callable[..., Any]:
    shape = LAST if options.get("data_format") == "NHWC" else IMAGE
    weight = (6, 4 // options.get("groups", 1), 3, 3)
    return on(shape, lambda F, x, w, b: F.conv2d(x, w, b, **options), weight, BIAS)


CASES: dict[str, Callable[..., Any]] = {
    **{f"cross_entropy {r}": ce(reduction=r) for r in ("mean", "sum", "none")},
    "cross_entropy column": ce(column=True, reduction="none"),
    "cross_entropy ignore": ce(ignored=-100),
    "cross_entropy ignore none": ce(ignored=-100, reduction="none"),
    "cross_entropy ignore class": ce(ignored=2, ignore_index=2),
    "cross_entropy weight": ce(weighted=True),
    "cross_entropy weight sum": ce(weighted=True, reduction="sum"),
    "cross_entropy weight ignore": ce(weighted=True, ignored=3, ignore_index=3),
    "cross_entropy soft": ce(soft=True, soft_label=True),
    "cross_entropy soft weight": ce(soft=True, soft_label=True, weighted=True),
    "cross_entropy smoothing": ce(label_smoothing=0.1),
    "cross_entropy smoothing weight": ce(label_smoothing=0.1, weighted=True, reduction="none"),
    "cross_entropy smoothing soft": ce(soft=True, label_smoothing=0.2),
    "cross_entropy probabilities": ce(probabilities=True, use_softmax=False),
    "cross_entropy probabilities soft": ce(probabilities=True, soft=True, soft_label=True, use_softmax=False),
    "cross_entropy pixels": dense(1),
    "cross_entropy pixels weight": dense(1, weighted=True),
    "nll": nll((6, 5)),
    "nll weight": nll((6, 5), weighted=True, ignore_index=1),
    "nll none": nll((6, 5), reduction="none"),
    "nll pixels": nll((2, 3, 4, 5), reduction="none"),
    "mse": pair(lambda F, x, y: F.mse_loss(x, y)),
    "l1 sum": pair(lambda F, x, y: F.l1_loss(x, y, reduction="sum")),
    "square_error_cost": pair(lambda F, x, y: F.square_error_cost(x, y)),
    "bce": pair(lambda F, x, y: F.binary_cross_entropy(x, y), probabilities=True),
    "bce weight": pair(lambda F, x, y, w: F.binary_cross_entropy(x, y, w), probabilities=True, second=True),
    "bce logits": pair(lambda F, x, y: F.binary_cross_entropy_with_logits(x, y)),
    "bce logits weight": pair(lambda F, x, y, w: F.binary_cross_entropy_with_logits(x, y, w), second=True),
    "conv plain": conv(),
    "conv number": conv(padding=1, stride=2),
    "conv two": conv(padding=[1, 2]),
    "conv four": conv(padding=[1, 0, 2, 1]),
    "conv pairs": conv(padding=[[0, 0], [0, 0], [1, 0], [2, 1]]),
    "conv same": conv(padding="SAME", stride=2),
    "conv valid": conv(padding="valid"),
    "conv dilation": conv(stride=(2, 1), dilation=(1, 2), padding=2),
    "conv groups": conv(groups=2),
    "conv last": conv(data_format="NHWC", padding=[[0, 0], [1, 0], [2, 1], [0, 0]]),
    "max pool": on(IMAGE, lambda F, x: F.max_pool2d(x, 2)),
    "max pool stride": on(IMAGE, lambda F, x: F.max_pool2d(x, 3, 2, 1)),
    "max pool ceil": on(IMAGE, lambda F, x: F.max_pool2d(x, 3, 2, ceil_mode=True)),
    "max pool same": on(IMAGE, lambda F, x: F.max_pool2d(x, (2, 3), padding="SAME")),
    "avg pool": on(IMAGE, lambda F, x: F.avg_pool2d(x, 3, 2, 1)),
    "avg pool inclusive": on(IMAGE, lambda F, x: F.avg_pool2d(x, 3, 2, 1, exclusive=False)),
    "avg pool divisor": on(IMAGE, lambda F, x: F.avg_pool2d(x, 2, 2, divisor_override=3)),
    "avg pool last": on(LAST, lambda F, x: F.avg_pool2d(x, 2, data_format="NHWC")),
    "adaptive": on(IMAGE, lambda F, x: F.adaptive_avg_pool2d(x, (3, 4))),
    "adaptive none": on(IMAGE, lambda F, x: F.adaptive_avg_pool2d(x, (None, 2))),
    "linear": on((2, 3, 4), lambda F, x, w, b: F.linear(x, w, b), (4, 5), (5,)),
    **{
        name: on((6, 5), lambda F, x, n=name: getattr(F, n)(x))
        for name in ("relu", "sigmoid", "tanh", "softmax", "log_softmax", "leaky_relu")
    },
    "softmax axis": on((6, 5), lambda F, x: F.softmax(x, axis=0)),
    "leaky_relu slope": on((6, 5), lambda F, x: F.leaky_relu(x, 0.3)),
    "pad spatial": on(IMAGE, lambda F, x: F.pad(x, [1, 2, 0, 3], value=2.0)),
    "pad all": on(IMAGE, lambda F, x: F.pad(x, [0, 0, 1, 0, 0, 2, 3, 1])),
    "pad last": on(LAST, lambda F, x: F.pad(x, [1, 2, 0, 3], data_format="NHWC")),
    "dropout downscale": on(
        (6, 5), lambda F, x: F.dropout(x, 0.3, training=False, mode="downscale_in_infer")
    ),
    "dropout test": on((6, 5), lambda F, x: F.dropout(x, 0.3, training=False)),
    "label_smooth": on((6, 5), lambda F, x: F.label_smooth(x, epsilon=0.2)),
    "layer_norm": on(IMAGE, lambda F, x, w, b: F.layer_norm(x, [7, 6], w, b), (42,), (42,)),
    "layer_norm plain": on(IMAGE, lambda F, x: F.layer_norm(x, 6)),
    "batch_norm training": batch_norm(True, None),
    "batch_norm test": batch_norm(False, None),
    "batch_norm global": batch_norm(True, True),
}


def run(name: str, F: Any, tensor: Any) -> list[list[float]]:
    """Value, gradients of all inputs, and what else the case changed, as flat lists."""
    given = Inputs(name)
    arrays, call, *others = CASES[name](F, tensor, given)
    tensors = [tensor(a) for a in arrays]
    for each in tensors:
        each.stop_gradient = False
    out = call(*tensors)
    factor = tensor(given.normal(*out.shape)) if out.shape else 1.0
    (out * factor).sum().backward()
    results = [out, *[t.grad for t in tensors], *(others[0] if others else ())]
    return [digest(np.asarray(t.numpy(), "float64").reshape(-1)) for t in results]


def digest(values: np.ndarray) -> list[float]:
    """The values with seven digits; of many the first, their sum and a sum that sees their order."""
    if values.size > 32:
        waves = np.cos(np.arange(values.size))
        values = np.concatenate([values[:10], [values.sum(), values @ waves]])
    return [float(f"{v:.7g}") for v in values]


@pytest.mark.parametrize("name", CASES)
def test_as_paddle(name: str) -> None:
    from engine.nn import functional
    from engine.tensor import to_tensor

    expected = json.loads(RECORD.read_text())[name]
    got = run(name, functional, to_tensor)
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-5)


if __name__ == "__main__":
    import gzip  # noqa: F401 - before paddle, which looks it up without importing it

    import paddle

    assert paddle.__version__ == "2.6.2"
    lines = [
        f"{json.dumps(name)}: {json.dumps(run(name, paddle.nn.functional, paddle.to_tensor))}"
        for name in CASES
    ]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
