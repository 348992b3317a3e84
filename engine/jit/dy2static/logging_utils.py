"""Paddle's path to the log of the conversion, whose settings are those of ``jit.set_verbosity``."""

from __future__ import annotations

import logging

from engine.jit.convert import translator_log
from engine.jit.convert.translator_log import set_code_level, set_verbosity

VERBOSITY_ENV_NAME = "TRANSLATOR_VERBOSITY"
CODE_LEVEL_ENV_NAME = "TRANSLATOR_CODE_LEVEL"
DEFAULT_VERBOSITY = -1
DEFAULT_CODE_LEVEL = -1
LOG_AllTransformer = translator_log.ALL_PASSES

__all__ = ["TranslatorLogger", "get_code_level", "get_verbosity", "set_code_level", "set_verbosity"]


def get_verbosity() -> int:
    """The verbosity in force."""
    return translator_log.verbosity()


def get_code_level() -> int:
    """The level of shown code in force."""
    return translator_log.code_level()


class TranslatorLogger:
    """The log with its settings as attributes."""

    logger_name = "Dynamic-to-Static"

    @property
    def logger(self) -> logging.Logger:
        """Python's logger of the name."""
        return logging.getLogger(self.logger_name)

    @property
    def verbosity_level(self) -> int:
        return get_verbosity()

    @verbosity_level.setter
    def verbosity_level(self, level: int | None) -> None:
        set_verbosity(level, self.need_to_echo_log_to_stdout)

    @property
    def transformed_code_level(self) -> int:
        return get_code_level()

    @transformed_code_level.setter
    def transformed_code_level(self, level: int | None) -> None:
        set_code_level(level, self.need_to_echo_code_to_stdout)

    @property
    def need_to_echo_log_to_stdout(self) -> bool:
        return translator_log.settings.log_to_stdout

    @need_to_echo_log_to_stdout.setter
    def need_to_echo_log_to_stdout(self, also_to_stdout: bool | None) -> None:
        set_verbosity(translator_log.settings.verbosity, also_to_stdout)

    @property
    def need_to_echo_code_to_stdout(self) -> bool:
        return translator_log.settings.code_to_stdout

    @need_to_echo_code_to_stdout.setter
    def need_to_echo_code_to_stdout(self, also_to_stdout: bool | None) -> None:
        set_code_level(translator_log.settings.code_level, also_to_stdout)

    def has_verbosity(self, level: int) -> bool:
        """Whether messages of this level are logged."""
        return self.verbosity_level >= level

    def has_code_level(self, level: int) -> bool:
        """Whether the code of this level is shown."""
        return self.transformed_code_level == level


_TRANSLATOR_LOGGER = TranslatorLogger()
