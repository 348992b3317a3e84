"""TrainingConfig: each field refuses what it does not take, and says field, value and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from engine.core.errors import ArgumentError
from engine.training import TrainingConfig


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("data", "", "must be a name: got ''"),
        ("model", 3, "must be a name: got 3"),
        ("optimizer", "adamm", "no such choice: got 'adamm'; choose adadelta, adagrad, adam, adamw"),
        ("learning_rate", 0.0, "must be a positive number: got 0.0; give e.g. 0.001"),
        ("learning_rate", float("nan"), "must be a positive number: got nan"),
        ("learning_rate", "fast", "must be a number: got 'fast'"),
        ("learning_rate", True, "must be a number: got True"),
        ("batch_size", 0, "must be from 1 to 1000000: got 0; give e.g. 64"),
        ("epochs", 1.5, "must be an integer: got 1.5"),
        ("epochs", True, "must be an integer: got True"),
        ("seed", -1, "must be from 0 to"),
        ("static", "yes", "must be true or false: got 'yes'"),
        ("device", "tpu", "no such device: got 'tpu'; choose cpu, gpu, gpu:1 or auto"),
        ("device", "cpu:1", "no such device"),
        ("device", "gpu:x", "no such device"),
        ("checkpoint_every", -5, "must be from 0 to"),
        ("keep", 0, "must be from 1 to"),
        ("on_divergence", "cry", "choose stop or continue"),
        ("clip_norm", -1.0, "must be at least 0: got -1.0; give e.g. 1.0, or 0 for no clipping"),
        ("optimizer_params", [0.9], "must be values by name: got [0.9]"),
        ("schedule", "cosine", "no such choice: got 'cosine'; choose constant, cosine_annealing_decay"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        TrainingConfig(**{name: value})
    assert str(caught.value).startswith(f"TrainingConfig.{name}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"optimizer_params": {"beta1": 1.5}},
            "optimizer_params.beta1: must be at least 0 and below 1: got 1.5; give e.g. 0.9",
        ),
        (
            {"optimizer_params": {"momentum": 0.9}},
            "optimizer_params.momentum: adam has no such parameter: got 'momentum'; it takes beta1, beta2",
        ),
        (
            {"schedule": "step_decay"},
            "schedule_params.step_size: step_decay needs it: got none; give an integer, at least 1",
        ),
        (
            {"schedule": "multi_step_decay", "schedule_params": {"milestones": [4, 2]}},
            "schedule_params: MultiStepDecay: milestones must rise: got [4, 2]; give multi_step_decay",
        ),
        ({"schedule_params": {"gamma": 0.5}}, "schedule_params.gamma: constant has no such parameter"),
        (
            {"schedule": "reduce_on_plateau", "schedule_each": "batch"},
            "schedule_each: reduce_on_plateau follows what is measured at the end of an epoch",
        ),
        ({"optimizer": "lbfgs", "clip_norm": 1.0}, "clip_norm: lbfgs takes no clipping"),
    ],
)
def test_parameters_are_checked_by_what_they_belong_to(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        TrainingConfig(**settings)
    assert str(caught.value).startswith(f"TrainingConfig.{message}")


def test_a_config_without_parameters_still_loads() -> None:
    recorded = {
        "data": "digits",
        "model": "lenet",
        "optimizer": "momentum",
        "learning_rate": 0.01,
        "batch_size": 32,
        "epochs": 1,
        "seed": 7,
        "static": False,
        "device": "cpu",
        "out": "runs/a",
        "checkpoint_every": 100,
        "keep": 2,
        "on_divergence": "stop",
        "samples": 50,
    }
    config = TrainingConfig.from_dict(recorded)
    assert {name: value for name, value in config.as_dict().items() if name in recorded} == recorded
    assert (config.optimizer_params, config.schedule, config.clip_norm) == ({}, "constant", 0.0)


def test_good_values_pass_and_survive_a_trip_as_plain_values() -> None:
    config = TrainingConfig(device="gpu:1", learning_rate=1, seed=2**40, samples=10)
    assert TrainingConfig.from_dict(config.as_dict()) == config


def test_an_unknown_setting_is_named_with_those_there_are() -> None:
    with pytest.raises(ArgumentError, match=r"no such setting: 'momentum'; the settings are data, kind"):
        TrainingConfig.from_dict({"momentum": 0.9})


def test_a_continued_run_may_change_only_changeable_settings() -> None:
    config = TrainingConfig(epochs=1)
    assert config.continued(epochs=5, keep=1, seed=0).epochs == 5
    with pytest.raises(ArgumentError, match=r"TrainingConfig\.batch_size: .* has 64, asked for 32"):
        config.continued(batch_size=32)
    with pytest.raises(ArgumentError, match=r"optimizer_params: .* has \{\}, asked for \{'beta1': 0.8\}"):
        config.continued(optimizer_params={"beta1": 0.8})
