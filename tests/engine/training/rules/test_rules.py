"""Optimizers and schedules of a run: all that the engine has, made with their parameters and moved on."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from engine import nn, optimizer
from engine.core.errors import ArgumentError
from engine.nn.clip import ClipGradByGlobalNorm
from engine.optimizer import lr
from engine.training import TrainingConfig
from engine.training.rules.rules import make_optimizer, make_schedule
from engine.training.rules.table import describe_parameter, is_offered
from engine.training.rules.words import LEFT_OUT, LEFT_OUT_OF, MORE_OF, NOT_OFFERED, WORDS, WORDS_OF
from resources.settings import Rule, Setting, optimizers, schedules

RULES = [*optimizers().values(), *(rule for rule in schedules().values() if rule.class_name)]


def classes_of_the_engine() -> dict[str, type[Any]]:
    found = {}
    for package, base in ((optimizer, optimizer.Optimizer), (lr, lr.LRScheduler)):
        for name in package.__all__:
            cls = getattr(package, name)
            if inspect.isclass(cls) and issubclass(cls, base) and cls is not base:
                found[name] = cls
    return found


def config_of(rule: Rule, **given: Any) -> TrainingConfig:
    sort = "optimizer" if rule.class_name in optimizer.__all__ else "schedule"
    return TrainingConfig(**{sort: rule.name, f"{sort}_params": {**rule.starting_values(), **given}})


def make(config: TrainingConfig, steps_per_epoch: int = 200) -> Any:
    """The optimizer over one weight, with the schedule of the settings."""
    schedule = make_schedule(config, steps_per_epoch)
    return make_optimizer(config, schedule, nn.Linear(2, 1).parameters())


def test_every_optimizer_and_schedule_can_be_chosen_or_has_a_reason() -> None:
    offered = {rule.class_name for rule in RULES}
    assert offered | NOT_OFFERED.keys() == classes_of_the_engine().keys()
    assert not offered & NOT_OFFERED.keys()


@pytest.mark.parametrize("name", classes_of_the_engine())
def test_every_parameter_has_words_or_a_reason(name: str) -> None:
    for parameter in inspect.signature(classes_of_the_engine()[name], eval_str=True).parameters.values():
        is_rate = parameter.name in ("max_learning_rate", "base_learning_rate")
        if name not in NOT_OFFERED and not is_rate and is_offered(name, parameter):
            assert describe_parameter(name, parameter).help


def test_no_words_are_left_of_parameters_that_are_gone() -> None:
    there = {
        (name, parameter)
        for name, cls in classes_of_the_engine().items()
        for parameter in inspect.signature(cls).parameters
    }
    names = {parameter for _, parameter in there}
    assert WORDS.keys() | LEFT_OUT.keys() <= names
    assert WORDS_OF.keys() | LEFT_OUT_OF.keys() <= there
    assert MORE_OF.keys() | NOT_OFFERED.keys() <= {name for name, _ in there}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_defaults_are_those_of_the_constructor(rule: Rule) -> None:
    cls = classes_of_the_engine()[rule.class_name]
    for name, parameter in inspect.signature(cls).parameters.items():
        setting = rule.parameter(name)
        if setting is not None and parameter.default not in (None, inspect.Parameter.empty):
            assert setting.default == parameter.default
            assert not setting.required


def edges(setting: Setting) -> list[Any]:
    """Values at the edges of what the setting takes."""
    if setting.kind == "bool":
        return [False, True]
    if setting.kind == "choice":
        return [value for value, _ in setting.choices]
    if setting.kind not in ("int", "float"):
        return [setting.default]
    values = [setting.minimum, setting.maximum]
    values += [None if setting.above is None else setting.above + 1e-6]
    values += [None if setting.below is None else setting.below - 1e-6]
    kind = int if setting.kind == "int" else float
    return [kind(value) for value in values if value is not None]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_engine_takes_what_the_declared_range_takes(rule: Rule) -> None:
    # That a rate rises, and that a cycle is as long as the run, are matters between two values: the schedule
    # itself checks them.
    between_two = {("linear_warmup", "start_lr"), ("one_cycle_lr", "total_steps")}
    for setting in rule.parameters:
        for value in edges(setting):
            assert setting.problem(value) == ""
            if (rule.name, setting.name) not in between_two:
                assert make(config_of(rule, **{setting.name: value})).get_lr() >= 0


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_value_outside_is_refused_with_name_value_and_range(rule: Rule) -> None:
    for setting in rule.parameters:
        bad = "sideways" if setting.kind in ("choice", "bool") else -1e9
        with pytest.raises(ArgumentError, match=rf"_params\.{setting.name}: .*got"):
            config_of(rule, **{setting.name: bad})


def test_parameters_reach_the_optimizer() -> None:
    made = make(config_of(optimizers()["momentum"], momentum=0.5, use_nesterov=True, weight_decay=0.1))
    assert isinstance(made, optimizer.Momentum)
    assert made._groups[0].options == {"momentum": 0.5, "use_nesterov": True, "rescale_grad": 1.0}
    assert made.regularization.coeff == 0.1
    assert make(TrainingConfig()).regularization is None


def test_gradients_are_clipped_by_their_global_norm() -> None:
    clip = make(TrainingConfig(clip_norm=0.5))._groups[0].clip
    assert isinstance(clip, ClipGradByGlobalNorm)
    assert clip.clip_norm == 0.5
    assert make(TrainingConfig())._groups[0].clip is None


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.rate == ""], ids=lambda rule: rule.name)
def test_only_piecewise_names_all_its_rates(rule: Rule) -> None:
    assert rule.name == "piecewise_decay"
    assert make(config_of(rule, boundaries=[1], values=[0.5, 0.25])).get_lr() == 0.5


def rates(config: TrainingConfig, steps_per_epoch: int) -> list[float]:
    """The rate of every step of a run."""
    schedule = make_schedule(config, steps_per_epoch)
    assert schedule is not None
    seen = []
    for epoch in range(config.epochs):
        for _ in range(steps_per_epoch):
            seen.append(float(schedule.scheduler()))
            schedule.after_batch()
        measured = {"validation_loss": 1.0, "validation_accuracy": 0.1 * epoch, "train_loss": 1.0}
        schedule.after_epoch(measured)
    return seen


def test_a_schedule_moves_on_with_each_epoch_or_each_batch() -> None:
    chosen: dict[str, Any] = {
        "learning_rate": 1.0,
        "epochs": 2,
        "schedule": "step_decay",
        "schedule_params": {"step_size": 1, "gamma": 0.5},
    }
    assert rates(TrainingConfig(**chosen), 3) == [1.0, 1.0, 1.0, 0.5, 0.5, 0.5]
    each_batch = rates(TrainingConfig(**chosen, schedule_each="batch"), 3)
    assert each_batch == [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125]


def test_zero_stands_for_the_whole_run() -> None:
    epochs = rates(TrainingConfig(schedule="cosine_annealing_decay", epochs=4, learning_rate=1.0), 2)
    np.testing.assert_allclose(epochs[::2], (1 + np.cos(np.pi * np.arange(4) / 4)) / 2, rtol=1e-12)
    cycle = rates(TrainingConfig(schedule="one_cycle_lr", epochs=4, learning_rate=1.0), 25)
    assert max(cycle) == pytest.approx(1.0)
    assert cycle[-1] == pytest.approx(0.0001)


def test_the_rate_of_the_run_is_where_a_warm_up_leads() -> None:
    config = TrainingConfig(
        schedule="linear_warmup", schedule_params={"warmup_steps": 4}, epochs=1, learning_rate=1.0
    )
    assert rates(config, 6) == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]


def test_a_plateau_is_that_of_the_chosen_metric() -> None:
    parameters = {"patience": 0, "factor": 0.5}
    flat = TrainingConfig(
        schedule="reduce_on_plateau", schedule_params=parameters, epochs=4, learning_rate=1.0
    )
    assert rates(flat, 1) == [1.0, 1.0, 0.5, 0.25]  # a loss that stays
    rising = flat.changed(schedule_params={**parameters, "metric": "validation_accuracy"})
    assert rates(rising, 1) == [1.0, 1.0, 1.0, 1.0]  # an accuracy that rises


def test_a_schedule_that_ends_before_the_run_is_refused_before_it() -> None:
    config = TrainingConfig(schedule="one_cycle_lr", schedule_params={"total_steps": 10}, epochs=2)
    with pytest.raises(
        ArgumentError, match=r"one_cycle_lr can't continue to the end .* the run has 14 such steps"
    ):
        make_schedule(config, 7)
    assert make_schedule(config, 5) is not None
