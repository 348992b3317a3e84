"""RunLook: what is read of a run before it continues."""

from __future__ import annotations

from dataclasses import dataclass

from studio.session.project.code_agreement import CodeCheck
from studio.session.runs.run_history import RunHistory
from studio.session.runs.runs_folder import Run


@dataclass(frozen=True)
class RunLook:
    """A run as it is on disk, None where there is none; whether its code may run; its history, or the error
    of reading that."""

    run: Run | None
    check: CodeCheck
    history: RunHistory | Exception
