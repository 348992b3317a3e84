"""The page Debug without a window: what is asked of the child, and what its reports change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio.session.debug.breakpoints import Breakpoint, Conditions
from studio.session.debug.debug_requests import ChangeValue, GoOn, ShowValue, WatchFor
from studio.session.debug.debugging import Batch
from tests.studio.debug_events import FILE, opened, stopped, value


class Debugged:
    """A session whose child says what the test says."""

    def __init__(self, stage: Any) -> None:
        self.stage, self.session = stage, stage.session
        self.debugging = stage.session.debugging
        self.view = self.debugging.view
        self.refused: list[str] = []
        self.debugging.refused.connect(self.refused.append)

    def start(self) -> None:
        """Stand before the first operator of the edited model."""
        assert self.session.execute("debug") == ""
        self.tell(opened())
        self.tell(stopped(0, "begin", request=-1, watching=0))
        row = {"text": "", "line": 0, "hit": 0, "refused": ""}
        self.tell(
            stopped(0, "begin", watching=self.watching, breakpoints=[row for _ in self.view.breakpoints])
        )

    def tell(self, event: dict[str, Any]) -> None:
        """An event; a stop answers the last movement unless it says which request."""
        if event["event"] == "debug_stopped" and not event["request"]:
            event["request"] = self.debugging._moving
        self.stage.worker.tell(event)
        self.session.pump()

    @property
    def requests(self) -> list[Any]:
        return list(self.stage.worker.commands)

    @property
    def watching(self) -> int:
        return int(next(each.request for each in reversed(self.requests) if isinstance(each, WatchFor)))


@pytest.fixture
def debugged(stage: Any) -> Debugged:
    return Debugged(stage)


def test_the_edited_model_is_debugged_where_nothing_is_selected(debugged: Debugged) -> None:
    assert debugged.view.state == "idle"
    debugged.start()
    job = debugged.stage.worker.job
    assert (job.kind, job.path, job.checkpoint, job.batch) == ("settings", "", -1, -1)
    assert job.retained_bytes == 512 << 20
    assert job.config["data"] == debugged.session.train.settings.data
    assert debugged.view.state == "standing"
    assert [part.name for part in debugged.view.parts] == ["forward", "update"]
    assert (debugged.view.source_file, debugged.view.title) == (FILE, "LeNet, step 3")
    assert debugged.session.blocked("debug") == "A batch is being debugged; stop it first."
    assert debugged.session.blocked("start") == ""  # a training may begin next to it


def test_the_memory_of_values_is_a_preference(debugged: Debugged) -> None:
    debugged.session.change_preferences(debug_memory=64)
    debugged.start()
    assert debugged.stage.worker.job.retained_bytes == 64 << 20


def test_commands_move_the_position(debugged: Debugged) -> None:
    debugged.start()
    for command, way in (
        ("debug_step", "step"),
        ("debug_continue", "continue"),
        ("debug_until_nan", "until_nan"),
        ("debug_step_back", "back"),
        ("debug_restart", "restart"),
    ):
        debugged.tell(stopped(1, watching=debugged.watching))
        assert debugged.session.execute(command) == ""
        assert debugged.view.state == "running"
        assert debugged.requests[-1] == GoOn(debugged.requests[-1].request, way)
        waits = command in ("debug_step", "debug_step_back")
        assert ("is being computed" in debugged.session.blocked(command)) is not waits
    debugged.tell(stopped(2, watching=debugged.watching))
    assert debugged.view.stop.at == (0, 1)
    assert [(row.name, row.role) for row in debugged.view.stop.rows] == [("a", "in"), ("b", "out")]


def test_steps_pressed_quickly_follow_one_another(debugged: Debugged) -> None:
    debugged.start()
    for command in ("debug_step", "debug_step", "debug_step", "debug_step_back"):
        assert debugged.session.execute(command) == ""
    done = [each.way for each in debugged.requests if isinstance(each, GoOn)]
    for position in (1, 2, 3, 2):
        debugged.tell(stopped(position, watching=debugged.watching))
    assert done == ["step"]
    assert [each.way for each in debugged.requests if isinstance(each, GoOn)] == ["step"] * 3 + ["back"]
    assert debugged.view.state == "standing"


def test_steps_that_wait_are_forgotten_where_an_operator_fails_and_by_stop(debugged: Debugged) -> None:
    debugged.start()
    for _ in range(3):
        debugged.session.execute("debug_step")
    debugged.tell(stopped(1, "failed", message="relu: shapes differ", watching=debugged.watching))
    assert debugged.view.state == "standing"
    debugged.session.execute("debug_restart")
    debugged.tell(stopped(0, "begin", watching=debugged.watching))
    for _ in range(3):
        debugged.session.execute("debug_step")
    debugged.session.execute("debug_stop")
    debugged.tell(stopped(1, watching=debugged.watching))
    assert debugged.view.state == "standing"
    assert sum(isinstance(each, GoOn) and each.way == "step" for each in debugged.requests) == 2


def test_a_step_back_needs_an_operator_before(debugged: Debugged) -> None:
    debugged.start()
    assert debugged.session.blocked("debug_step_back") == "No operator has been computed yet."


def test_an_operator_that_failed_is_the_end(debugged: Debugged) -> None:
    debugged.start()
    debugged.session.execute("debug_continue")
    debugged.tell(stopped(2, "failed", message="relu: shapes differ", watching=debugged.watching))
    assert debugged.session.blocked("debug_step") == "The operator failed: step back or restart."
    assert debugged.session.blocked("debug_step_back") == ""


def test_stop_holds_a_run_and_then_ends_it(debugged: Debugged) -> None:
    debugged.start()
    debugged.session.execute("debug_continue")
    assert debugged.session.execute("debug_stop") == ""
    assert debugged.view.state == "stopping"  # at once, whatever the child does
    assert debugged.requests[-1] == "pause"
    debugged.tell(stopped(2, "interrupted", watching=debugged.watching))
    assert debugged.view.state == "standing"
    assert debugged.session.execute("debug_stop") == ""
    assert (debugged.view.state, debugged.stage.worker.killed) == ("ended", True)
    assert debugged.session.blocked("debug_step") == "Nothing is being debugged."


def test_a_child_that_does_not_hold_is_killed_by_a_second_stop(debugged: Debugged) -> None:
    debugged.start()
    debugged.session.execute("debug_continue")
    debugged.session.execute("debug_stop")
    debugged.session.execute("debug_stop")
    assert debugged.stage.worker.killed
    assert debugged.view.state == "ended"


def test_breakpoints_are_sent_and_come_back_with_what_they_became(debugged: Debugged) -> None:
    debugging, view = debugged.debugging, debugged.view
    debugging.toggle_breakpoint(Breakpoint("line", file=FILE, line=15))
    debugged.start()
    sent = debugged.requests[0]
    assert [(each["kind"], each["line"]) for each in sent.breakpoints] == [("line", 15)]
    row = {"text": "net.py:20", "line": 20, "hit": 2, "refused": ""}
    debugged.tell(stopped(0, "begin", breakpoints=[row], watching=debugged.watching))
    (found,) = view.breakpoints
    assert (found.line, found.name, found.hit) == (20, "net.py:20", 2)
    debugging.toggle_breakpoint(Breakpoint("layer", layer="features.9"))
    debugged.tell(stopped(0, "begin", breakpoints=[row], watching=debugged.watching - 1))
    assert [each.refused for each in view.breakpoints] == ["", ""]
    why = {"text": "", "line": 0, "hit": 0, "refused": "debug: no such layer"}
    debugged.tell(stopped(0, "begin", breakpoints=[row, why], watching=debugged.watching))
    assert [each.refused for each in view.breakpoints] == ["", "debug: no such layer"]
    debugging.toggle_breakpoint(Breakpoint("line", file=FILE, line=20))
    assert [each.kind for each in view.breakpoints] == ["layer"]
    debugging.remove_breakpoint(0)
    assert debugged.requests[-1].breakpoints == ()


def test_conditions_and_watches_are_sent(debugged: Debugged) -> None:
    debugged.start()
    debugged.debugging.set_conditions(Conditions(True, ("log",), True, 100.0, True, True, (2, -1)))
    debugged.debugging.watch("loss")
    sent = debugged.requests[-1]
    assert sent.watches == ("loss",)
    assert list(sent.conditions) == [
        {"kind": "not_finite", "ignore": ["log"]},
        {"kind": "above", "limit": 100.0},
        {"kind": "all_zero"},
        {"kind": "shape", "shape": [2, -1]},
    ]
    debugged.debugging.watch("loss")
    assert debugged.requests[-1].watches == ()
    debugged.session.execute("debug_until_nan")
    assert debugged.requests[-1].ignored == ("log",)


def test_a_view_of_a_value_comes_back(debugged: Debugged) -> None:
    shown: list[Any] = []
    why: list[tuple[str, str]] = []
    debugged.debugging.shown.connect(shown.append)
    debugged.debugging.not_shown.connect(lambda *of: why.append(of))
    debugged.start()
    debugged.view.shown_value = "a"
    debugged.debugging.show_value("a", "rows", row=64, count=64, column=0, width=4)
    sent = debugged.requests[-1]
    options = {"row": 64, "count": 64, "column": 0, "width": 4}
    assert sent == ShowValue(sent.request, "a", "rows", options)
    answer = {"event": "debug_shown", "time": 1.0, "name": "a", "kind": "rows", "values": {"row": 64}}
    debugged.tell({**answer, "request": sent.request})
    assert [(each.name, each.kind) for each in shown] == [("a", "rows")]
    debugged.debugging.show_value("a", "image", sample=9)
    refused = {"event": "debug_refused", "time": 1.0, "message": "debug: no sample 9"}
    debugged.tell({**refused, "request": debugged.requests[-1].request})
    assert why == [("a", "debug: no sample 9")]
    assert debugged.refused == []


def test_an_answer_about_a_value_that_is_no_longer_shown_is_ignored(debugged: Debugged) -> None:
    shown: list[Any] = []
    debugged.debugging.shown.connect(shown.append)
    debugged.start()
    debugged.view.shown_value = "a"
    debugged.debugging.show_value("a", "histogram")
    number = debugged.requests[-1].request
    debugged.view.shown_value = "b"
    answer = {"event": "debug_shown", "time": 1.0, "name": "a", "kind": "histogram", "values": {}}
    debugged.tell({**answer, "request": number})
    assert shown == []


def test_a_value_is_changed_or_the_reason_is_shown(debugged: Debugged) -> None:
    debugged.start()
    debugged.debugging.change_value("a", "number", "nan", (0, 1, 2, 3))
    sent = debugged.requests[-1]
    assert sent == ChangeValue(sent.request, "a", "number", "nan", (0, 1, 2, 3))
    change = {"name": "a", "how": "number", "value": "nan", "index": [0, 1, 2, 3], "position": 1}
    debugged.tell(stopped(1, changes=[change], watching=debugged.watching))
    assert [(each.name, each.index) for each in debugged.view.changes] == [("a", (0, 1, 2, 3))]
    debugged.debugging.change_value("a", "fill", "x")
    refused = {"event": "debug_refused", "time": 1.0, "message": "debug: a: not a number: 'x'"}
    debugged.tell({**refused, "request": debugged.requests[-1].request})
    assert debugged.refused == ["debug: a: not a number: 'x'"]
    assert debugged.view.state == "standing"


def test_breakpoints_stay_when_the_child_dies_and_restart_begins_again(debugged: Debugged) -> None:
    debugged.debugging.toggle_breakpoint(Breakpoint("operator", operator="log"))
    debugged.debugging.watch("loss")
    debugged.start()
    debugged.session.execute("debug_continue")
    first = debugged.stage.worker
    first.end(clean=False, message="debugger: it was killed from outside: signal SIGKILL; restart it")
    debugged.session.pump()
    view = debugged.view
    assert view.state == "ended"
    assert view.last_problem is not None
    assert "SIGKILL" in view.message
    assert [each.operator for each in view.breakpoints] == ["log"]
    assert debugged.session.blocked("debug_restart") == ""
    debugged.session.execute("debug_restart")
    assert debugged.stage.worker is not first
    assert view.state == "starting"
    assert debugged.requests[0].watches == ("loss",)
    assert [each["operator"] for each in debugged.requests[0].breakpoints] == ["log"]


def test_a_model_that_cannot_be_prepared_is_a_problem(debugged: Debugged) -> None:
    assert debugged.session.execute("debug") == ""
    names = ("where", "what", "do", "file", "error", "traceback")
    failed = {"event": "failed", "time": 1.0, "step": 0, "checkpoint": "", "line": 0, "message": "net: wrong"}
    debugged.tell({**failed, **dict.fromkeys(names, "wrong")})
    assert debugged.view.state == "ended"
    assert [each.title for each in debugged.stage.problems] == ["The batch can't be debugged"]


def test_another_project_forgets_the_batch(debugged: Debugged, tmp_path: Path) -> None:
    debugged.debugging.toggle_breakpoint(Breakpoint("operator", operator="log"))
    debugged.start()
    debugged.session.new_project()
    assert (debugged.view.state, debugged.view.parts, debugged.view.breakpoints) == ("idle", (), ())
    assert debugged.stage.workers[0].killed


def test_progress_is_shown_until_the_next_stop(debugged: Debugged) -> None:
    debugged.start()
    debugged.session.execute("debug_continue")
    progress = {"event": "debug_progress", "time": 1.0, "done": 1, "total": 3}
    debugged.tell({**progress, "message": "Batch 3, operator 1"})
    assert debugged.view.message == "Batch 3, operator 1"
    (task,) = debugged.session.tasks.shown
    assert (task.title, task.subject, task.page) == ("Computing {0}", "LeNet, step 3", "debug")
    debugged.tell(stopped(3, "end", watching=debugged.watching))
    assert debugged.view.message == ""
    assert debugged.session.tasks.shown == ()


def test_a_run_needs_something_to_debug(debugged: Debugged) -> None:
    debugged.debugging.start(Batch("run", "/nowhere"))
    assert debugged.refused == ["This run has written nothing yet."]
    assert debugged.session.blocked("find_operator") == "No run is selected."


def test_values_of_a_stop_say_what_is_not_finite(debugged: Debugged) -> None:
    debugged.start()
    found = stopped(2, "not finite", outputs=[value("b", nan=7)], value="b", watching=debugged.watching)
    debugged.session.execute("debug_until_nan")
    debugged.tell(found)
    row = debugged.view.stop.rows[-1]
    assert (row.name, row.bad, row.known, row.minimum) == ("b", 7, True, -1.5)
    assert debugged.view.stop.value == "b"


def test_an_answer_to_something_else_does_not_end_a_movement(debugged: Debugged) -> None:
    debugged.start()
    debugged.debugging.watch("loss")
    debugged.session.execute("debug_continue")
    debugged.tell(stopped(0, "begin", request=debugged.watching, watching=debugged.watching))
    assert debugged.view.state == "running"
    debugged.tell(stopped(3, "end", watching=debugged.watching))
    assert (debugged.view.state, debugged.view.stop.position) == ("standing", 3)
