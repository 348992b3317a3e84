"""The commands of the page Debug, as rows of the table of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.session.command import Command, Position
from studio.session.conditions import of_run

if TYPE_CHECKING:
    from studio.session.runs.runs_folder import Run
    from studio.session.session import Session

PAGE, GROUP = "debug", "Model"
NOT_BEGUN = "Nothing is being debugged."
RUNS = "The batch is being computed; stop it first."


def _may_debug(session: Session) -> str:
    return session.debugging.why_not


def _stands(session: Session) -> str:
    view = session.debugging.view
    if view.state in ("running", "stopping", "starting"):
        return RUNS
    return "" if view.state == "standing" else NOT_BEGUN


def _may_go_on(session: Session) -> str:
    failed = session.debugging.view.stop.reason == "failed"
    return _stands(session) or ("The operator failed: step back or restart." if failed else "")


def _may_step(session: Session) -> str:
    return "" if session.debugging.stepping else _may_go_on(session)


def _may_step_back(session: Session) -> str:
    if session.debugging.stepping:
        return ""
    at_start = session.debugging.view.stop.position == 0
    return _stands(session) or ("No operator has been computed yet." if at_start else "")


def _may_restart(session: Session) -> str:
    view = session.debugging.view
    if view.state == "ended" and session.debugging.can_restart:
        return ""
    return _stands(session)


def _may_stop(session: Session) -> str:
    view = session.debugging.view
    return "" if view.state in ("starting", "running", "standing", "stopping") else NOT_BEGUN


def _may_mark(session: Session) -> str:
    return "" if session.debugging.view.parts else NOT_BEGUN


def _diverged(session: Session, run: Run) -> str:
    reason = session.debugging.not_of(run)
    if reason:
        return reason
    return "" if run.state == "diverged" else "The loss of this run did not become NaN or infinite."


# One of the first two is enabled at a time.
DEBUG = Command(
    "debug", "Start debugging", "Run",
    "Compute one batch of the selected run or of the edited model operator by operator.", keys="F5",
    icon="bug", possible=_may_debug, shown=(Position(PAGE, 1, primary=True),), group=GROUP, button="Start",
    separate=True, on_page=PAGE
)
CONTINUE = Command(
    "debug_continue", "Continue", "Run", "Compute up to the next breakpoint, condition or the end.",
    keys="F5", icon="play", possible=_may_go_on, shown=(Position(PAGE, 2, primary=True),), group=GROUP,
    on_page=PAGE
)
STEP = Command(
    "debug_step", "Step", "Run", "Compute the next operator.", keys="F10", icon="step", possible=_may_step,
    shown=(Position(PAGE, 4),), group=GROUP, on_page=PAGE
)
STEP_BACK = Command(
    "debug_step_back", "Step back", "Run", "Return to the operator before.", keys="Ctrl+F10",
    icon="step-back", possible=_may_step_back, shown=(Position(PAGE, 3),), group=GROUP, on_page=PAGE
)
UNTIL_NAN = Command(
    "debug_until_nan", "Until NaN", "Run",
    "Continue to the first operator whose inputs are finite and whose result is not.", icon="search",
    possible=_may_go_on, shown=(Position(PAGE, 5),), group=GROUP
)
BREAKPOINT = Command(
    "debug_breakpoint", "Toggle breakpoint", "Run",
    "Stop at the selected operator, group or line, or no longer.", keys="F9", icon="breakpoint",
    possible=_may_mark, shown=(Position(PAGE, 6),), group=GROUP, button="Breakpoint", on_page=PAGE
)
RESTART = Command(
    "debug_restart", "Restart", "Run",
    "Begin the batch again with its own values; changed values are undone, breakpoints stay.",
    icon="refresh", possible=_may_restart, shown=(Position(PAGE, 7),), group=GROUP
)
STOP = Command(
    "debug_stop", "Stop debugging", "Run",
    "Hold at the next operator; end debugging if nothing is being computed.", keys="Shift+F5", icon="stop",
    possible=_may_stop, shown=(Position(PAGE, 8),), group=GROUP, button="Stop", on_page=PAGE
)
FIND_OPERATOR = Command(
    "find_operator", "Find the operator", "Run",
    "Replay a diverged run from its last checkpoint, and stop at the first operator with a bad value.",
    icon="bug", possible=of_run(_diverged), shown=(Position("run strip", 5), Position("run menu", 11)),
    group="Selected run"
)
