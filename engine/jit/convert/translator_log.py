"""The log of the conversion: `set_verbosity` and `set_code_level`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from engine.core.errors import ConditionError, DTypeError

ALL_PASSES = 100


@dataclass
class _Settings:
    verbosity: int | None = None
    code_level: int | None = None
    log_to_stdout: bool = False
    code_to_stdout: bool = False


settings = _Settings()


def set_verbosity(level: int | None = 0, also_to_stdout: bool | None = False) -> None:
    """Set how much is logged about conversions, on stderr: 0 nothing, 1 and more which functions are
    converted.

    From level 1 on tracebacks keep the engine's frames. Without a call, and for None, the environment
    variable TRANSLATOR_VERBOSITY sets it. Raises DTypeError for a level, ConditionError for a flag of another
    type.
    """
    settings.verbosity = _level("set_verbosity", level)
    settings.log_to_stdout = _flag("set_verbosity", also_to_stdout)


def set_code_level(level: int | None = ALL_PASSES, also_to_stdout: bool | None = False) -> None:
    """Show the code of every function that is converted: after pass number ``level``, or the final one.

    100, the default, is the final code; 0 shows nothing. Without a call, and for None, the environment
    variable TRANSLATOR_CODE_LEVEL sets it. Raises as ``set_verbosity``.
    """
    settings.code_level = _level("set_code_level", level)
    settings.code_to_stdout = _flag("set_code_level", also_to_stdout)


def verbosity() -> int:
    """The level in force."""
    return _from("TRANSLATOR_VERBOSITY") if settings.verbosity is None else settings.verbosity


def code_level() -> int:
    """The level in force."""
    return _from("TRANSLATOR_CODE_LEVEL") if settings.code_level is None else settings.code_level


def log(text: str) -> None:
    """Log a line about a conversion, from level 1 on."""
    if verbosity() > 0:
        _write(text, settings.log_to_stdout)


def show_code(name: str, passes: Callable[[], list[tuple[str, str]]]) -> None:
    """The code of a conversion at the level asked for; ``passes`` gives it after every pass."""
    level = code_level()
    if level <= 0:
        return
    stages = passes()
    title, text = stages[-1] if level >= len(stages) else stages[level]
    label = "final code" if level >= len(stages) else f"after pass {level}, {title}"
    _write(f"{name}: {label}:\n{text}\n", settings.code_to_stdout)


def _write(text: str, also_to_stdout: bool) -> None:
    print(text, file=sys.stderr)
    if also_to_stdout:
        print(text)


def _level(where: str, level: int | None) -> int | None:
    if isinstance(level, bool) or not isinstance(level, int | None):
        raise DTypeError(f"{where}: the level is an integer, 0 for silence: got {level!r}")
    return level


def _flag(where: str, also_to_stdout: bool | None) -> bool:
    if not isinstance(also_to_stdout, bool | None):
        raise ConditionError(f"{where}: also_to_stdout is True or False: got {also_to_stdout!r}")
    return bool(also_to_stdout)


def _from(variable: str) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else 0
