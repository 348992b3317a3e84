"""The job that checks a saved model in a clean process and times it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

from resources.quantities import duration, number
from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from engine.inference.verify_model import Verified


class CheckProgress(TypedDict):
    """A check has come so far."""

    event: Literal["check_progress"]
    time: float
    message: str
    done: int
    total: int


class ModelChecked(TypedDict):
    """Whether all results agree, and the check in one line."""

    event: Literal["model_checked"]
    time: float
    agrees: bool
    line: str


@job
class CheckModel:
    """Check the saved model at ``path``, a prefix or a file of any format."""

    TITLE: ClassVar = "Checking {0}"
    PAGE: ClassVar = "predict"
    EVENTS: ClassVar = (CheckProgress, ModelChecked)

    path: str

    @property
    def subject(self) -> str:
        return Path(self.path).name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report the progress and one event ``model_checked``."""
        from engine.inference.verify_model import verify_model

        def tell(message: str, done: int, total: int) -> None:
            now = time.time()
            emit({"event": "check_progress", "time": now, "message": message, "done": done, "total": total})

        found = verify_model(self.path, progress=tell)
        line = check_line(found)
        emit({"event": "model_checked", "time": time.time(), "agrees": found.agrees, "line": line})


def check_line(found: Verified) -> str:
    """What a check found, in one line."""
    apart = ", ".join(f"{name} {number(value, digits=3)}" for name, value in found.differences.items())
    times = "; ".join(
        f"batch {each['batch']}: over the limits of an untrusted model"
        if each["p50"] is None
        else f"batch {each['batch']}: p50 {duration(each['p50'])}, p95 {duration(each['p95'])}"
        for each in found.latencies
    )
    verdict = "agrees" if found.agrees else f"DIFFERS by more than {found.tolerance:g}"
    fixed = " (its batch size is fixed)" if found.fixed_batch else ""
    return (
        f"{found.path}: {verdict}; {found.format}, loaded in a clean process in "
        f"{duration(found.seconds_to_load)}; "
        f"largest difference over {found.samples} samples, as a share of the largest result: {apart}; {times}"
        f"{fixed}"
    )
