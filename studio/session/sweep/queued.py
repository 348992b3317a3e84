"""A sweep whose trials wait in the window's queue: its folder is made first, each trial's result noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from engine.core.errors import EngineError, InUseError
from resources.run_folders import NEXT_TRIAL, new_sweep_folder
from studio.session.project.project_file import ProjectError
from studio.session.sweep.document import MESSAGE, NAME, Sweep, read_sweep, write_sweep
from studio.session.sweep.making import Kind, new_sweep
from studio.session.sweep.results import NotFiniteError, measured, state_of
from studio.session.sweep.runner import lock_sweep
from studio.session.train.run_settings import RunSettings

if TYPE_CHECKING:
    from studio.session.runs.run_queue import RunQueue
    from studio.session.work.file_thread import FileThreads


def queue_sweep(queue: RunQueue, files: FileThreads, sweep: Sweep, refused: Callable[[str], object]) -> None:
    """Write the sweep into a new folder of the project and queue its trials; ``refused`` gets why not.

    What is left of it can be trained by ``model-studio sweep --out FOLDER --resume`` too.
    """
    runs_folder = queue.folder

    def write() -> str:
        folder = new_sweep_folder(runs_folder)
        lock = lock_sweep(folder)
        try:
            write_sweep(folder, sweep)
        finally:
            lock.release()
        return folder.name

    def written(name: str) -> None:
        if queue.folder != runs_folder:
            refused(f"sweep: another project is open; train it from {runs_folder / name}")
            return
        if sweep.search is None:
            trials = [trial for trial in sweep.trials if trial.state == "waiting"]
            settings = [RunSettings(**sweep.settings_of(trial)) for trial in trials]
            places = [f"{name}/{trial.name}" for trial in trials]
        else:
            settings = [sweep.settings] * sweep.search.trials
            places = [f"{name}/{NEXT_TRIAL}"] * sweep.search.trials
        reason = queue.add(settings, places)
        if reason:
            refused(reason)

    def failed(error: Exception) -> None:
        refused(str(error))

    files.writing.attempt(write, written, failed, (EngineError, OSError))


def sweep_of_words(
    settings: RunSettings,
    words: Sequence[str],
    trials: int,
    search: str | None = None,
    seed: int | None = None,
) -> Sweep:
    """The sweep that these words ask for, ``lr=0.1,0.01``, over the settings that stay.

    Args:
        trials: how many combinations to draw or search; 0 takes all.
        search: as for ``new_sweep``. A search has no trials yet: the queue proposes each when it comes to it.
        seed: of the sweep and its trainings; None for that of the settings.

    Raises:
        ValueError: a parameter, a value or combinations that no training takes. DataError: the file of the
            model does not exist, or what the search needs is not installed.
    """
    values = settings.as_dict()
    if seed is not None:
        values["seed"] = seed
    return new_sweep(values, words, trials=trials, search=cast(Kind | None, search), first_round=False)


def note_trial(folder: Path) -> str:
    """After a training: where ``folder`` is a sweep's trial, write what it has reached into the sweep.

    Returns:
        why that could not be done; empty where it was, and for a run that is not a trial.
    """
    place = folder.parent
    if not (place / NAME).is_file():
        return ""
    try:
        lock = lock_sweep(place)
    except InUseError:
        return ""  # the command line continues the sweep: it reads the run itself
    except (EngineError, OSError) as error:
        return str(error)
    try:
        sweep = read_sweep(place)
        trial = next((each for each in sweep.trials if each.name == folder.name), None)
        if trial is None:
            return ""
        state = state_of(folder)
        epochs = int(sweep.settings_of(trial)["epochs"])
        result = None
        try:
            result = measured(folder, epochs, sweep.metric, sweep.goal)
        except NotFiniteError as error:
            state, trial.message = "diverged", str(error)[:MESSAGE]
        except EngineError:
            pass  # its journal can't be read: it has not come so far
        if result is not None and state in ("finished", "stopped"):
            trial.measured, trial.state = [result], "done"
        elif state == "diverged":
            trial.state = "diverged"
        else:
            trial.state = "failed" if state == "failed" else "interrupted"
        write_sweep(place, sweep)
    except (EngineError, ProjectError, OSError) as error:
        return str(error)
    finally:
        lock.release()
    return ""
