"""The settings of a prediction with a saved model, each declared here alone.

Options of the command line, checks and documentation are made from here. The page Predict shows all
classes and raises the limits step by step, so it has no fields for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from resources.settings.run import RUN_SETTINGS
from resources.settings.setting import Setting, declared, settings_of

LIMITS_PANEL = "Limits of untrusted models"


@dataclass(frozen=True)
class PredictSettings:
    """How a saved model predicts. The limits are texts, empty for those in force."""

    top: int = declared("int", 3, "Classes", "The number of classes to show.", minimum=1, group="command")
    device: str = declared("device", "cpu", "Device", RUN_SETTINGS["device"].help, group="command")
    memory: str = declared(
        "text",
        "",
        "Memory",
        "The memory limit of the model's values, such as '2 GB'.",
        example="e.g. '2 GB'",
        metavar="SIZE",
        panel=LIMITS_PANEL,
        group="command",
    )
    seconds: str = declared(
        "text",
        "",
        "Seconds",
        "The time limit for one image in seconds.",
        example="e.g. 60",
        metavar="SECONDS",
        panel=LIMITS_PANEL,
        group="command",
    )
    steps: str = declared(
        "text",
        "",
        "Iterations",
        "The limit on iterations of the model's loops.",
        example="e.g. 1000000",
        metavar="COUNT",
        panel=LIMITS_PANEL,
        group="command",
    )


PREDICT_SETTINGS: dict[str, Setting] = settings_of(PredictSettings)
# The limits of a model from elsewhere, under the names that ``ModelLimits`` has.
LIMITS = ("memory", "seconds", "steps")
