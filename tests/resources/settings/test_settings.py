"""The declaration of a run's settings: defaults are allowed, texts are read, imports are light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resources.settings import SETTINGS, Setting, Settings, optimizers, parse_parameters, problems, schedules

PARAMETERS = [
    pytest.param(setting, id=f"{rule.name}.{setting.name}")
    for rule in (*optimizers().values(), *schedules().values())
    for setting in rule.parameters
]


def test_no_default_is_wrong() -> None:
    assert problems({name: getattr(Settings(), name) for name in SETTINGS if name != "out"}) == {}
    assert SETTINGS["out"].problem("") == ""


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.name)
def test_every_setting_has_title_and_help(setting: Setting) -> None:
    assert setting.title
    assert setting.help.endswith(".")


@pytest.mark.parametrize("setting", PARAMETERS)
def test_defaults_of_parameters_are_read_back_as_they_are_written(setting: Setting) -> None:
    assert setting.parse(setting.write(setting.default)) == setting.default
    assert setting.help.endswith(".")
    assert setting.allowed()


@pytest.mark.parametrize(
    ("name", "chosen", "words", "values"),
    [
        (
            "optimizer_params",
            "momentum",
            ["momentum=0.95", "use_nesterov=true"],
            {"momentum": 0.95, "use_nesterov": True},
        ),
        (
            "optimizer_params",
            "lbfgs",
            ["max_iter=5", "line_search_fn=strong_wolfe"],
            {"max_iter": 5, "line_search_fn": "strong_wolfe"},
        ),
        (
            "schedule_params",
            "piecewise_decay",
            ["boundaries=2,4", "values=1, 0.5, 1e-3"],
            {"boundaries": [2, 4], "values": [1.0, 0.5, 0.001]},
        ),
        ("schedule_params", "constant", [], {}),
    ],
)
def test_parameters_as_texts(name: str, chosen: str, words: list[str], values: dict[str, Any]) -> None:
    assert parse_parameters(name, chosen, words) == values


@pytest.mark.parametrize(
    ("chosen", "word", "message"),
    [
        ("momentum", "momentum", "must be NAME=VALUE: got 'momentum'; give e.g. momentum=0.9"),
        ("momentum", "momentum=fast", "momentum must be a number: got 'fast'; give e.g. 0.9"),
        ("momentum", "momentum=1.5", "momentum must be at least 0 and below 1: got 1.5; give e.g. 0.9"),
        ("momentum", "momentum=nan", "momentum must be at least 0 and below 1: got nan"),
        ("momentum", "use_nesterov=2", "use_nesterov must be true or false: got '2'"),
        ("lbfgs", "max_iter=1.5", "max_iter must be an integer: got '1.5'; give e.g. 20"),
        ("lbfgs", "line_search_fn=x", "no such choice: got 'x'; choose none or strong_wolfe"),
        ("sgd", "momentum=0.9", "sgd has no such parameter: got 'momentum'; it takes weight_decay"),
    ],
)
def test_a_wrong_text_is_named_with_what_is_allowed(chosen: str, word: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_parameters("optimizer_params", chosen, [word])
    assert message in str(caught.value)


def test_reading_the_declaration_imports_nothing_heavy(repo_root: Path) -> None:
    code = (
        "import sys, resources.settings; "
        "print([name for name in ('engine', 'numpy', 'PySide6', 'pydantic', 'typer') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo_root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["device", "data", "model", "batch_size", "optimizer_params"])
def test_an_untrusted_value_stays_one_short_line(name: str) -> None:
    """A checkpoint may hold anything in the place of a setting, arrays too."""
    for value in (np.ones((50, 50)), ["x\n"] * 999, "\x1b[31m\n" * 99 if name == "device" else 1j, 10**400):
        problem = SETTINGS[name].problem(value)
        assert problem
        assert "\n" not in problem
        assert len(problem) < 500
