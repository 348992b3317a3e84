"""Bridge, bonds, curves and the small translations between session and widgets."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from resources.quantities import size
from studio.controllers.bindings import Bindings, once, show_all_again
from studio.controllers.bridge import Bridge
from studio.controllers.graph.graph_controller import attribute_text, program_data, shape_text
from studio.controllers.predict.scaling_text import scaling_text
from studio.controllers.runs.run_follower import RunFollower
from studio.controllers.train import curve_points
from studio.controllers.train.curves import Curves
from studio.controllers.train.train_controller import time_left
from studio.session.export.export_view import ExportViewModel
from studio.session.predict.model_choice import model_title
from studio.session.runs.run_history import RunHistory
from studio.session.runs.runs_folder import Run
from studio.session.train import layers_view
from widgets.param_form import Field, ParamForm
from widgets.plot import CurvePlot


class Answers:
    """Receives replies of models; only counts."""

    hurry: Any = None

    def __init__(self) -> None:
        self.taken = 0

    def take(self) -> None:
        self.taken += 1


class Pumped:
    """A session that only counts."""

    wake: Any = None

    def __init__(self) -> None:
        self.train = SimpleNamespace(state="idle")
        self.pumps = 0
        self.predict_models = Answers()
        self.checkpoints = SimpleNamespace(answers=SimpleNamespace(hurry=None), take=lambda: None)

    def pump(self) -> None:
        self.pumps += 1


@pytest.fixture
def pumped(qapp: Any) -> Iterator[tuple[Pumped, Bridge]]:
    session = Pumped()
    bridge = Bridge(session)  # type: ignore[arg-type]
    yield session, bridge
    bridge.close()


def test_a_wake_from_another_thread_pumps_in_this_one(pumped: tuple[Pumped, Bridge], qtbot: Any) -> None:
    session, bridge = pumped
    threads: list[threading.Thread] = []
    bridge.call(lambda: threads.append(threading.current_thread()))
    other = threading.Thread(target=session.wake)
    other.start()
    other.join()
    qtbot.waitUntil(lambda: session.pumps == 1)
    assert threads == [threading.main_thread()]


def test_many_wakes_are_few_pumps(pumped: tuple[Pumped, Bridge], qtbot: Any) -> None:
    session, _ = pumped
    begin = time.monotonic()
    wakes = 0

    def keep_waking() -> bool:
        nonlocal wakes
        for _ in range(100):
            session.wake()
        wakes += 100
        return session.pumps >= 5

    qtbot.waitUntil(keep_waking)
    # Qt's timers may fire up to 5% early.
    assert session.pumps <= 21 * (time.monotonic() - begin) + 1
    assert wakes > 10 * session.pumps


def test_an_answer_does_not_wait_for_the_next_pump(pumped: tuple[Pumped, Bridge], qtbot: Any) -> None:
    session, bridge = pumped
    session.wake()
    qtbot.waitUntil(lambda: session.pumps == 1)
    bridge._timer.start(10_000_000)  # the pause after a pump
    session.predict_models.hurry()
    qtbot.waitUntil(lambda: session.predict_models.taken == 1)
    assert session.pumps == 1


def test_a_closed_bridge_is_deaf(qapp: Any) -> None:
    session = Pumped()
    bridge = Bridge(session)  # type: ignore[arg-type]
    bridge.close()
    assert session.wake is None
    bridge.wake()


def test_bonds_show_and_store(qapp: Any) -> None:
    model, shown, bonds = ExportViewModel(), [], Bindings()
    form = ParamForm([Field("total", "", "int", 0)])
    bonds.show(model, "total", shown.append)
    bonds.store(form.control("total").textChanged, model, "total", int)
    form.set_value("total", 64)
    assert model.total == 64
    assert shown == [0, 64]
    bonds.release()
    model.total = 5
    form.set_value("total", 8)
    assert (model.total, shown) == (5, [0, 64])


def test_several_fields_that_one_function_shows_are_shown_once(qapp: Any) -> None:
    """At a change of the language, what many controllers ask for at once is done once, at the end."""
    model, bonds = ExportViewModel(), Bindings()
    calls: list[str] = []
    model.total = 1

    def show() -> None:
        calls.append(f"total {model.total}")
        once(end)
        once(end)

    end = partial(calls.append, "end")
    bonds.show_any(model, ("total", "done"), show)
    assert calls == ["total 1", "end", "end"]
    model.total = 2
    assert calls[3:] == ["total 2", "end", "end"]
    calls.clear()
    bonds.again(lambda: calls.append("more"))
    show_all_again()
    assert calls == ["total 2", "more", "end"]
    bonds.release()
    model.done = 5
    show_all_again()
    assert len(calls) == 3


# ----- curves ---------------------------------------------------------------------------------------------


@pytest.fixture
def curves(qtbot: Any, tmp_path: Any) -> tuple[Curves, CurvePlot, CurvePlot]:
    loss, accuracy = CurvePlot(), CurvePlot()
    for plot in (loss, accuracy):
        qtbot.addWidget(plot)
        plot.show()  # hidden ones are not drawn
    return Curves({"loss": loss, "accuracy": accuracy}), loss, accuracy


def history(steps: list[int]) -> RunHistory:
    values = [float(step) for step in steps]
    epoch = {"step": 2, "validation_loss": 0.5, "validation_accuracy": 0.6}
    return RunHistory(steps, values, values, [epoch])


def test_steps_repeated_after_a_crash_appear_once(curves: Any) -> None:
    lines, loss, _ = curves
    lines.show(["a"], "", {"a": history([1, 2, 3, 4, 3, 4, 5])}, {}, {"a": 0})
    assert loss.series_data("a")[0].tolist() == [1, 2, 3, 4, 5]


def test_points_are_kept_while_another_run_is_looked_at(curves: Any) -> None:
    lines, loss, accuracy = curves
    lines.show(["live"], "live", {}, {}, {})
    lines.extend([1, 2], [2.0, 1.0], [0.1, 0.2])
    lines.show(["old"], "live", {"old": history([1])}, {}, {"old": 0})
    lines.extend([3], [0.5], [0.3])
    assert loss.series_keys() == ["old", "old/validation"]
    lines.show(["live", "old"], "live", {"old": history([1])}, {"old": "cnn", "live": "lenet"}, {"old": 0})
    np.testing.assert_array_equal(loss.series_data("live")[1], [2.0, 1.0, 0.5])
    np.testing.assert_array_equal(accuracy.series_data("live")[1], [0.1, 0.2, 0.3])
    assert "lenet" in loss.summary()


def test_the_curves_of_a_run_of_another_process_grow_with_its_journal(curves: Any) -> None:
    lines, loss, accuracy = curves
    lines.show(["a"], "", {"a": history([1, 2])}, {}, {"a": 0})
    grown = history([1, 2, 3, 4])
    grown.epochs.append({"step": 4, "validation_loss": 0.4, "validation_accuracy": 0.7})
    for _ in range(2):  # the second time there is nothing new
        lines.grow("a", grown)
        assert loss.series_data("a")[0].tolist() == [1, 2, 3, 4]
        assert accuracy.series_data("a/validation")[1].tolist() == [0.6, 0.7]


def test_values_missing_in_an_older_run_have_no_point(curves: Any, qtbot: Any) -> None:
    lines, loss, _ = curves
    gradient = CurvePlot()
    qtbot.addWidget(gradient)
    gradient.show()
    lines.add_plot("gradient", gradient)
    lines.show(["a"], "", {"a": RunHistory([1, 2], [float("nan"), 1.0], [0.1, 0.2])}, {}, {"a": 0})
    assert len(gradient.series_data("a")[0]) == 0
    assert loss.series_data("a")[0].tolist() == [1, 2]  # a loss that is no number is marked
    lines.set_axis("epoch")  # no epoch has ended: nothing has a place yet
    assert len(loss.series_data("a")[0]) == 0


def test_a_long_training_keeps_the_shape_of_its_curve_in_bounded_memory(
    curves: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curve_points, "MOST_STEPS", 1000)
    lines, loss, _ = curves
    lines.show(["a"], "a", {}, {}, {"a": 0})
    for begin in range(0, 20_000, 10):
        steps = list(range(begin, begin + 10))
        losses = [
            9.0 if step == 2777 else float("nan") if step == 15888 else step % 10 / 10 for step in steps
        ]
        lines.extend(steps, losses, [0.5] * 10)
    xs, ys = loss.series_data("a")
    assert 500 <= len(xs) <= 1000
    assert (xs[-1], sorted(xs.tolist())) == (19_999, xs.tolist())
    assert (ys[xs == 2777].tolist(), len(ys[xs == 15888])) == ([9.0], 1)
    assert {*np.unique(ys[np.isfinite(ys)]).tolist()} >= {0.0, 0.9}


def test_the_layers_of_a_long_training_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers_view, "MOST_LOOKS", 8)
    model = layers_view.LayersViewModel()
    for step in range(100):
        model.take({"event": "layers", "step": step, "epoch": step, "parameters": [], "units": []})
    steps = [look.step for look in model.looks]
    assert (len(steps) <= 8, steps[-4:], sorted(steps)) == (True, [96, 97, 98, 99], steps)
    assert steps[0] < 60  # old ones too, further apart


def test_journals_are_read_while_a_run_goes_on_and_once_more_at_its_end() -> None:
    def run(step: int, state: str = "running") -> Run:
        return Run("a", "a", state, {}, 0.0, step, 9, 1, 0.5, "", 0)

    moment = [1.0]
    follower = RunFollower(lambda: moment[0])
    follower.begin([run(1)])
    assert follower.grown([run(1)]) == []
    assert follower.grown([run(2)]) == [run(2)]
    follower.take([run(2)], 1.0)
    moment[0] = 20.0  # reading took a second
    assert follower.grown([run(3)]) == []
    moment[0] = 21.0
    assert follower.grown([run(3)]) == [run(3)]
    follower.take([run(3)], 1.0)
    assert follower.grown([run(4, "finished")]) == [run(4, "finished")]
    follower.take([run(4, "finished")], 1.0)
    assert follower.grown([run(4, "finished"), run(5, "failed")]) == []


def test_a_resumed_run_goes_on_where_its_checkpoint_is(curves: Any) -> None:
    lines, loss, _ = curves
    lines.continue_from(history([1, 2, 3, 4]), 3)
    lines.show(["live"], "live", {}, {}, {})
    lines.rewind(3)
    lines.extend([4, 5], [9.0, 9.0], [0.0, 0.0])
    assert loss.series_data("live")[0].tolist() == [1, 2, 3, 4, 5]
    assert loss.series_data("live/validation")[0].tolist() == [2]


# ----- words ----------------------------------------------------------------------------------------------


def test_a_program_as_the_tree_wants_it() -> None:
    plain = {
        "blocks": [
            {
                "idx": 0,
                "parent": -1,
                "vars": [
                    {
                        "name": "x",
                        "shape": [-1, 2],
                        "dtype": "float32",
                        "persistable": False,
                        "parameter": False,
                        "stop_gradient": True,
                    }
                ],
                "ops": [
                    {
                        "type": "cond",
                        "inputs": {"Cond": ["x"]},
                        "outputs": {"Out": ["y"]},
                        "attrs": {"to": {"dtype": "int64"}},
                        "file": None,
                        "regions": [
                            {"block": 1, "arguments": [], "results": []},
                            {"block": 2, "arguments": [], "results": []},
                        ],
                        "line": None,
                    }
                ],
            }
        ]
    }
    program = program_data(plain, "net")
    (operator,) = program.blocks[0].operators
    assert operator.sub_blocks == (1, 2)
    assert operator.attrs["to"] == "int64"
    assert (operator.file, operator.line) == ("", 0)
    assert program.blocks[0].variables[0].shape == (-1, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (shape_text([-1, 6, 28]), "[?, 6, 28]"),
        (attribute_text({"spec": [[-1], "float32"]}), "[?] float32"),
        (attribute_text([1, 1]), "[1, 1]"),
        (size(254_293), "254\u2009kB"),
        (size(1_234_567), "1.23\u2009MB"),
        (size(12), "12\u2009B"),
        (scaling_text({"low": 0.0, "high": 1.0}), "0 \u2026 1"),
        (scaling_text({"mean": 0.5, "std": 0.25}), "(x \u2212 0.5) / 0.25"),
        (scaling_text({"low": -1.0, "high": 65535}), "\u22121 \u2026 65\u2009535"),
        (" ".join(model_title("/r/lenet-001/inference/model", {"/r/lenet-001": "LeNet"})), "LeNet model"),
        (" ".join(model_title("/exported/digits", {})), "digits exported"),
        (time_left(0.31), "1\u2009s"),
        (time_left(73.2), "1\u2009min 14\u2009s"),
        (time_left(float("nan")), "\u2013"),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert text == expected
