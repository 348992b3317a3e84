"""The settings of a script that the command run starts, each declared here alone.

The options of the command, checks and documentation are made from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from resources.settings.setting import Setting, declared, settings_of


@dataclass(frozen=True)
class ScriptSettings:
    """How a script runs. None leaves the choice to the script."""

    runs: str = declared(
        "path",
        "",
        "Runs",
        "Record each fit of a paddle.Model as a run in this folder.",
        metavar="DIR",
        group="command",
    )
    mode: str | None = declared(
        "choice",
        None,
        "Mode",
        "The mode to start in: static or dynamic. By default static for scripts of Paddle 1.x, else dynamic.",
        choices=(("static", "Static"), ("dynamic", "Dynamic")),
        optional=True,
        empty="by the script's version",
        metavar="static|dynamic",
        group="command",
    )
    device: str | None = declared(
        "device",
        None,
        "Device",
        "cpu computes there what the script places on a GPU; gpu, gpu:1 or auto (a GPU if one is available) "
        "is the device to start with.",
        optional=True,
        empty="as in the script",
        metavar="cpu|gpu|auto",
        group="command",
    )


SCRIPT_SETTINGS: dict[str, Setting] = settings_of(ScriptSettings)
