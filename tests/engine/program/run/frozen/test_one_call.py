"""Small networks that predict by one compiled call: its results, and which networks have one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine as paddle
from engine import jit, nn, profiler, static
from engine.kernels import choice
from engine.kernels.fast.compiler import compiler
from engine.program.run.frozen import blocks


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with choice.kernels.guard("fast"):
        yield
    assert compiler().wait(120)  # its thread ends with the last job


def _images() -> nn.Layer:
    """Odd sizes: filters of more than one vector, uneven padding, steps, windows of both kinds."""
    return nn.Sequential(
        nn.Conv2D(2, 5, (3, 2), stride=(1, 2), padding=[1, 0, 0, 2]),
        nn.ReLU(),
        nn.AvgPool2D((2, 1), 1),
        nn.Conv2D(5, 35, (2, 5), dilation=(2, 1), padding=(1, 2), bias_attr=False),
        nn.MaxPool2D(4, 2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(70, 140),
        nn.ReLU(),
        nn.Linear(140, 3),
    )


def _vectors() -> nn.Layer:
    return nn.Sequential(nn.Linear(7, 20, bias_attr=False), nn.ReLU(), nn.Linear(20, 5))


class _Twice(nn.Layer):
    """A value that two operators read."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(7, 7)

    def forward(self, x: Any) -> Any:
        return self.inner(nn.functional.relu(self.inner(x))) + x


def _saved(network: nn.Layer, path: Path, shape: Any) -> Any:
    """The network as it was saved, and to predict with, its compiled call there if it has one."""
    paddle.seed(3)
    network.eval()
    prefix = str(path / "net")
    jit.save(network, prefix, [static.InputSpec([None, *shape[1:]], "float32")])
    frozen = jit.load(prefix, for_prediction=True)
    with paddle.no_grad():
        frozen(paddle.to_tensor(_values(shape)))
    done = threading.Event()
    for _ in range(2):  # the first finds the chain, the second its code
        compiler().submit(done.set)
        assert done.wait(120)
        done.clear()
    return jit.load(prefix), frozen


def _values(shape: Any, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _kernels(layer: Any) -> set[str]:
    (plan,) = layer.functions["forward"]._frozen.values()
    return {whose for _, whose in plan.kernels()}


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("network", "shape"), [(_images, (3, 2, 8, 6)), (_vectors, (2, 7)), (_Twice, (2, 7))]
)
def test_one_call_agrees_with_its_operators(network: Any, shape: Any, tmp_path: Path) -> None:
    plain, frozen = _saved(network(), tmp_path, shape)
    for seed, odd in enumerate((None, np.nan, np.inf)):
        x = _values(shape, seed)
        if odd is not None:
            x[-1].flat[3] = odd
        with paddle.no_grad():
            found, wanted = frozen(paddle.to_tensor(x)).numpy(), plain(paddle.to_tensor(x)).numpy()
        assert _kernels(frozen) == {"fast"}
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_images_in_any_order_and_changed_weights_are_followed(tmp_path: Path) -> None:
    plain, frozen = _saved(_images(), tmp_path, (3, 2, 8, 6))
    turned = paddle.to_tensor(_values((3, 2, 6, 8))).transpose([0, 1, 3, 2])
    with paddle.no_grad():
        np.testing.assert_allclose(frozen(turned).numpy(), plain(turned).numpy(), rtol=1e-4, atol=1e-5)
        for layer in (plain, frozen):
            weight = layer.parameters()[0]
            weight.set_value(weight.numpy() * 2)
        x = paddle.to_tensor(_values((3, 2, 8, 6)))
        np.testing.assert_allclose(frozen(x).numpy(), plain(x).numpy(), rtol=1e-4, atol=1e-5)


def test_threads_predict_at_once(tmp_path: Path) -> None:
    plain, frozen = _saved(_images(), tmp_path, (3, 2, 8, 6))
    images = [paddle.to_tensor(_values((3, 2, 8, 6), seed)) for seed in range(4)]
    with paddle.no_grad():
        wanted = [plain(x).numpy() for x in images]
    found: list[Any] = [None] * 4

    def predict(n: int) -> None:
        with paddle.no_grad():
            for _ in range(20):
                found[n] = frozen(images[n]).numpy()

    threads = [threading.Thread(target=predict, args=(n,)) for n in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_a_profiler_sees_the_operators(tmp_path: Path) -> None:
    _, frozen = _saved(_vectors(), tmp_path, (2, 7))
    recorder = profiler.Profiler(on_trace_ready=lambda _: None)  # which would write a file
    with recorder, paddle.no_grad():
        frozen(paddle.to_tensor(_values((2, 7))))
        assert _kernels(frozen) != {"fast"}  # single operators may have compiled kernels
    assert _kernels(frozen) == {"fast"}


class _Between(nn.Layer):
    """A softmax, which no stage computes, between two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.last = nn.Linear(7, 9), nn.Linear(9, 2)

    def forward(self, x: Any) -> Any:
        return self.last(nn.functional.softmax(self.inner(x)))


def test_other_networks_have_no_such_call(tmp_path: Path) -> None:
    plain, frozen = _saved(_Between(), tmp_path, (2, 7))
    assert _kernels(frozen) != {"fast"}  # single operators may have compiled kernels
    x = paddle.to_tensor(_values((2, 7)))
    with paddle.no_grad():
        np.testing.assert_allclose(frozen(x).numpy(), plain(x).numpy(), rtol=1e-4, atol=1e-4)


def test_much_work_of_many_samples_has_no_such_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    _, frozen = _saved(made, tmp_path, (40, 64))
    assert _kernels(frozen) == {"fast"}
    monkeypatch.setattr(blocks, "_ONE_CALL", 64 * 64)
    _, frozen = _saved(made, tmp_path, (40, 64))
    assert _kernels(frozen) != {"fast"}  # single operators may have compiled kernels
