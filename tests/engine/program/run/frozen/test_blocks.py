"""Predictions of few images by compiled stages, with channels in the vectors: values, special ones too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine as paddle
from engine import jit, nn, static
from engine.kernels import choice
from engine.kernels.cpu import pool
from engine.kernels.cpu import threads as counted
from engine.kernels.fast import register_tiles
from engine.kernels.fast.compiler import compiler
from engine.kernels.fast.images.channel_blocks import network as code
from engine.kernels.fast.images.channel_blocks.stages import (
    RowConvolution,
    RowPool,
    WinogradImage,
    WinogradResult,
)
from engine.nn import functional
from engine.program.run.frozen import blocks, blocks_draft, blocks_reader, blocks_stages
from engine.program.run.frozen.blocks import Part, parts_of
from engine.program.run.frozen.plan import FrozenPlan
from engine.vision import models


@pytest.fixture(autouse=True)
def numpy_kernels() -> Iterator[None]:
    with choice.kernels.guard("numpy"):  # the plans, whose values are expected
        yield
    assert compiler().wait(120)  # its thread ends with the last job


def _values(shape: Any, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _plan(network: nn.Layer, path: Path, shape: Any) -> FrozenPlan:
    """The frozen plan of a network with weights that are not those of a new one."""
    paddle.seed(3)
    for n, (name, value) in enumerate(network.state_dict().items()):
        if "_variance" in name or "_mean" in name or "bias" in name:
            value.set_value(np.abs(_values(value.shape, n)) + 0.5)
    network.eval()
    prefix = str(path / "net")
    jit.save(network, prefix, [static.InputSpec([None, *shape[1:]], "float32")])
    layer = jit.load(prefix, for_prediction=True)
    with paddle.no_grad():
        layer(paddle.to_tensor(_values(shape)))
    (plan,) = layer.functions["forward"]._frozen.values()
    assert isinstance(plan, FrozenPlan)
    return plan


def _parts(plan: FrozenPlan) -> list[Part]:
    """The compiled parts of a plan."""
    found = parts_of(plan._draft, plan._weights)
    for part in found:
        assert all(handle.wait(120) for handle in part.network.handles)
    return found


def _whole(plan: FrozenPlan) -> Part:
    """The one part of a plan that is compiled as a whole."""
    (part,) = _parts(plan)
    run = [n for n, operator in enumerate(plan.ops) if id(operator.outputs[0]) not in plan.constants]
    assert part.positions == {*run}
    assert part.inputs == list(plan.inputs)
    return part


def _agree(network: nn.Layer, path: Path, shape: Any, odd: float | None = None) -> None:
    plan = _plan(network, path, shape)
    part = _whole(plan)
    for seed in range(2):  # the second call finds what the first one left in memory
        x = _values(shape, seed)
        if odd is not None:
            x[-1].flat[x[-1].size // 2] = odd
        with np.errstate(all="ignore"):
            wanted = plan([x])
        for one, other in zip(part.network([x]), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5)


class _Heads(nn.Layer):
    """Layers one after the other, then enough products to be worth a network."""

    def __init__(self, *layers: nn.Layer) -> None:
        super().__init__()
        self.body = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        return self.body(x)


_CONVOLUTIONS: list[tuple[int, int, dict[str, Any]]] = [
    (3, 24, {"kernel_size": 3, "stride": 2, "padding": 1}),
    (1, 7, {"kernel_size": 5, "padding": 2}),
    (24, 7, {"kernel_size": 1}),
    (7, 24, {"kernel_size": 3, "padding": 1, "bias_attr": False}),
    (17, 33, {"kernel_size": 1, "stride": 2}),
    (16, 40, {"kernel_size": (3, 2), "stride": (2, 1), "padding": (0, 1)}),
    (8, 9, {"kernel_size": 3, "dilation": 2, "padding": 2, "stride": 2}),
    (24, 24, {"kernel_size": (1, 3), "padding": "SAME", "dilation": 2}),
    (12, 100, {"kernel_size": 2, "padding": [1, 0, 0, 2]}),
    (32, 64, {"kernel_size": 3, "groups": 2, "padding": 1}),
    (3, 8, {"kernel_size": 7, "stride": 2, "padding": 3}),
    (24, 24, {"kernel_size": 3, "groups": 24, "padding": 1}),
    (7, 7, {"kernel_size": 3, "groups": 7, "stride": 2, "padding": 1}),
    (33, 33, {"kernel_size": 5, "groups": 33, "padding": 2, "bias_attr": False}),
    (9, 9, {"kernel_size": (2, 7), "groups": 9, "dilation": (3, 1), "padding": 3}),
    (24, 24, {"kernel_size": 6, "groups": 24, "padding": "SAME"}),
]


@pytest.mark.parametrize("place", range(len(_CONVOLUTIONS)))
@pytest.mark.parametrize("samples", [1, 3])
def test_convolutions(place: int, samples: int, tmp_path: Path) -> None:
    channels, filters, config = _CONVOLUTIONS[place]
    size = (13 + place, 17 + 2 * (place % 7))
    network = _Heads(nn.Conv2D(channels, filters, **config), nn.ReLU(), nn.Conv2D(filters, 90, 1))
    _agree(network, tmp_path, (samples, channels, *size))


_POOLINGS: list[Callable[[], nn.Layer]] = [
    lambda: nn.MaxPool2D(2, 2),
    lambda: nn.MaxPool2D(3, 2, padding=1),
    lambda: nn.MaxPool2D((1, 3), (1, 2)),
    lambda: nn.MaxPool2D(2, 2, ceil_mode=True),
    lambda: nn.AvgPool2D(2, 1),
    lambda: nn.AvgPool2D(3, 2, padding=1),
    lambda: nn.AvgPool2D(3, 2, padding=1, exclusive=False, ceil_mode=True),
    lambda: nn.AdaptiveAvgPool2D(1),
    lambda: nn.AdaptiveAvgPool2D((3, 5)),
]


@pytest.mark.parametrize("place", range(len(_POOLINGS)))
@pytest.mark.parametrize("odd", [None, np.nan, np.inf])
def test_poolings(place: int, odd: float | None, tmp_path: Path) -> None:
    network = _Heads(nn.Conv2D(3, 20, 3, padding=1), _POOLINGS[place](), nn.Conv2D(20, 11, 1))
    _agree(network, tmp_path, (2, 3, 19, 14), odd)


_ACTIVATIONS: list[Callable[[], nn.Layer]] = [
    nn.ReLU,
    nn.ReLU6,
    nn.Hardswish,
    nn.Hardsigmoid,
    nn.Swish,
    nn.Silu,
    nn.Sigmoid,
    nn.Tanh,
    nn.LeakyReLU,
    nn.GELU,
    nn.ELU,
]


@pytest.mark.parametrize("place", range(len(_ACTIVATIONS)))
@pytest.mark.parametrize("odd", [None, np.nan, np.inf, -np.inf])
def test_activations_behind_convolutions_and_batch_norms(
    place: int, odd: float | None, tmp_path: Path
) -> None:
    activation = _ACTIVATIONS[place]
    network = _Heads(
        nn.Conv2D(5, 12, 3, padding=1, bias_attr=False),
        nn.BatchNorm2D(12),
        activation(),
        nn.Conv2D(12, 12, 3, padding=1, groups=12, bias_attr=False),
        nn.BatchNorm2D(12),
        activation(),
        nn.Conv2D(12, 30, 1),
    )
    _agree(network, tmp_path, (1, 5, 12, 15), odd)


class _Scaled(nn.Layer):
    """A factor and a number for each channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.factor = self.create_parameter([1, channels, 1, 1])
        self.added = self.create_parameter([channels, 1, 1], is_bias=True)

    def forward(self, x: Any) -> Any:
        return x * self.factor + self.added


_FEW_FILTERS: list[Callable[[], nn.Layer]] = [
    lambda: nn.Sequential(
        nn.Conv2D(1, 3, 5, padding=2), nn.ReLU(), nn.MaxPool2D(2), nn.ReLU(), nn.Conv2D(3, 20, 3)
    ),
    lambda: nn.Sequential(
        nn.Conv2D(2, 2, (3, 2), stride=(2, 1), dilation=(2, 3), padding=[0, 3, 2, 1], bias_attr=False),
        nn.ReLU(),
        _Scaled(2),
        nn.AvgPool2D((3, 2), (1, 2)),
        nn.Conv2D(2, 9, 2, padding=1),
    ),
    lambda: nn.Sequential(nn.Conv2D(2, 3, 1), nn.Hardswish(), nn.Conv2D(3, 2, 3), nn.Conv2D(2, 40, 3)),
    lambda: nn.Sequential(nn.Conv2D(3, 1, 3), nn.MaxPool2D(2), nn.MaxPool2D(2), nn.Conv2D(1, 9, 3)),
]


@pytest.mark.parametrize("place", range(len(_FEW_FILTERS)))
@pytest.mark.parametrize("size", [(21, 20), (23, 33), (70, 130)])
@pytest.mark.parametrize("odd", [None, np.nan, -np.inf])
def test_few_filters_take_columns_in_vectors(
    place: int, size: tuple[int, int], odd: float | None, tmp_path: Path
) -> None:
    network = _FEW_FILTERS[place]()
    channels = network[0].weight.shape[1]
    network = _Heads(network, nn.AdaptiveAvgPool2D(3))
    _agree(network, tmp_path, (2, channels, *size), odd)
    parts = _parts(_plan(network, tmp_path, (2, channels, *size)))
    stages = [type(step.stage) for step in parts[0].network._steps]
    assert RowConvolution in stages
    assert RowPool in stages or place == 2


class _Block(nn.Layer):
    """Convolutions of 3 by 3 with enough pixels for transforms, a shortcut, and weighted channels."""

    def __init__(self, padding: int) -> None:
        super().__init__()
        self.enter = nn.Conv2D(3, 32, 1)
        self.first = nn.Conv2D(32, 64, 3, padding=padding, bias_attr=False)
        self.second = nn.Conv2D(64, 64, 3, padding=1)
        self.means = nn.Conv2D(64, 64, 1)
        self.short = nn.Conv2D(32, 64, 3, padding=padding, stride=1)
        self.leave = nn.Conv2D(64, 10, 3)

    def forward(self, x: Any) -> Any:
        x = functional.relu(self.enter(x))
        y = functional.hardswish(self.first(x))
        s = functional.sigmoid(self.means(functional.adaptive_avg_pool2d(y, 1)))
        y = functional.relu(self.second(y) * s + self.short(x))
        return self.leave(y)


@pytest.mark.parametrize(
    ("padding", "samples", "size"), [(0, 1, (15, 19)), (1, 1, (14, 17)), (1, 4, (9, 10)), (2, 2, (12, 16))]
)
@pytest.mark.parametrize("odd", [None, np.nan, -np.inf, 3e38])
def test_convolutions_with_transforms(
    padding: int, samples: int, size: tuple[int, int], odd: float | None, tmp_path: Path
) -> None:
    network = _Block(padding)
    shape = (samples, 3, *size)
    part = _whole(_plan(network, tmp_path, shape))
    kinds = [type(step.stage) for step in part.network._steps]
    assert kinds.count(WinogradImage) == kinds.count(WinogradResult) == 3
    _agree(network, tmp_path, shape, odd)


def test_transforms_keep_what_is_not_finite_apart(tmp_path: Path) -> None:
    network = nn.Sequential(nn.Conv2D(3, 32, 1), nn.Conv2D(32, 32, 3), nn.Conv2D(32, 8, 1))
    plan = _plan(network, tmp_path, (1, 3, 20, 20))
    x = _values((1, 3, 20, 20))
    part = _whole(plan)
    (before,) = part.network([x])
    for odd in (np.nan, np.inf):
        bad = x.copy()
        bad[0, 1, 7, 8] = odd
        with np.errstate(all="ignore"):
            (wanted,) = plan([bad])
        (found,) = part.network([bad])
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
        assert np.isfinite(found).mean() > 0.9
        (after,) = part.network([x])
        np.testing.assert_array_equal(after, before)


class _Residual(nn.Layer):
    """Sums with what came before: of the input, of a shortcut, of a value that is read again."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2D(10, 10, 3, padding=1)
        self.second = nn.Conv2D(10, 10, 3, padding=1)
        self.short = nn.Conv2D(10, 10, 1)

    def forward(self, x: Any) -> Any:
        y = functional.relu(self.first(x))
        y = functional.relu(self.second(y) + self.short(x))
        z = x - self.first(y)
        return functional.relu6(y * 2.0 + self.second(z)) + y


class _Weighted(nn.Layer):
    """Channels weighted by what their means say."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Conv2D(6, 20, 1)
        self.inner = nn.Conv2D(20, 20, 5, padding=2, groups=20)
        self.down, self.up = nn.Conv2D(20, 5, 1), nn.Conv2D(5, 20, 1)
        self.project = nn.Conv2D(20, 6, 1)

    def forward(self, x: Any) -> Any:
        y = functional.hardswish(self.inner(functional.hardswish(self.expand(x))))
        s = functional.relu(self.down(functional.adaptive_avg_pool2d(y, 1)))
        return x + self.project(functional.hardsigmoid(self.up(s)) * y)


class _Lines(nn.Layer):
    """Linear layers behind images, flattened with and without one pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2D(3, 10, 3)
        self.line, self.last = nn.Linear(10 * 9 * 8, 50), nn.Linear(50 + 0, 7)

    def forward(self, x: Any) -> Any:
        y = functional.hardswish(self.line(self.first(x).flatten(1)))
        return self.last(functional.dropout(y, 0.3, training=False))


@pytest.mark.parametrize("samples", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("network", "size"), [(_Residual, (10, 9, 13)), (_Weighted, (6, 14, 14)), (_Lines, (3, 11, 10))]
)
def test_whole_networks(network: Callable[[], nn.Layer], size: Any, samples: int, tmp_path: Path) -> None:
    _agree(network(), tmp_path, (samples, *size))


@pytest.mark.parametrize("samples", [1, 4, 5])
def test_threads_take_small_images_through_all_stages(
    samples: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = _plan(models.LeNet(), tmp_path, (samples, 1, 28, 28))
    network, x = _whole(plan).network, _values((samples, 1, 28, 28))
    shared: list[int] = []

    def parallel(address: int, args: Any, count: int, call: Any = pool.parallel) -> None:
        shared.append(count)
        call(address, args, count)

    monkeypatch.setattr(pool, "parallel", parallel)
    found = []
    for threads in (1, *[2] * 200):  # a thread that is ahead must not write over what another one reads
        monkeypatch.setattr(counted, "_count", threads)
        found.append(network([x])[0])
    monkeypatch.undo()
    pool.dismiss()
    assert shared == ([] if samples == 1 else [samples] * len(found))
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])
    np.testing.assert_allclose(found[0], plan([x])[0], rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize(("width", "registers"), [(4, 16), (16, 32)])
@pytest.mark.parametrize(
    ("network", "size"),
    [
        (_Residual, (10, 9, 13)),
        (_Weighted, (6, 14, 14)),
        (_Lines, (3, 11, 10)),
        (lambda: nn.Sequential(nn.Conv2D(32, 64, 3, groups=2, padding=1), nn.MaxPool2D(3, 2)), (32, 9, 9)),
        (lambda: nn.Sequential(nn.Conv2D(32, 32, 3, padding=1), nn.Conv2D(32, 7, 1)), (32, 13, 14)),
    ],
)
def test_vectors_of_other_cpus(
    network: Callable[[], nn.Layer],
    size: Any,
    width: int,
    registers: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LLVM divides vectors that are too wide for this one."""
    for module in (blocks, blocks_draft, blocks_reader, code):
        monkeypatch.setattr(module, "lanes", lambda: width)
    for module in (blocks_stages, register_tiles):
        monkeypatch.setattr(module, "registers", lambda: registers)
    _agree(network(), tmp_path, (2, *size))


def test_a_special_value_reaches_no_other_channel(tmp_path: Path) -> None:
    """Lanes without a channel may hold NaN; a convolution never multiplies them."""
    network = nn.Sequential(nn.Conv2D(3, 5, 1), nn.Conv2D(5, 5, 3, groups=5, padding=1), nn.Conv2D(5, 70, 3))
    plan = _plan(network, tmp_path, (1, 3, 9, 40))
    x = _values((1, 3, 9, 40))
    x[0, 1, 4, 20] = np.inf
    with np.errstate(all="ignore"):
        (wanted,) = plan([x])
    (found,) = _whole(plan).network([x])
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))


class _Partly(nn.Layer):
    """Convolutions on both sides of what no stage computes, and a value that leaves in between."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2D(4, 16, 3, padding=1), nn.Conv2D(16, 16, 3, padding=1)
        self.third = nn.Conv2D(16, 4, 3, padding=1)

    def forward(self, x: Any) -> Any:
        y = functional.relu(self.first(x))
        z = functional.softmax(self.second(y), axis=1)
        return self.third(z + y), y.mean()


def test_parts_of_a_network(tmp_path: Path) -> None:
    plan = _plan(_Partly(), tmp_path, (2, 4, 20, 20))
    parts = _parts(plan)
    assert len(parts) == 2
    names = [{plan.ops[n].opdef.name for n in part.positions} for part in parts]
    assert all("softmax" not in each for each in names)
    assert all({"conv2d_fusion"} <= each for each in names)
