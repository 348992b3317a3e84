"""The command sweep: many trainings with different settings, compared; stopped and resumed as a whole."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resources import installing
from resources.run_folders import new_sweep_folder
from resources.settings import RUN_SETTINGS
from studio.cli.application import app
from studio.cli.options import Json, Trust, given_options, read_all_parameters, with_settings
from studio.cli.output import fail, note, one_line_errors
from studio.cli.signals import interruptible
from studio.cli.sweep.sweep_output import SweepLines, list_trials, show_best, show_table
from studio.cli.trust import require_sweep_trust

if TYPE_CHECKING:
    from studio.session.sweep.document import Sweep
    from studio.session.sweep.pool import Pool

_PANEL = "Sweep"
# What may be given when a sweep is resumed: how it is carried out, not what it is.
_RESUMED = ("out", "resume", "retry", "jobs", "dry_run", "trust", "as_json", "scheduler", "trust_scheduler")


class Metric(StrEnum):
    """What trials are compared by."""

    accuracy = "accuracy"
    loss = "loss"


class Goal(StrEnum):
    """Which end of the metric is the better one."""

    max = "max"
    min = "min"


class SearchKind(StrEnum):
    """How the trials are chosen."""

    grid = "grid"
    random = "random"
    bayes = "bayes"


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster: the scheduler's address, and whether it is taken without encryption."""

    address: str
    trust: bool


@dataclass(frozen=True)
class Place:
    """Where trials are trained, how many at once, and whether own code was agreed to."""

    jobs: int
    trust: bool
    cluster: Cluster | None


def _option(text: str, *names: str, metavar: str | None = None, minimum: int | None = None) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, min=minimum, rich_help_panel=_PANEL)


@app.command()
@with_settings
def sweep(
    context: typer.Context,
    param: Annotated[
        list[str] | None,
        _option(
            "A setting to vary: lr=0.1,0.01, lr=log:1e-4..1e-1, optimizer-param.beta1=0.8,0.9.",
            metavar="NAME=VALUES",
        ),
    ] = None,
    search: Annotated[
        SearchKind | None,
        _option(
            "grid: every combination; random: --trials draws; bayes: --trials chosen by earlier results, "
            "--jobs at once (extra sweep)."
        ),
    ] = None,
    trials: Annotated[int, _option("Draw or search so many trials with --seed; 0: all.", minimum=0)] = 0,
    halving: Annotated[
        bool,
        _option(
            "Stop the worse early: after --min-epochs, then --eta times as many, one in eta goes on.",
            "--halving",
        ),
    ] = False,
    eta: Annotated[int, _option("One trial in so many goes on from a rung.", minimum=2)] = 3,
    min_epochs: Annotated[int, _option("Epochs of the first rung.", minimum=1)] = 1,
    metric: Annotated[Metric, _option("Compare by accuracy (numbers: R²) or loss.")] = Metric.accuracy,
    goal: Annotated[Goal | None, _option("Usually max for accuracy, min for loss.")] = None,
    jobs: Annotated[int, _option("Trainings at once; 0: one a core where memory allows.", minimum=0)] = 0,
    scheduler: Annotated[
        str,
        _option("Train on a Dask cluster that is there: tls://HOST:PORT (extra sweep).", metavar="ADDRESS"),
    ] = "",
    trust_scheduler: Annotated[
        bool,
        _option(
            "Take one without encryption (tcp://): anyone who reaches it can run code here.",
            "--trust-scheduler",
        ),
    ] = False,
    out: Annotated[str, _option("The sweep's folder; a new one in runs/ unless given.")] = "",
    resume: Annotated[bool, _option("Continue the sweep in --out.", "--resume")] = False,
    retry: Annotated[bool, _option("With --resume: failed trials again.", "--retry")] = False,
    dry_run: Annotated[bool, _option("List the trials and train none.", "--dry-run")] = False,
    trust: Trust = False,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Train with many settings and compare."""
    given = [name for name in given_options(context) if name not in _RESUMED]
    if resume and not out:
        raise typer.BadParameter("--resume needs the folder of the sweep: give --out DIR")
    if resume and given:
        raise typer.BadParameter(
            f"a resumed sweep keeps what it was started with: got {_flag(given[0])}; begin a new one for that"
        )
    if retry and not resume:
        raise typer.BadParameter("--retry trains failed trials of a sweep again: give --resume --out DIR")
    with one_line_errors():
        read_all_parameters(settings, settings)
        from studio.session.sweep.document import Halving

        folder = Path(out) if out else new_sweep_folder(Path("runs"))
        halved = Halving(eta=eta, min_epochs=min_epochs) if halving else None
        if not resume:
            settings = _resolved(settings, [*given, *(word.partition("=")[0] for word in param or [])])
        if search is SearchKind.bayes and scheduler and not jobs:
            raise typer.BadParameter("--search bayes proposes --jobs trials at once: give --jobs N")
        chosen = {
            "metric": metric.value,
            "goal": goal.value if goal else None,
            "search": search.value if search else None,
            "jobs": jobs or (_default_jobs() if search is SearchKind.bayes else 1),
        }
        whole = None if resume else _new(settings, param or [], trials=trials, halving=halved, **chosen)
        if whole is not None and 0 < whole.planned < trials:
            note(f"there are no more than {whole.planned} different trials", as_json)
        if dry_run:
            listed = whole or _read(folder)
            _list(listed, folder, as_json)
            if listed.planned > len(listed.trials):
                later = listed.planned - len(listed.trials)
                note(f"{later} more are chosen when these have ended", as_json)
            return
        cluster = Cluster(scheduler, trust_scheduler) if scheduler else None
        _carry_out(folder, whole, Place(jobs, trust, cluster), retry, as_json)


def _resolved(settings: dict[str, Any], given: list[str]) -> dict[str, Any]:
    """``settings``, with what is suggested where the model is ``auto`` and is not varied."""
    from engine.core.errors import ArgumentError
    from engine.training import TrainingConfig
    from engine.training.suggesting.suggest import with_suggestions

    names = {setting.flag.removeprefix("--"): name for name, setting in RUN_SETTINGS.items()}
    stays = [names.get(word.replace("_", "-"), word) for word in given]
    if "model" in stays or settings["model"] != "auto":
        return settings
    try:
        found = with_suggestions(TrainingConfig.from_dict(settings), stays).as_dict()
    except ArgumentError as error:
        raise typer.BadParameter(str(error)) from None
    return {name: found[name] for name in settings}


def _default_jobs() -> int:
    from studio.session.sweep.machine import default_jobs

    return default_jobs()


def _new(settings: dict[str, Any], words: list[str], **chosen: Any) -> Sweep:
    from engine.core.errors import EngineError
    from studio.session.sweep.making import new_sweep

    try:
        return new_sweep(settings, words, **chosen)
    except EngineError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _read(folder: Path) -> Sweep:
    from studio.session.project.project_file import ProjectError
    from studio.session.sweep.document import read_sweep

    try:
        return read_sweep(folder)
    except ProjectError as error:
        fail(str(error))


def _flag(name: str) -> str:
    return RUN_SETTINGS[name].flag if name in RUN_SETTINGS else f"--{name.replace('_', '-')}"


def _list(sweep: Sweep, folder: Path, as_json: bool) -> None:
    if as_json:
        list_trials(sweep, folder)
    else:
        show_table(sweep)


def _carry_out(folder: Path, new: Sweep | None, place: Place, retry: bool, as_json: bool) -> None:
    """Train a new sweep, or what remains of the one in ``folder``; both are looked at under its lock."""
    from engine.core.errors import ArgumentError
    from studio.session.sweep.document import NAME
    from studio.session.sweep.runner import SweepRun, lock_sweep

    if new is None:
        _read(folder)  # before its folder is made
    elif os.path.exists(folder / NAME):  # False too in a folder that is another user's
        raise ArgumentError(
            f"out: the folder already holds a sweep: {folder}; choose another, or give --resume"
        )
    with ExitStack() as stack:
        if not os.path.exists(folder):
            stack.callback(_remove_empty, folder)
        stack.callback(lock_sweep(folder).release)
        sweep = new or _read(folder)
        if new is None:
            require_sweep_trust(folder, sweep, place.trust)
        for trial in sweep.trials:
            if retry and trial.state in ("failed", "diverged"):
                trial.state = "interrupted"
        run = SweepRun(folder, sweep, _pool(sweep, place, as_json))
        lines = SweepLines(sweep, as_json)
        run.tell = lines.on_event
        with interruptible(run), lines:
            run.run()
    if not as_json:
        show_table(sweep)
    show_best(sweep, folder, as_json)
    _end(sweep, folder, run.stopping, place.cluster)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _pool(sweep: Sweep, place: Place, as_json: bool) -> Pool:
    return _local(sweep, place, as_json) if place.cluster is None else _remote(sweep, place, place.cluster)


def _remote(sweep: Sweep, place: Place, cluster: Cluster) -> Pool:
    from studio.session.sweep.pool import require_trusted

    require_trusted(cluster.address, cluster.trust)
    if sweep.models and not place.trust:
        fail(
            f"sweep: the model's code would be sent to {cluster.address} and run there: "
            f"{next(iter(sweep.models))}; give --trust for that"
        )
    try:
        from studio.session.sweep.cluster import ClusterPool
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        fail(f"sweep: --scheduler needs Dask, which is not installed; {installing.extra('sweep')}")
    return ClusterPool(cluster.address, place.jobs)


def _local(sweep: Sweep, place: Place, as_json: bool) -> Pool:
    from engine.training.data import fetch_data, load_data
    from engine.training.sources.options import DataOptions
    from studio.session.sweep.machine import jobs_that_fit
    from studio.session.sweep.pool import LocalPool

    # A search that the window has not begun has no trials yet.
    chosen = [sweep.settings_of(trial) for trial in sweep.trials] or [sweep.settings.as_dict()]
    for name, options in {(each["data"], DataOptions.of(each)) for each in chosen}:
        fetch_data(name, lambda text: note(text, as_json=True))
        load_data(name, options=options)  # what is wrong with it is said once, before anything starts
    fit = jobs_that_fit()
    if place.jobs and fit and place.jobs > fit:
        note(f"--jobs {place.jobs}: the free memory has room for about {fit} small trainings", as_json)
    return LocalPool(place.jobs or _default_jobs(), place.trust)


def _end(sweep: Sweep, folder: Path, stopped: bool, cluster: Cluster | None) -> None:
    """Fail where the sweep did not do all it was asked to; a loss that diverged is a result, too."""
    from studio.session.sweep.results import best_trial
    from studio.session.sweep.search.rounds import OPEN

    failed = [trial for trial in sweep.trials if trial.state == "failed"]
    started = sum(trial.state in OPEN for trial in sweep.trials)
    left = started + sweep.planned - len(sweep.trials)
    resume = f"model-studio sweep --out {folder} --resume"
    if cluster is not None:
        resume += f" --scheduler {cluster.address}{' --trust-scheduler' if cluster.trust else ''}"
    if stopped and left:
        fail(f"stopped: {left} of {sweep.planned} trials are left; continue with: {resume}")
    if left:
        fail(f"{left} of {sweep.planned} trials were stopped from outside; continue with: {resume}")
    if failed:
        first = failed[0]
        fail(
            f"{len(failed)} of {sweep.planned} trials failed: trial {first.number}: {first.message}; "
            f"train them again with: {resume} --retry"
        )
    if best_trial(sweep) is None:
        diverged = [trial for trial in sweep.trials if trial.state == "diverged"]
        what = "every trial diverged" if diverged else "every trial is invalid"
        fail(f"{what}: {(diverged or sweep.trials)[0].message}")
