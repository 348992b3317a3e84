"""The fastest of several ways is measured once, and stays."""

import threading
import time

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine as paddle
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels import choice
from engine.kernels.cpu import pool
from engine.kernels.fast import measured as measured_module
from engine.kernels.fast import register
from engine.kernels.fast.measured import Choices, measured
from engine.kernels.fast.object_cache import ObjectCache

CONVOLUTION = {
    "strides": (2, 2),
    "paddings": (1, 1),
    "padding_algorithm": "EXPLICIT",
    "dilations": (1, 1),
    "groups": 1,
    "data_format": "NCHW",
}


@pytest.fixture(autouse=True)
def measurements():
    """Here it is measured."""


def busy(seconds):
    def work():
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    return work


def refuse():
    raise AssertionError("it is known which is fastest")


def test_the_fastest_is_found_and_the_first_has_an_advantage():
    assert measured({"slow": busy(0.004), "quick": busy(0.001)}) == "quick"
    assert measured({"quick": busy(0.001), "slow": busy(0.004)}) == "quick"
    assert measured({"only": refuse}) == "only"


def test_a_hopeless_way_runs_once():
    turns = []
    measured({"quick": busy(0.001), "hopeless": lambda: (turns.append(1), busy(0.02)())})
    assert len(turns) == 1


def test_work_of_other_threads_is_not_shared_meanwhile():
    seen, main = [], threading.get_ident()
    work = lambda: pool.run([lambda: seen.append(threading.get_ident())] * 4)  # noqa: E731
    measured({"one": work, "other": work})
    assert {*seen} == {main}


def test_an_answer_stays_for_this_process_and_for_later_ones(tmp_path):
    first = Choices(ObjectCache(tmp_path / "choices"))
    assert first.fastest("a", {"slow": busy(0.003), "quick": busy(0.001)}) == "quick"
    assert first.fastest("a", {"slow": refuse, "quick": refuse}) == "quick"
    assert (
        Choices(ObjectCache(tmp_path / "choices")).fastest("a", {"slow": refuse, "quick": refuse}) == "quick"
    )
    assert [*first.taken().values()] == ["quick"]


def test_the_first_answer_of_two_processes_holds(tmp_path):
    one, other = (Choices(ObjectCache(tmp_path / "choices")) for _ in range(2))

    def meanwhile():
        assert other.fastest("a", {"x": refuse}) == "x"

    assert one.fastest("a", {"x": busy(0.004), "y": lambda: None, "z": meanwhile}) == "x"


@pytest.mark.parametrize("damage", [b"", b"no answer of ours", b"\0" * 99])
def test_a_damaged_answer_is_measured_again(tmp_path, damage):
    Choices(ObjectCache(tmp_path / "choices")).fastest("a", {"x": busy(0.001), "y": busy(0.004)})
    for path in (tmp_path / "choices").iterdir():
        path.write_bytes(damage)
    again = Choices(ObjectCache(tmp_path / "choices"))
    assert again.fastest("a", {"x": busy(0.004), "y": busy(0.001)}) == "y"


def test_the_record_of_a_run_comes_first(tmp_path):
    first = Choices(ObjectCache(tmp_path / "choices"))
    first.fastest("a", {"x": busy(0.001), "y": busy(0.004)})
    resumed = Choices(ObjectCache(tmp_path / "choices"))
    (name,) = first.taken()
    resumed.prefer({name: "y"})
    assert resumed.fastest("a", {"x": refuse, "y": refuse}) == "y"
    assert resumed.taken() == {name: "y"}


def test_a_record_of_an_unknown_way_is_ignored():
    choices = Choices(None)
    choices.fastest("a", {"x": busy(0.001), "y": busy(0.004)})
    (name,) = choices.taken()
    other = Choices(None)
    other.prefer({name: "os.system"})
    assert other.fastest("a", {"x": busy(0.001), "y": busy(0.004)}) == "x"


@pytest.mark.parametrize("way", ["compiled", "numpy"])
def test_a_convolution_takes_the_way_that_is_chosen(monkeypatch, way):
    register()
    asked = []

    def fastest(self, key, ways):
        asked.append(key.split(":")[0])
        for work in ways.values():
            work()
        return way

    monkeypatch.setattr(Choices, "fastest", fastest)
    rng = np.random.default_rng(0)
    x, weight = (rng.standard_normal(s).astype(np.float32) for s in ((8, 3, 9, 9), (6, 3, 3, 3)))
    forward = OPS["conv2d"].fast([Spec.of(x), Spec.of(weight)], CONVOLUTION)
    assert all(h.wait(60) for h in forward.handles)
    assert forward.pays() == (way == "compiled")
    g = rng.standard_normal((8, 6, 5, 5)).astype(np.float32)
    both = CONVOLUTION | {"need_x": True, "need_weight": True}
    gradient = OPS["conv2d_grad"].fast([Spec.of(x), Spec.of(weight), Spec.of(g)], both)
    assert all(h.wait(60) for h in gradient.handles)
    assert gradient.pays() == (way == "compiled")
    assert asked == [f"convolution, {what}" for what in ("result", "image", "filters")]


def test_each_gradient_of_a_convolution_is_chosen_by_itself(monkeypatch):
    register()
    monkeypatch.setattr(
        Choices, "fastest", lambda self, key, ways: "numpy" if "filters" in key else "compiled"
    )
    rng = np.random.default_rng(0)
    x, weight = (rng.standard_normal(s).astype(np.float32) for s in ((8, 3, 9, 9), (6, 3, 3, 3)))
    g = rng.standard_normal((8, 6, 5, 5)).astype(np.float32)
    both = CONVOLUTION | {"need_x": True, "need_weight": True}
    made = OPS["conv2d_grad"].fast([Spec.of(x), Spec.of(weight), Spec.of(g)], both)
    assert all(h.wait(60) for h in made.handles)
    assert made.pays()
    wanted = OPS["conv2d_grad"].kernel(np, x, weight, g, **both)
    found = made.kernel(x, weight, g)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found[1], wanted[1])


def test_a_plan_takes_numpys_kernel_where_it_is_faster(monkeypatch):
    monkeypatch.setattr(Choices, "fastest", lambda self, key, ways: "numpy")
    layer = paddle.nn.Conv2D(3, 6, 3, stride=2, padding=1)
    x = paddle.ones([8, 3, 9, 9])
    with paddle.no_grad():
        before = layer(x).numpy()
    with choice.settled_as("fast"), paddle.no_grad():
        run = paddle.jit.to_static(layer)
        for _ in range(3):
            after = run(x).numpy()
    np.testing.assert_array_equal(after, before)


@pytest.mark.logs
def test_a_failing_measurement_leaves_numpy(monkeypatch):
    def fails(self, key, ways):
        raise MemoryError("no room")

    monkeypatch.setattr(Choices, "fastest", fails)
    layer = paddle.nn.Conv2D(3, 6, 3, stride=2, padding=1)
    with choice.settled_as("fast"), paddle.no_grad():
        run = paddle.jit.to_static(layer)
        assert run(paddle.ones([8, 3, 9, 9])).shape == [8, 6, 5, 5]


def test_answers_lie_with_the_persons_data():
    kept = measured_module.choices.__wrapped__()._kept
    assert kept is not None
    assert kept.folder.name == "choices"
    assert "cache" not in kept.folder.parts[-2]


def test_the_first_turn_of_all_does_not_make_a_way_hopeless():
    """It may get memory from the system, which later turns find in the process."""
    turns = []

    def quick():
        turns.append(1)
        busy(0.02 if len(turns) == 1 else 0.001)()

    assert measured({"quick": quick, "slow": busy(0.004)}) == "quick"
