"""What ``--param`` takes: names of options, lists and ranges; what is said about the rest."""

from __future__ import annotations

from typing import Any

import pytest

from studio.session.sweep.parameters import (
    Parameter,
    parse_parameter,
    short_text,
    with_choices,
)
from studio.session.train.run_settings import RunSettings

SETTINGS = RunSettings(optimizer="momentum").as_dict()


@pytest.mark.parametrize(
    ("word", "name", "values"),
    [
        ("lr=0.1,0.01", "learning_rate", [0.1, 0.01]),
        ("--learning-rate=1e-3", "learning_rate", [0.001]),
        ("batch=32,64", "batch_size", [32, 64]),
        ("batch-size= 32 , 64", "batch_size", [32, 64]),
        ("static=true,false", "static", [True, False]),
        ("optimizer=adam,sgd", "optimizer", ["adam", "sgd"]),
        ("model=lenet,net.py:Net", "model", ["lenet", "net.py:Net"]),
        ("optimizer-param.momentum=0.8,0.9", "optimizer_params.momentum", [0.8, 0.9]),
        ("optimizer_params.momentum=0.8", "optimizer_params.momentum", [0.8]),
    ],
)
def test_values(word: str, name: str, values: list[Any]) -> None:
    assert parse_parameter(word, SETTINGS) == Parameter(name=name, values=values)


def test_ranges() -> None:
    assert parse_parameter("lr=log:1e-4..1e-1", SETTINGS) == Parameter(
        name="learning_rate", low=1e-4, high=0.1, log=True
    )
    assert parse_parameter("batch=16..128", SETTINGS) == Parameter(
        name="batch_size", low=16, high=128, whole=True
    )
    assert parse_parameter("clip-norm=0..1.5", SETTINGS) == Parameter(name="clip_norm", low=0, high=1.5)


def test_a_list_of_lists_has_semicolons_and_parameters_are_those_of_what_varies() -> None:
    words = ["schedule=piecewise_decay,multi_step_decay", "schedule-param.milestones=2,4;3,6"]
    assert parse_parameter(words[1], SETTINGS, words).values == [[2, 4], [3, 6]]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("lr", "must be NAME=VALUES: got 'lr'"),
        ("lr=", "must be NAME=VALUES"),
        ("lrate=0.1", "no such setting: got 'lrate'; did you mean rotate or lr?"),
        ("bach-size=3", "did you mean batch-size"),
        ("out=a,b", "no such setting: got 'out'"),
        ("lr=0.1,x", "lr: must be a number: got 'x'"),
        ("lr=0.1,-1", "lr: must be a positive number: got -1.0"),
        ("lr=0.1,,0.2", "lr: must be a number: got ''"),
        ("batch=1.5", "batch: must be an integer: got '1.5'"),
        ("lr=0.1,0.10", "a value is given twice: got 0.1"),
        ("lr=1e-1..1e-4", "goes from less to more"),
        ("clip-norm=log:0..1", "begins above 0"),
        ("lr=0..1", "must be a positive number: got 0"),
        ("optimizer=log:adam", "log: needs a range"),
        ("optimizer=adamm", "no such choice: got 'adamm'"),
        ("optimizer-param=0.9", "optimizer-param needs the parameter's name"),
        ("optimizer-param.beta1=0.9", "momentum has no such parameter: got 'beta1'; it takes momentum"),
        ("lr.beta=1", "no such setting: got 'lr.beta'"),
    ],
)
def test_invalid_parameters_are_refused(word: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_parameter(word, SETTINGS)
    assert said in str(caught.value)


def test_choices_as_settings_and_as_words() -> None:
    choices = {"learning_rate": 0.1, "optimizer_params.momentum": 0.8, "static": False}
    assert short_text(choices) == "lr=0.1, optimizer-param.momentum=0.8, static=false"
    whole = with_choices(SETTINGS, choices)
    assert (whole["learning_rate"], whole["optimizer_params"]) == (0.1, {"momentum": 0.8})
    assert SETTINGS["optimizer_params"] == {}
