"""What stands under *Run* next to the page Train: names and values about the run that is shown there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject

from resources import compiling, quantities
from resources.metrics import metric_of
from resources.words import shown
from studio.session.runs.runs_folder import Run
from studio.session.train.compute_info import ComputeInfo
from studio.session.train.run_settings import summary_of_update, title_of
from studio.session.train.train_view import TrainViewModel

MOST_WORKERS = 8


def facts_of_training(view: TrainViewModel, name: str, where: QObject) -> list[tuple[str, str]]:
    """About the training that goes on or ended last, the run ``name``; ``where`` translates."""
    number, tr = quantities.number, where.tr
    checkpoint = tr("step {0}").format(view.last_checkpoint_step) if view.last_checkpoint else ""
    best = ""
    if not math.isnan(view.best_accuracy):
        best = metric_of("classes").named_text(view.best_accuracy)
    elif not math.isnan(view.best_r2):
        best = metric_of("numbers").named_text(view.best_r2)
    return [
        (tr("Name"), name),
        (tr("Parameters"), number(view.parameters)),
        (
            tr("Learning rate"),
            "" if math.isnan(view.learning_rate) else quantities.learning_rate(view.learning_rate),
        ),
        (
            tr("Images"),
            tr("{0} and {1} for tests").format(number(view.train_samples), number(view.test_samples)),
        ),
        (tr("Best"), best),
        (tr("Chosen on"), _chosen_on(view, where) if best else ""),
        (tr("Checkpoint"), checkpoint),
        *facts_of_computing(view.computing, where, compiling.missing()),
        *(
            (tr("Worker {0}").format(pace["rank"]), words_of_pace(pace, where))
            for pace in slowest(view.ranks)
        ),
    ]


def _chosen_on(view: TrainViewModel, where: QObject) -> str:
    """The data on which the best checkpoint was chosen."""
    if view.chosen_on == "validation":
        return where.tr("validation data")
    return where.tr("the test data, so its figure is a little too good")


def facts_of_run(run: Run, name: str, where: QObject) -> list[tuple[str, str]]:
    """About the run ``name`` in the list of runs."""
    config, tr = run.config, where.tr
    workers = config.get("workers", 1)
    return [
        (tr("Name"), name),
        (tr("State"), state_of(run, where)),
        (tr("Trained by"), shown(run.holder)),
        (tr("Reason"), shown(run.failure)),
        (tr("Data"), tr(title_of(str(config.get("data", ""))))),
        (tr("Optimizer"), summary_of_update(config)),
        (tr("Batch size"), str(config.get("batch_size", ""))),
        (tr("Workers"), str(workers) if workers != 1 else ""),
        (tr("Seed"), str(config.get("seed", ""))),
        (tr("Steps"), tr("{0} of {1}").format(run.step, run.total_steps)),
        (tr("Checkpoint"), tr("step {0}").format(run.checkpoint_step) if run.checkpoint else ""),
        *facts_of_computing(run.computing, where),
    ]


def facts_of_computing(computing: ComputeInfo, where: QObject, missing: str = "") -> list[tuple[str, str]]:
    """What computed a training; nothing about those of older releases, which do not report it. ``missing``:
    what
    compiled kernels need and this computer lacks, for a training that runs on it."""
    tr = where.tr
    kernels = tr("NumPy") if computing.since < 0 else tr("compiled")
    if computing.since < 0 and (why := computing.missing or missing):
        kernels = tr("NumPy ({0})").format(shown(why))
    if computing.since > 0:
        kernels = tr("NumPy until step {0}, then compiled").format(computing.since)
    return [
        (tr("Kernels"), kernels if computing.threads else ""),
        (tr("Threads"), computing.threads),
        (tr("BLAS"), computing.blas),
    ]


def words_of_pace(pace: Mapping[str, Any], where: QObject) -> str:
    """How fast a worker is without the others, and how much it waits for them."""
    speed, waiting = float(pace["steps_per_second"]), quantities.percent(pace["waiting"])
    return where.tr("{0} steps/s, waits {1}").format(f"{speed:.{0 if speed >= 10 else 1}f}", waiting)


def slowest(paces: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """All of a few workers in their order, of many those that the others wait for."""
    first = sorted(paces, key=lambda pace: float(pace["steps_per_second"]))[:MOST_WORKERS]
    return sorted(first, key=lambda pace: int(pace["rank"]))


def state_of(run: Run, where: QObject) -> str:
    """The state in words of a run that this window does not train."""
    if run.holder:
        return where.tr("running in another window")
    return state_word(run.state, where)


def state_word(state: str, where: QObject) -> str:
    """The state of a run from its journal, in words."""
    return {
        "finished": where.tr("finished"),
        "stopped": where.tr("stopped early"),
        "diverged": where.tr("diverged"),
        "failed": where.tr("failed"),
        "running": where.tr("running"),
        "interrupted": where.tr("interrupted"),
        "cancelled": where.tr("cancelled"),
        "missing": where.tr("folder missing"),
        "unreadable": where.tr("not readable"),
    }.get(state, state)


def state_mark(state: str) -> tuple[str, str]:
    """The icon of a state and the token of its colour."""
    return {
        "finished": ("check", "ok"),
        "stopped": ("stop", "mute"),
        "running": ("play", "accent"),
        "interrupted": ("warning", "warn"),
        "missing": ("warning", "warn"),
        "unreadable": ("error", "bad"),
        "diverged": ("error", "bad"),
        "failed": ("error", "bad"),
        "cancelled": ("cancel", "mute"),
        "waiting": ("clock", "mute"),
    }.get(state, ("info", "mute"))


def metric_text(name: str, value: float) -> str:
    """A figure of a run for people; empty where it is not known."""
    if math.isnan(value):
        return ""
    if name == "accuracy":
        return quantities.percent(value)
    if name == "time":
        return quantities.duration(value)
    if name in ("loss", "r2", "mae"):
        return quantities.loss(value)
    return quantities.number(value)
