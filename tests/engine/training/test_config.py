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
        ("optimizer", "adamm", "no such choice: got 'adamm'; choose adam or sgd"),
        ("learning_rate", 0.0, "must be a positive number: got 0.0; give e.g. 0.001"),
        ("learning_rate", float("nan"), "must be a positive number: got nan"),
        ("learning_rate", "fast", "must be a number: got 'fast'"),
        ("learning_rate", True, "must be a number: got True"),
        ("batch_size", 0, "must be from 1 to 1000000: got 0; give e.g. 64"),
        ("epochs", 1.5, "must be a whole number: got 1.5"),
        ("epochs", True, "must be a whole number: got True"),
        ("seed", -1, "must be from 0 to"),
        ("static", "yes", "must be True or False: got 'yes'"),
        ("device", "tpu", "no such device: got 'tpu'; choose cpu, gpu or gpu:0"),
        ("device", "cpu:1", "no such device"),
        ("device", "gpu:x", "no such device"),
        ("checkpoint_every", -5, "must be from 0 to"),
        ("keep", 0, "must be from 1 to"),
        ("on_divergence", "cry", "choose stop or continue"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        TrainingConfig(**{name: value})
    assert str(caught.value).startswith(f"TrainingConfig.{name}: ")
    assert message in str(caught.value)


def test_good_values_pass_and_survive_a_trip_as_plain_values() -> None:
    config = TrainingConfig(device="gpu:1", learning_rate=1, seed=2**40, samples=10)
    assert TrainingConfig.from_dict(config.as_dict()) == config


def test_an_unknown_setting_is_named_with_those_there_are() -> None:
    with pytest.raises(ArgumentError, match=r"no such setting: 'momentum'; the settings are data, model"):
        TrainingConfig.from_dict({"momentum": 0.9})


def test_what_may_change_when_a_run_is_continued() -> None:
    config = TrainingConfig(epochs=1)
    assert config.continued(epochs=5, keep=1, seed=0).epochs == 5
    with pytest.raises(ArgumentError, match=r"TrainingConfig\.batch_size: .* has 64, asked for 32"):
        config.continued(batch_size=32)
