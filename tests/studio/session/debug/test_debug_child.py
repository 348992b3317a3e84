"""The real child of the page Debug: a model with a planted fault, debugged to its operator."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.session.debug.breakpoints import Breakpoint, Conditions
from studio.session.session import Session
from studio.session.work.worker import ProcessWorker

WAIT = 120.0
NET = """import engine as paddle
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3, stride=2)
        self.fc = nn.Linear(4 * 13 * 13, 10)

    def forward(self, x):
        h = self.conv(x)

        h = {fault}(h)
        return self.fc(paddle.flatten(h, 1))
"""


class Debugged:
    """A session whose edited model is a file, and its debugger."""

    def __init__(self, session: Session) -> None:
        self.session, self.debugging = session, session.debugging
        self.view = session.debugging.view
        self.refused: list[str] = []
        self.problems: list[Any] = []
        self.shown: list[Any] = []
        self.debugging.refused.connect(self.refused.append)
        self.debugging.shown.connect(self.shown.append)
        session.problem.connect(self.problems.append)

    def stands(self) -> bool:
        return self.view.state in ("standing", "ended")

    def do(self, action: Callable[..., Any], *of: Any) -> None:
        action(*of)
        assert self.session.wait_until(self.stands, WAIT), self.view.state
        assert self.view.state == "standing", (self.view.message, self.problems)

    def look(self, name: str, kind: Any, **options: int) -> dict[str, Any]:
        count = len(self.shown)
        self.view.shown_value = name
        self.debugging.show_value(name, kind, **options)
        assert self.session.wait_until(lambda: len(self.shown) > count, WAIT)
        found: dict[str, Any] = self.shown[-1].values
        return found


def net(folder: Path, fault: str) -> Path:
    file = folder / "net.py"
    file.write_text(NET.format(fault=fault), encoding="utf-8")
    return file


@pytest.fixture
def debugged(tmp_path: Path, bars: Path) -> Iterator[Debugged]:
    session = Session(ProcessWorker, tmp_path / "runs")
    session.choose_data(str(bars))
    yield Debugged(session)
    session.close()


def choose(debugged: Debugged, file: Path) -> None:
    """Let the model of the settings be the class in the file, and agree to it."""
    session = debugged.session
    session.change_setting("model", f"{file}:Net")
    code = session.needs_agreement()
    assert code is not None
    session.agree(code)


def test_a_planted_nan_is_found_with_its_line_and_its_values(debugged: Debugged, tmp_path: Path) -> None:
    file = net(tmp_path, "paddle.log")
    choose(debugged, file)
    view, debugging = debugged.view, debugged.debugging
    debugged.do(debugging.start)
    assert [part.name for part in view.parts] == ["forward", "backward", "update"]
    assert Path(view.source_file) == file
    assert view.source == file.read_text()
    debugged.do(debugging.go_on, "until_nan")
    stop = view.stop
    assert (stop.reason, stop.operator, stop.line, stop.part) == ("not finite", "log", 14, "forward")
    (given,) = [row for row in stop.rows if row.role == "in"]
    (made,) = [row for row in stop.rows if row.role == "out"]
    assert given.bad == 0
    assert given.minimum is not None
    assert given.minimum < 0
    assert made.nan > 0
    operator = view.operator()
    assert operator is not None
    assert operator["type"] == "log"
    found = debugged.look(made.name, "statistics")
    assert (found["nan"], found["count"]) == (made.nan, 64 * 4 * 13 * 13)
    image = debugged.look(made.name, "image", sample=2, first=0)
    assert image["values"].shape == (4, 13, 13)
    rows = debugged.look(made.name, "rows", row=0, column=0, count=64, width=13)["values"]
    assert (len(rows), len(rows[0])) == (64, 13)


def test_breakpoints_conditions_and_changes(debugged: Debugged, tmp_path: Path) -> None:
    file = net(tmp_path, "paddle.tanh")
    choose(debugged, file)
    view, debugging = debugged.view, debugged.debugging
    debugging.toggle_breakpoint(Breakpoint("line", file=str(file), line=13))
    debugging.toggle_breakpoint(Breakpoint("line", file=str(file), line=99))
    debugging.watch("x")
    debugged.do(debugging.start)
    assert view.breakpoints[0].line == 14
    assert "no operator comes from this line" in view.breakpoints[1].refused
    assert [row.name for row in view.stop.rows if row.role == "watch"] == ["x"]
    debugged.do(debugging.go_on, "continue")
    assert (view.stop.reason, view.stop.operator, view.breakpoints[0].hit) == ("breakpoint", "tanh", 1)
    (made,) = [row for row in view.stop.rows if row.role == "out"]
    debugged.do(debugging.change_value, made.name, "fill", "nan")
    assert [(each.name, each.how) for each in view.changes] == [(made.name, "fill")]
    assert view.stop.rows[-2].nan == 64 * 4 * 13 * 13
    debugging.change_value(made.name, "number", "1", (99, 0, 0, 0))
    assert debugged.session.wait_until(lambda: bool(debugged.refused), WAIT)
    assert "[99, 0, 0, 0]" in debugged.refused[0]
    assert view.state == "standing"
    debugged.do(debugging.go_on, "restart")
    assert view.changes == ()
    debugging.set_conditions(Conditions(shape_is=True, shape=(-1, 10)))
    debugging.remove_breakpoint(0)
    debugged.do(debugging.go_on, "continue")
    assert view.stop.reason == "condition"
    assert view.stop.layer == "fc"


def test_updates_are_rows_of_parameters(debugged: Debugged, tmp_path: Path) -> None:
    choose(debugged, net(tmp_path, "paddle.tanh"))
    view, debugging = debugged.view, debugged.debugging
    debugged.do(debugging.start)
    assert [(row.name, row.before) for row in view.updates][:1] == [("conv.weight", None)]
    debugged.do(debugging.go_on, "until_nan")
    assert view.stop.reason == "finite"
    for row in view.updates:
        assert None not in (row.before, row.gradient, row.after)
        assert row.before is not None
        assert row.after is not None
        assert row.before.maximum != row.after.maximum
    debugged.do(debugging.go_on, "back")
    assert [row.after is None for row in view.updates] == [False, False, False, True]


def test_values_so_far_are_listed(debugged: Debugged, tmp_path: Path) -> None:
    choose(debugged, net(tmp_path, "paddle.tanh"))
    debugging, view = debugged.debugging, debugged.view
    debugging.list_values(True)
    debugged.do(debugging.start)
    debugged.do(debugging.go_on, "step")
    assert view.stop.position == 1
    assert {"x", view.stop.rows[-1].name} <= {row.name for row in view.all_values}


def test_a_killed_child_is_replaced_by_restart(debugged: Debugged, tmp_path: Path) -> None:
    choose(debugged, net(tmp_path, "paddle.tanh"))
    debugging, view = debugged.debugging, debugged.view
    debugging.toggle_breakpoint(Breakpoint("operator", operator="tanh"))
    debugged.do(debugging.start)
    assert debugging._task is not None
    os.kill(debugging._task.pid, signal.SIGKILL)
    assert debugged.session.wait_until(lambda: view.state == "ended", WAIT)
    assert "killed" in view.message
    debugged.do(debugging.restart)
    debugged.do(debugging.go_on, "continue")
    assert (view.stop.operator, view.stop.reason) == ("tanh", "breakpoint")


def test_stop_holds_a_run_over_many_batches(debugged: Debugged, tmp_path: Path) -> None:
    choose(debugged, net(tmp_path, "paddle.tanh"))
    debugged.session.change_setting("epochs", 10_000)  # so that it does not come to the end before
    debugging, view = debugged.debugging, debugged.view
    debugged.do(debugging.start)
    debugging.go_on("until_nan", 10**6)
    deadline = time.monotonic() + WAIT
    while not view.message and time.monotonic() < deadline:
        debugged.session.wait_until(lambda: bool(view.message), 1.0)
    debugged.do(debugging.stop)
    assert view.stop.reason == "interrupted"
    assert view.stop.position > 0


def test_a_model_that_cannot_be_built_is_a_problem_with_its_line(debugged: Debugged, tmp_path: Path) -> None:
    file = net(tmp_path, "missing")
    choose(debugged, file)
    debugged.debugging.start()
    assert debugged.session.wait_until(debugged.stands, WAIT)
    assert debugged.view.state == "ended"
    (problem,) = debugged.problems
    assert problem.title == "The batch can't be debugged"
    assert "missing" in problem.message


def test_a_run_that_diverged_is_replayed_to_its_operator(debugged: Debugged, tmp_path: Path) -> None:
    file = net(tmp_path, "paddle.log")
    choose(debugged, file)
    session, view = debugged.session, debugged.view
    session.start()
    assert session.wait_until(lambda: session.train.state == "failed", WAIT), session.train.message
    folder = session.train.folder
    assert session.wait_until(lambda: session.listed_run(folder) is not None, WAIT)
    run = session.listed_run(folder)
    assert run is not None
    assert run.state == "diverged"
    before = {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    session.select_run(folder)
    assert session.blocked("find_operator") == ""
    debugged.problems.clear()
    debugged.do(debugged.debugging.find_operator, folder)
    if view.stop.reason == "begin":  # prepared, and about to move
        assert session.wait_until(lambda: view.stop.reason != "begin" and debugged.stands(), WAIT)
    assert (view.stop.reason, view.stop.operator, view.stop.line) == ("not finite", "log", 14)
    assert view.stop.batch == 1
    assert Path(view.source_file).parent.name == "source"
    after = {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    assert after == before


class Limited:
    """A debugger whose process has ended, as that of an untrusted model does."""

    title, notes, parts, changes, breakpoints = "model", [], [], [], {}
    batch = position = 1

    def __init__(self) -> None:
        from engine.debugger import Stop

        self.stop = Stop("begin")

    def step(self) -> Any:
        from engine.core.errors import LimitError

        raise LimitError("model: a run took more than 2 s; allow more with --seconds")

    step_back = resume = restart = step

    def forget_interrupt(self) -> None:
        pass

    def view(self, *of: Any) -> Any:
        from engine.core.errors import ArgumentError

        raise ArgumentError("debug: no value 'a' here; step on")

    def close(self) -> None: ...


def test_a_process_that_a_limit_ended_ends_the_child_and_other_errors_do_not() -> None:
    from engine.core.errors import LimitError
    from studio.session.debug.debug_child import DebugChild
    from studio.session.debug.debug_requests import GoOn, ShowValue
    from studio.session.work.job import Inbox, plain_message

    sent: list[Any] = []
    inbox = Inbox()
    for request in (ShowValue(1, "a", "rows", {}), GoOn(2, "step")):
        inbox.put(plain_message(request))
    with pytest.raises(LimitError, match="more than 2 s"):
        DebugChild(sent.append, "model").serve(Limited, inbox)  # type: ignore[arg-type]
    assert [each["event"] for each in sent] == ["debug_opened", "debug_stopped", "debug_refused"]
    assert sent[-1]["message"] == "debug: no value 'a' here; step on"
