"""The settings of the search for a learning rate, each declared here alone.

The fields of the learning-rate finder, the options of the command, the palette, checks, the project file and
documentation are made from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from resources.settings.setting import Setting, declared, settings_of

FEWEST_STEPS = 20


@dataclass(frozen=True)
class RateSettings:
    """Which learning rates are tried."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012  (of project files)

    lowest: float = declared("float", 1e-6, "Lowest rate", "The learning rate to start with.", above=0)
    highest: float = declared("float", 1.0, "Highest rate", "The learning rate to end with.", above=0)
    steps: int = declared(
        "int",
        100,
        "Steps",
        "The number of learning rates to try, one batch each.",
        minimum=FEWEST_STEPS,
        maximum=1_000_000,
    )


RATE_SETTINGS: dict[str, Setting] = settings_of(RateSettings)
