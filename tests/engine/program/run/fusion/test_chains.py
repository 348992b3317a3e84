"""Chains of small operators: which operators they join, and that they compute what the operators do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine as paddle
from engine import nn
from engine.core.errors import OutOfRangeError
from engine.core.spans import watch
from engine.kernels.choice import kernels
from engine.program.run.fusion.chains import chains
from engine.program.run.stages.fuse import fuse
from engine.program.run.stages.place import place
from engine.program.run.stages.write import write
from tests.engine.program.run.stages.drafts import chosen

LAYERS = """
    x: float32[4, 8]
    y: int64[4]
    w: weight float32[8, 6]
    c: weight float32[6]
    a = matmul_v2(x, w)
    b = elementwise_add(a, c)
    d = relu(b)
    l = unsqueeze2(y, axes=[1])
    s, e = softmax_with_cross_entropy(d, l, axis=1)
    m = kept_mean(e, l)
    return m, s
"""


def names(text: str) -> list[list[str]]:
    draft = place(fuse(chosen(text)))
    return [[draft.ops[n].opdef.name for n in chain.parts] for chain in chains(draft)]


def test_neighbours_are_joined_with_the_views_between_them() -> None:
    (found,) = names(LAYERS)
    assert found[:3] == ["matmul_v2", "elementwise_add", "relu"]
    assert found[3:] == ["unsqueeze2", "softmax_with_cross_entropy", "kept_mean"]


@pytest.mark.parametrize(
    "text",
    [
        "x: float32[4]\na = exp(x)\nb = relu(a)\nc = sqrt(b)\nreturn c",  # few
        "x: float32[-1]\na = exp(x)\nb = relu(a)\nc = sqrt(b)\nd = exp(c)\nreturn d",  # of unknown size
        "x: float32[200, 200]\na = exp(x)\nb = relu(a)\nc = sqrt(b)\nd = exp(c)\nreturn d",  # large
        "x: float32[4]\na = exp(x)\nb = relu(a)\nc = cumsum(b)\nd = exp(c)\ne = relu(d)\nreturn e",  # apart
    ],
)
def test_few_large_and_separate_operators_stay_alone(text: str) -> None:
    assert not names(text)


def test_a_view_that_others_read_ends_a_chain() -> None:
    text = "x: float32[4, 2]\na = exp(x)\nb = relu(a)\nc = sqrt(b)\nd = exp(c)\n"
    text += "v = flatten_contiguous_range(d)\ne = relu(d)\nreturn v, e"
    assert names(text) == [["exp", "relu", "sqrt", "exp"]]


def _numbers(size: int, seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(size).astype(np.float32)


def _layers() -> list[Any]:
    x, w, c = _numbers(32, 0).reshape(4, 8), _numbers(48, 1).reshape(8, 6), _numbers(6, 2)
    return [x, np.array([0, 5, -100, 2]), w, c]


def _expected(x: Any, y: Any, w: Any, c: Any) -> tuple[Any, Any]:
    d = np.maximum(x.astype(np.float64) @ w + c, 0)
    s = np.exp(d) / np.exp(d).sum(1, keepdims=True)
    kept = y != -100
    return -np.log(s[np.arange(len(y)), np.where(kept, y, 0)])[kept].mean(), s


def test_a_chain_computes_what_its_operators_do() -> None:
    with kernels.guard("fast"):
        written = write(place(fuse(chosen(LAYERS))))
        written.kernels.before_run()
    assert {whose for name, whose in written.kernels.report() if name != "unsqueeze2"} == {"fast"}
    values = _layers()
    for given in (values, [np.asfortranarray(v) for v in values]):  # which it leaves to the operators
        for got, want in zip(written.function(given), _expected(*values), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)
    values[0][0, 0] = np.nan
    assert np.isnan(written.function(values)[0])


def test_a_label_that_is_no_class_raises_the_error_of_its_operator() -> None:
    with kernels.guard("fast"):
        written = write(place(fuse(chosen(LAYERS))))
        written.kernels.before_run()
    values = _layers()
    values[1][0] = 6
    with pytest.raises(OutOfRangeError, match="label 6 is not a class number"):
        written.function(values)


class _Recorder:
    shapes = details = False

    def __init__(self) -> None:
        self.names: list[str] = []

    def add(self, kind: str, name: str, start: int, shapes: Any = ()) -> None:
        self.names.append(name)

    def operator(self, name: str, start: int, end: int, call: Any) -> None:
        raise AssertionError("details were not requested")


def test_a_profiler_sees_the_operators_one_by_one() -> None:
    net = paddle.jit.to_static(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)))
    x, recorder = paddle.to_tensor(_numbers(32, 0).reshape(4, 8)), _Recorder()
    with kernels.guard("fast"), paddle.no_grad():
        first = net(x).numpy()
        watch.start(recorder)
        try:
            second = net(x).numpy()
        finally:
            watch.stop()
    assert recorder.names.count("matmul_v2") == 2
    np.testing.assert_allclose(second, first, rtol=1e-6)


def test_a_training_is_that_of_numpy() -> None:
    def losses(choice: str, steps: int = 12) -> list[float]:
        paddle.seed(3)
        net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
        adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
        x, y = paddle.to_tensor(_numbers(64, 5).reshape(8, 8)), paddle.to_tensor(np.arange(8) % 4)
        found = []
        with kernels.guard(choice):
            forward = paddle.jit.to_static(net)
            for _ in range(steps):
                loss = nn.functional.cross_entropy(forward(x), y)
                loss.backward()
                adam.step()
                adam.clear_grad()
                found.append(float(loss))
        return found

    np.testing.assert_allclose(losses("fast"), losses("numpy"), rtol=2e-4)


def test_operators_whose_values_nothing_needs_are_no_chain() -> None:
    """A Program that computes a gradient of 0: the factors before it stay, and nothing reads them."""
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [3, 3, 5, 3], "float64")
            y = paddle.static.data("y", [3, 3, 3, 3], "float64")
            x.stop_gradient = y.stop_gradient = False
            apart = paddle.cdist(x, y, 0.0, "donot_use_mm_for_euclid_dist")
            slopes = [g for g in paddle.static.gradients([apart], [x, y]) if g is not None]
            feed = {"x": np.ones([3, 3, 5, 3]), "y": np.zeros([3, 3, 3, 3])}
            found = paddle.static.Executor().run(main, feed=feed, fetch_list=[apart, *slopes])
    finally:
        paddle.disable_static()
    assert np.array_equal(found[0], np.full([3, 3, 5, 3], 3.0))
    assert not any(np.any(slope) for slope in found[1:])
