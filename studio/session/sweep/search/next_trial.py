"""The next trial of a search in the window's queue: proposed when the queue comes to it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from resources.locks import LOCK_NAME, holder_of
from studio.session.project.project_file import ProjectError
from studio.session.sweep.document import State, Sweep, Trial, read_sweep, write_sweep
from studio.session.sweep.parameters import short_text
from studio.session.sweep.results import state_of
from studio.session.sweep.runner import lock_sweep
from studio.session.sweep.search.kinds import proposer
from studio.session.sweep.search.rounds import Propose, extend
from studio.session.train.run_settings import RunSettings


@dataclass(frozen=True)
class NextTrial:
    """The trial to train now. It is taken ``again`` where its training was interrupted; ``choices`` has in
    words what it chose."""

    name: str
    settings: RunSettings
    again: bool = False
    choices: str = ""


def take_next(
    folder: Path, tried: Collection[str] | None = None, propose: Propose | None = None
) -> NextTrial | None:
    """The trial to train now, which is running from then on in sweep.json.

    Returns None where the search has no more trials: they were trained on the command line, or are invalid.

    Args:
        tried: take trials first that were interrupted, but for these, so that what is proposed is the same as
            without the interruption; None to propose without them.

    Raises:
        ProjectError, DataError, SaveError: the sweep can't be read or written, optuna is not installed.
        InUseError: another process continues the sweep.
    """
    lock = lock_sweep(folder)
    try:
        sweep = read_sweep(folder)
        if sweep.search is None:
            raise ProjectError(f"{folder}: the sweep has no search; remove the entry from the queue")
        propose = propose or proposer(sweep.search)
        found = None if tried is None else _interrupted(folder, sweep, tried)
        again = found is not None
        while found is None:
            found = next((trial for trial in sweep.trials if trial.state == "waiting"), None)
            if found is None and not _propose_one(sweep, propose):
                break
        if found is not None:
            found.state = "running"
        write_sweep(folder, sweep)
        if found is None:
            return None
        words = short_text(found.choices)
        return NextTrial(found.name, RunSettings(**sweep.settings_of(found)), again, words)
    finally:
        lock.release()


def _propose_one(sweep: Sweep, propose: Propose) -> bool:
    assert sweep.search is not None
    return len(sweep.trials) < sweep.search.trials and bool(extend(sweep, propose, 1))


def _interrupted(folder: Path, sweep: Sweep, tried: Collection[str]) -> Trial | None:
    """The first trial that a crash or a closed window ended, and no process trains; no cancelled one."""
    for trial in sweep.trials:
        place = folder / trial.name
        if trial.state in ("running", "interrupted") and trial.name not in tried:
            if holder_of(place / LOCK_NAME) is None and state_of(place) in ("", "interrupted"):
                return trial
    return None


def give_back(folder: Path, name: str, state: State) -> None:
    """The trial did not start, and has the state that it had before. Raises as ``take_next``."""
    lock = lock_sweep(folder)
    try:
        sweep = read_sweep(folder)
        for trial in sweep.trials:
            if trial.name == name and trial.state == "running":
                trial.state = state
        write_sweep(folder, sweep)
    finally:
        lock.release()
