"""Parameters of optimizers and schedules as words of the command line."""

from __future__ import annotations

from typing import Any

from resources.settings import SETTINGS, parse_parameters
from studio.cli.output import WrongUsage


def read_parameters(name: str, chosen: str, words: list[str]) -> dict[str, Any]:
    """The values that ``--optimizer-param`` or ``--schedule-param`` gave to the rule ``chosen``.

    Raises WrongUsage where it does not take them.
    """
    try:
        return parse_parameters(name, chosen, words)
    except ValueError as error:
        raise WrongUsage(f"{SETTINGS[name].flag}: {error}") from None
