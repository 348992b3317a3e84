"""The settings of the search for a learning rate, each declared here alone.

Only the command line offers them; the window searches with their defaults.
"""

from __future__ import annotations

from dataclasses import dataclass

from resources.settings.setting import Setting, declared, settings_of

FEWEST_STEPS = 20


@dataclass(frozen=True)
class RateSettings:
    """Which learning rates are tried."""

    lowest: float = declared(
        "float", 1e-6, "Lowest rate", "The learning rate to begin with.", above=0, group="command"
    )
    highest: float = declared(
        "float", 1.0, "Highest rate", "The learning rate to end with.", above=0, group="command"
    )
    steps: int = declared(
        "int",
        100,
        "Steps",
        "How many learning rates to try, a batch each.",
        minimum=FEWEST_STEPS,
        group="command",
    )


RATE_SETTINGS: dict[str, Setting] = settings_of(RateSettings)
