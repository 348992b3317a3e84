"""The settings of a run resolved by its data: kind, task, loss, and the arguments of its network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.errors import ArgumentError
from resources.families import FAMILIES, fitting
from resources.settings.data import STORED

if TYPE_CHECKING:
    from engine.training.config import TrainingConfig
    from engine.training.sources.spec import DataSpec

LOSSES = {"classes": ("cross_entropy", "label_smoothing", "margin"), "numbers": ("mse", "mae", "huber")}
"""The losses of each task; the first one is what ``auto`` stands for."""
_EARLIER = ("kind", "task", "missing", "damaged_share")


def with_kind(config: TrainingConfig) -> TrainingConfig:
    """``config`` as its data is read: for a class in a file of one's own, data is as it is stored, unless a
    kind is given."""
    if config.kind == "auto" and config.model not in FAMILIES and config.model != "auto":
        return config.changed(kind=STORED)
    return config


def fitted(config: TrainingConfig, spec: DataSpec) -> TrainingConfig:
    """``config`` with the kind, the task and the loss that ``auto`` stands for, and with the arguments that
    its network takes for such data; arguments that are given stay. What it gives is what a run records.

    Raises:
        ArgumentError: the network does not fit the data, or the loss does not fit the task; says what does.
    """
    config = with_kind(config)
    losses = LOSSES[spec.task]
    loss = losses[0] if config.loss == "auto" else config.loss
    if loss not in losses:
        raise ArgumentError(
            f"loss: {loss} does not fit a task that predicts {spec.task}: choose {', '.join(losses)} or auto"
        )
    if spec.task == "numbers" and config.balance != "none":
        raise ArgumentError(
            f"balance: {config.balance} is for classes, and this task predicts numbers; choose none"
        )
    if spec.feeds and config.model in FAMILIES:
        arrays = [feed.array for feed in spec.feeds]
        raise ArgumentError(
            f"model: {config.model} takes one input, and the data has {len(arrays)}: {', '.join(arrays)}; "
            "choose FILE.py:Class of your own whose forward takes them, or one array as input_name"
        )
    params = dict(config.model_params)
    family = FAMILIES.get(config.model)
    if family is not None and config.kind != STORED:
        model_spec = spec.model_spec()
        if problem := family.problem(model_spec):
            raise ArgumentError(
                f"model: {config.model} does not fit the data: {problem}; choose "
                f"{', '.join(fitting(model_spec)) or 'FILE.py:Class of your own'}"
            )
        params = {**family.arguments(model_spec), **params}
    kind = config.kind if config.kind == STORED else spec.kind
    return config.changed(kind=kind, task=spec.task, loss=loss, model_params=params)


def as_resumed_run(config: TrainingConfig, recorded: TrainingConfig) -> TrainingConfig:
    """``config`` for resuming the run that ``recorded`` it, with as many threads unless it says how many.

    Raises:
        ArgumentError: it differs where that would make it another run.
    """
    config = _with_recorded(config, recorded)
    recorded.continued(**config.as_dict())
    return config.changed(threads=config.threads or recorded.threads)


def _with_recorded(config: TrainingConfig, recorded: TrainingConfig) -> TrainingConfig:
    """``config`` with what the run has ``recorded`` where it leaves the choice open."""
    names = ["kind", "task", "loss", "model"]
    changes = {name: getattr(recorded, name) for name in names if getattr(config, name) == "auto"}
    if recorded.kind == STORED and config.kind == "auto":
        changes.update({name: getattr(recorded, name) for name in _EARLIER})
    given, there = config.model_params, recorded.model_params
    if all(name in there and there[name] == value for name, value in given.items()):
        changes["model_params"] = there
    return config.changed(**changes)
