"""The next trial of a search in the window's queue: proposed when the queue comes to it."""

from __future__ import annotations

from pathlib import Path

from studio.session.project.project_file import ProjectError
from studio.session.sweep.document import read_sweep, write_sweep
from studio.session.sweep.runner import lock_sweep
from studio.session.sweep.search.kinds import proposer
from studio.session.sweep.search.rounds import Propose, extend
from studio.session.train.run_settings import RunSettings


def take_next(folder: Path, propose: Propose | None = None) -> tuple[str, RunSettings] | None:
    """The name and the settings of the trial to train now, which is running from then on in sweep.json.

    Returns None where the search has no more trials: they were trained on the command line, or are invalid. A
    trial that was interrupted does not hold the search up; it counts when it has been resumed and has ended.

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
        waiting = [trial for trial in sweep.trials if trial.state == "waiting"]
        while not waiting and len(sweep.trials) < sweep.search.trials:
            waiting = [trial for trial in extend(sweep, propose, 1) if trial.state == "waiting"]
        if waiting:
            waiting[0].state = "running"
        write_sweep(folder, sweep)
        return (waiting[0].name, RunSettings(**sweep.settings_of(waiting[0]))) if waiting else None
    finally:
        lock.release()


def give_back(folder: Path, name: str) -> None:
    """The trial waits again: it did not start. Raises as ``take_next``."""
    lock = lock_sweep(folder)
    try:
        sweep = read_sweep(folder)
        for trial in sweep.trials:
            if trial.name == name and trial.state == "running":
                trial.state = "waiting"
        write_sweep(folder, sweep)
    finally:
        lock.release()
