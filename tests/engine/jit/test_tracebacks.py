"""What the author of a converted function sees when it fails."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ConversionError, EngineError
from engine.jit import set_code_level, set_verbosity, to_static
from engine.jit.convert import translator_log


def failing_lookup(x: Any) -> Any:
    if x.sum() > 0:
        table: dict[str, Any] = {}
        return table["missing"]
    return x


def calling(x: Any) -> Any:
    return failing_lookup(x * 2)


def changing_kind(x: Any) -> Any:
    name = "a"
    while x.sum() < 10:
        x = x + 1
        name = name + "b"
    return x


def out_of_range(x: Any, i: Any) -> Any:
    return x[i] * 2


def error_of(function: Any, *inputs: Any) -> Exception:
    with pytest.raises(Exception) as caught:
        to_static(function, full_graph=True)(*inputs)
    return caught.value


def below_the_call(error: Exception) -> list[tuple[str, str]]:
    entries = [e for e in traceback.extract_tb(error.__traceback__) if e.name != "error_of"]
    return [(e.filename.rpartition("/")[2], e.name) for e in entries if e.name != "__call__"]


def test_an_error_of_the_users_shows_the_users_frames_only() -> None:
    error = error_of(calling, paddle.ones([2]))
    assert isinstance(error, KeyError)
    here = __file__.rpartition("/")[2]
    assert below_the_call(error) == [(here, "calling"), (here, "failing_lookup"), (here, "failing_lookup")]


@pytest.mark.parametrize(
    ("function", "inputs", "line"),
    [
        (changing_kind, ([1.0],), "    while x.sum() < 10:"),
        (out_of_range, ([1.0, 2.0], 7), "    return x[i] * 2"),
    ],
)
def test_the_line_is_shown_and_marked(function: Any, inputs: Any, line: str) -> None:
    error = error_of(function, *(paddle.to_tensor(value) for value in inputs))
    assert isinstance(error, EngineError)
    number = str(error).split(":")[1]
    (note,) = error.__notes__
    marked = [text for text in note.splitlines() if text.startswith(">")]
    assert marked == [f"> {number} | {line}"]
    assert len(note.splitlines()) > 1


def test_a_fault_of_the_engine_keeps_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.jit.static_function.cache_key", None)
    error = error_of(calling, paddle.ones([2]))
    names = [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    assert "_concrete_for" in names


@pytest.fixture
def silent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translator_log, "settings", translator_log._Settings())


def test_verbosity_keeps_the_frames_and_names_what_is_converted(silent_again: Any, capsys: Any) -> None:
    def fresh(x: Any) -> Any:
        if x.sum() > 0:
            x = x + 1
        return x

    set_verbosity(1)
    error = error_of(changing_kind, paddle.ones([1]))
    assert "convert_while_loop" in [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    to_static(fresh)(paddle.ones([1]))
    assert "test_tracebacks.py" in (reported := capsys.readouterr()).err
    assert "converted `fresh`" in reported.err
    assert reported.out == ""


def test_code_level_shows_the_code_of_a_pass(silent_again: Any, capsys: Any) -> None:
    def make() -> Any:
        def fresh(x: Any) -> Any:
            if x.sum() > 0:
                x = x + 1
            return x

        return fresh

    set_code_level()
    to_static(make())(paddle.ones([1]))
    assert "convert_ifelse" in capsys.readouterr().err

    def other(x: Any) -> Any:
        if x.sum() > 0:
            x = x + 1
        return x

    set_code_level(1, also_to_stdout=True)
    np.testing.assert_array_equal(to_static(other)(paddle.ones([1])).numpy(), [2])
    shown = capsys.readouterr().out
    assert "other: after pass 1" in shown
    assert "convert_ifelse" not in shown


def test_levels_are_whole_numbers(silent_again: Any) -> None:
    for wrong in (3.5, True, "2"):
        with pytest.raises(TypeError, match="set_verbosity: the level is an integer"):
            set_verbosity(wrong)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="also_to_stdout"):
        set_code_level(1, also_to_stdout=1)  # type: ignore[arg-type]


def test_levels_without_a_value_are_those_of_the_environment(
    silent_again: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATOR_VERBOSITY", "3")
    monkeypatch.setenv("TRANSLATOR_CODE_LEVEL", "2")
    set_verbosity(1)
    set_verbosity(None)
    set_code_level(None)
    assert (translator_log.verbosity(), translator_log.code_level()) == (3, 2)


def test_generators_are_refused_with_their_line() -> None:
    def generator(x: Any) -> Any:
        yield x

    error = error_of(generator, paddle.ones([1]))
    assert isinstance(error, ConversionError)
    assert "it is a generator" in str(error)
