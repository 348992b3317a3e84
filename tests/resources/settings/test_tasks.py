"""The declared settings of exports, quantizations and other tasks: defaults, texts, options, words."""

from __future__ import annotations

from typing import Any

import pytest

from resources.settings.export import EXPORT_SETTINGS
from resources.settings.predict import PREDICT_SETTINGS
from resources.settings.quantize import QUANTIZE_SETTINGS
from resources.settings.rate import RATE_SETTINGS
from resources.settings.script import SCRIPT_SETTINGS
from resources.settings.setting import Setting, words_of

TABLES = {
    "export": EXPORT_SETTINGS,
    "quantize": QUANTIZE_SETTINGS,
    "rate": RATE_SETTINGS,
    "predict": PREDICT_SETTINGS,
    "script": SCRIPT_SETTINGS,
}
EACH = [
    pytest.param(setting, id=f"{task}.{setting.name}")
    for task, table in TABLES.items()
    for setting in table.values()
]


@pytest.mark.parametrize("setting", EACH)
def test_each_default_is_valid_and_read_back_as_it_is_written(setting: Setting) -> None:
    assert setting.problem(setting.default) == ""
    assert setting.parse(setting.write(setting.default)) == setting.default
    assert setting.title
    assert setting.help.endswith(".")
    assert setting.default_words() or setting.kind in ("text", "path")


@pytest.mark.parametrize("setting", EACH)
def test_each_setting_refuses_what_it_does_not_take(setting: Setting) -> None:
    for value in (object(), [1j], {"a": 1}):
        problem = setting.problem(value)
        assert "got " in problem
        assert "\n" not in problem


@pytest.mark.parametrize(
    ("text", "shape"),
    [("None, 1, 28, 28", (-1, 1, 28, 28)), ("[?,3]", (-1, 3)), ("-1,1", (-1, 1)), ("5", (5,)), ("", None)],
)
def test_a_shape_is_read_as_people_write_it(text: str, shape: tuple[int, ...] | None) -> None:
    assert EXPORT_SETTINGS["input_shape"].parse(text) == shape


@pytest.mark.parametrize(
    ("text", "seen"), [("None, a", "'a'"), ("0,1", "0"), ("1,,2", "''"), ("1.5", "'1.5'")]
)
def test_a_shape_names_the_part_that_is_not_a_size(text: str, seen: str) -> None:
    with pytest.raises(ValueError, match=f"not a size: got {seen}; give e.g. None,1,28,28"):
        EXPORT_SETTINGS["input_shape"].parse(text)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_no_two_settings_of_a_task_have_one_option(table: dict[str, Setting]) -> None:
    flags = [setting.flag for setting in table.values()]
    assert len(set(flags)) == len(flags)


def test_words_are_those_that_matter_to_the_method() -> None:
    values: dict[str, Any] = {name: setting.default for name, setting in QUANTIZE_SETTINGS.items()}
    values |= {"epochs": 3, "samples": 9, "skip": ("a", "b*"), "equalize": True, "target_drop": 0.5}
    words = ["--target-drop", "0.5", "--skip", "a", "--skip", "b*", "--equalize"]
    assert words_of(QUANTIZE_SETTINGS, values, "weights_only") == words
    assert words_of(QUANTIZE_SETTINGS, values, "qat") == ["--epochs", "3", *words]
    full = words_of(QUANTIZE_SETTINGS, values, "qat", defaults=True)
    assert full[4:6] == ["--weight-bits", "8"]
    assert not {"--rounding", "--lr", "--sensitivity"} & set(full)
