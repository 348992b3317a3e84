"""Frozen plans: predictions equal those of the saved models, in threads too."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import inference, jit, nn, profiler, static
from engine.core.errors import DTypeError, ShapeError
from engine.jit.translated_layer import SavedFunction, TranslatedLayer
from engine.program.run.frozen.plan import FrozenPlan


def _loaded(network: nn.Layer, path: Path, shape: list[int | None], dtype: str = "float32") -> Any:
    """The saved network as it was saved, and to predict with."""
    network.eval()
    prefix = str(path / "net")
    jit.save(network, prefix, [static.InputSpec(shape, dtype)])
    return jit.load(prefix), jit.load(prefix, for_prediction=True)


def _values(shape: Any, seed: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _plans(layer: TranslatedLayer) -> list[FrozenPlan]:
    function: SavedFunction = layer.functions["forward"]  # type: ignore[attr-defined]
    found = function._frozen.values()
    assert all(isinstance(plan, FrozenPlan) for plan in found)
    return found  # type: ignore[return-value]


class _LeNet(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(1, 6, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.ReLU(),
            nn.Conv2D(6, 16, 5),
            nn.MaxPool2D(2, 2),
            nn.Flatten(),
            nn.Linear(400, 32),
            nn.ReLU(),
            nn.Linear(32, 10),
        )

    def forward(self, x: Any) -> Any:
        return self.body(x)


@pytest.fixture
def lenet(tmp_path: Path) -> str:
    paddle.seed(5)
    network = _LeNet()
    network.eval()
    prefix = str(tmp_path / "net")
    jit.save(network, prefix, [static.InputSpec([None, 1, 28, 28], "float32")])
    return prefix


_CONVOLUTIONS = [
    {"kernel_size": 3, "padding": 1},
    {"kernel_size": 1},
    {"kernel_size": 1, "stride": 2},
    {"kernel_size": (3, 2), "stride": (2, 1), "padding": (0, 1)},
    {"kernel_size": 3, "dilation": 2, "padding": 2, "stride": 2},
    {"kernel_size": (1, 3), "padding": "SAME", "bias_attr": False},
    {"kernel_size": 2, "padding": [1, 0, 0, 2]},
    {"kernel_size": 3, "groups": 2},
    {"kernel_size": 3, "data_format": "NHWC"},
]
_POOLINGS: list[Callable[[], nn.Layer]] = [
    lambda: nn.MaxPool2D(2, 2),
    lambda: nn.MaxPool2D(3, 2, padding=1),
    lambda: nn.MaxPool2D((1, 3), (1, 2)),
    lambda: nn.AvgPool2D(2, 1),
    lambda: nn.AvgPool2D(3, 2, padding=1),
    lambda: nn.AdaptiveAvgPool2D(1),
    lambda: nn.MaxPool2D(2, 2, ceil_mode=True),
]


@pytest.mark.parametrize("config", _CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_convolutions_and_poolings_agree_with_the_saved_model(
    config: dict[str, Any], dtype: str, tmp_path: Path
) -> None:
    n = _CONVOLUTIONS.index(config)
    paddle.seed(n)
    last = config.get("data_format") == "NHWC"
    pooling = nn.Flatten() if last else _POOLINGS[n % len(_POOLINGS)]()
    network = nn.Sequential(nn.Conv2D(4, 6, **config), nn.ReLU(), pooling, nn.Tanh())
    network.to(dtype=dtype)
    plain, frozen = _loaded(
        network, tmp_path, [None, None, None, 4] if last else [None, 4, None, None], dtype
    )
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    for samples, size in itertools.product((1, 3), ((7, 9), (11, 6))):
        x = paddle.to_tensor(_values((samples, *size, 4) if last else (samples, 4, *size), n, dtype))
        for _ in range(2):  # the second call finds arrays that the first one left in the plan
            np.testing.assert_allclose(frozen(x).numpy(), plain(x).numpy(), rtol=tolerance, atol=tolerance)
    assert len(_plans(frozen)) == 4


@pytest.mark.parametrize("place", range(7))
def test_nan_and_infinity_are_handled_alike(place: int, lenet: str) -> None:
    plain, frozen = jit.load(lenet), jit.load(lenet, for_prediction=True)
    x = _values((1, 1, 28, 28), place)
    x[0, 0, 4 * place, 3] = np.nan if place % 2 else np.inf
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            frozen(paddle.to_tensor(x)).numpy(), plain(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5
        )
    clean = paddle.to_tensor(_values((1, 1, 28, 28), 9))  # and nothing of it stays
    np.testing.assert_allclose(frozen(clean).numpy(), plain(clean).numpy(), rtol=1e-5, atol=1e-6)


def test_results_belong_to_the_caller(lenet: str) -> None:
    frozen = jit.load(lenet, for_prediction=True)
    given = [paddle.to_tensor(_values((1, 1, 28, 28), n)) for n in range(3)]
    results = [frozen(x) for x in given]
    before = [r.numpy() for r in results]
    results[0]._array[...] = 7.0
    again = [frozen(x).numpy() for x in given]
    for a, b in zip(again, before, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(results[2].numpy(), before[2])


def test_an_output_that_is_an_inner_value_or_a_view_of_it_is_the_callers(tmp_path: Path) -> None:
    class Inner(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.line = nn.Linear(4, 6)

        def forward(self, x: Any) -> Any:
            hidden = self.line(x)
            return nn.functional.relu(hidden), hidden.reshape([2, -1]), self.line.bias, x

    plain, frozen = _loaded(Inner(), tmp_path, [1, 4])
    given = [paddle.to_tensor(_values((1, 4), n)) for n in range(3)]
    results = [frozen(x) for x in given]
    for x, found in zip(given, results, strict=True):
        for a, b in zip(found, plain(x), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)
    assert not np.shares_memory(results[0][2]._array, results[1][2]._array)
    assert not np.shares_memory(results[0][3]._array, given[0]._array)


def test_values_in_branches_and_loops(tmp_path: Path) -> None:
    class Steps(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.line = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            y = self.line(x)
            before = y
            n = paddle.to_tensor(0)
            while n < 3:
                y = nn.functional.relu(self.line(y)) - 0.1
                n = n + 1
            if y.sum() > 0:
                before = before + y
            return before, y

    plain, frozen = _loaded(Steps(), tmp_path, [1, 4])
    for n in range(6):
        x = paddle.to_tensor(_values((1, 4), n))
        for a, b in zip(frozen(x), plain(x), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def test_a_changed_weight_counts_from_the_next_call(lenet: str) -> None:
    plain, frozen = jit.load(lenet), jit.load(lenet, for_prediction=True)
    x = paddle.to_tensor(_values((1, 1, 28, 28), 1))
    frozen(x), frozen(x)
    assert len(_plans(frozen)) == 1
    state = {k: v * 0.5 for k, v in plain.state_dict().items()}
    plain.set_state_dict(state)
    frozen.set_state_dict(state)
    np.testing.assert_allclose(frozen(x).numpy(), plain(x).numpy(), rtol=1e-5, atol=1e-6)
    name, weight = next(iter(frozen.state_dict().items()))
    with paddle.no_grad():
        weight.add_(paddle.ones_like(weight))
        twin = plain.state_dict()[name]
        twin.add_(paddle.ones_like(twin))
    np.testing.assert_allclose(frozen(x).numpy(), plain(x).numpy(), rtol=1e-5, atol=1e-6)


def test_gradients_and_training_do_not_use_it(lenet: str) -> None:
    frozen = jit.load(lenet, for_prediction=True)
    x = paddle.to_tensor(_values((1, 1, 28, 28), 1))
    frozen(x)
    x.stop_gradient = False
    frozen(x).sum().backward()
    assert np.abs(x.grad.numpy()).sum() > 0
    frozen.train()
    frozen(x).sum().backward()
    assert all(p.grad is not None for p in frozen.parameters())


def test_inputs_that_do_not_fit_are_refused_after_ones_that_do(lenet: str) -> None:
    frozen = jit.load(lenet, for_prediction=True)
    frozen(paddle.to_tensor(_values((1, 1, 28, 28), 1)))
    with pytest.raises(DTypeError, match="float64"):
        frozen(paddle.to_tensor(_values((1, 1, 28, 28), 1, "float64")))
    with pytest.raises(ShapeError):
        frozen(paddle.to_tensor(_values((1, 2, 28, 28), 1)))
    turned = paddle.to_tensor(_values((28, 1, 28, 1), 2)).transpose([3, 1, 0, 2])
    np.testing.assert_allclose(frozen(turned).numpy(), jit.load(lenet)(turned).numpy(), rtol=1e-5, atol=1e-6)


def test_a_profiler_sees_the_operators(lenet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where it writes its trace
    frozen = jit.load(lenet, for_prediction=True)
    x = paddle.to_tensor(_values((1, 1, 28, 28), 1))
    expected = frozen(x).numpy()
    with profiler.Profiler(timer_only=False) as watching:
        np.testing.assert_array_equal(frozen(x).numpy(), expected)
    assert watching.profiler_result is not None
    names = {span.name for span in watching.profiler_result.spans()}
    assert {"conv2d_fusion", "pool2d", "matmul_v2", "relu"} <= names
    np.testing.assert_array_equal(frozen(x).numpy(), expected)
    assert len(_plans(frozen)[0]._free) == 1


def _in_threads(calls: list[Callable[[Any], Any]], inputs: list[Any], expected: list[Any]) -> None:
    """Each call runs in its own thread, all at once, over all inputs several times."""
    wrong: list[str] = []
    ready = threading.Barrier(len(calls))

    def work(call: Callable[[Any], Any], first: int) -> None:
        ready.wait()
        for turn in range(60):
            n = (first + turn) % len(inputs)
            if not np.array_equal(call(inputs[n]), expected[n]):
                wrong.append(f"thread {first}, turn {turn}")

    threads = [threading.Thread(target=work, args=(call, n)) for n, call in enumerate(calls)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_four_threads_with_a_clone_each_and_with_one_predictor(lenet: str) -> None:
    config = inference.Config(f"{lenet}.pdmodel", f"{lenet}.pdiparams")
    first = inference.create_predictor(config)
    predictors = [first, *(first.clone() for _ in range(3))]
    inputs = [_values((1, 1, 28, 28), n) for n in range(5)]
    expected = [first.run([x])[0].numpy() for x in inputs]

    def by_handles(predictor: inference.Predictor) -> Callable[[Any], Any]:
        given = predictor.get_input_handle(predictor.get_input_names()[0])
        result = predictor.get_output_handle(predictor.get_output_names()[0])

        def call(x: Any) -> Any:
            given.copy_from_cpu(x)
            predictor.run()
            return result.copy_to_cpu()

        return call

    _in_threads([by_handles(p) for p in predictors], inputs, expected)
    _in_threads([lambda x: first.run([x])[0].numpy()] * 4, inputs, expected)


def test_a_plan_names_the_backend_of_its_kernels(lenet: str) -> None:
    frozen = jit.load(lenet, for_prediction=True)
    frozen(paddle.to_tensor(_values((1, 1, 28, 28), 1)))
    frozen(paddle.to_tensor(_values((64, 1, 28, 28), 1)))
    small, large = (plan.kernels() for plan in _plans(frozen))
    assert {whose for _, whose in small} == {"frozen"}
    assert ("conv2d_fusion", "numpy") in large
    assert [name for name, _ in small if name != "flatten_contiguous_range"] == [
        name for name, _ in large if name != "flatten_contiguous_range"
    ]


def test_four_threads_with_one_layer(lenet: str) -> None:
    frozen = jit.load(lenet, for_prediction=True)
    inputs = [_values((1, 1, 28, 28), n) for n in range(5)]
    expected = [frozen(paddle.to_tensor(x)).numpy() for x in inputs]
    _in_threads([lambda x: frozen(paddle.to_tensor(x)).numpy()] * 4, inputs, expected)
    assert 1 <= len(_plans(frozen)[0]._free) <= 4
