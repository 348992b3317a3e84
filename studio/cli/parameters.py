"""Parameters of optimizers and schedules as words of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resources.settings import RULES_OF, SETTINGS, parse_model_params, parse_parameters
from studio.cli.output import WrongUsage


def read_all_parameters(values: dict[str, Any], chosen: Mapping[str, Any]) -> None:
    """Replace the words of the ``values`` that are parameters by what they stand for.

    Args:
        chosen: the settings that say whose parameters they are.

    Raises WrongUsage where it does not take them.
    """
    for name, (chooser, _) in RULES_OF.items():
        if name in values:
            values[name] = read_parameters(name, str(chosen[chooser]), values[name])
    if "model_params" in values:
        try:
            values["model_params"] = parse_model_params(values["model_params"])
        except ValueError as error:
            raise WrongUsage(f"{SETTINGS['model_params'].flag}: {error}") from None


def read_parameters(name: str, chosen: str, words: list[str]) -> dict[str, Any]:
    """The values that ``--optimizer-param`` or ``--schedule-param`` gave to the rule ``chosen``.

    Raises WrongUsage where it does not take them.
    """
    try:
        return parse_parameters(name, chosen, words)
    except ValueError as error:
        raise WrongUsage(f"{SETTINGS[name].flag}: {error}") from None
