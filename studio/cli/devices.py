"""The option --device of commands that compute without being a training."""

from __future__ import annotations

import typer

from resources.settings import RUN_SETTINGS
from studio.cli.output import say


def require_device(device: str) -> None:
    """Raise typer.BadParameter for an unknown device name."""
    problem = RUN_SETTINGS["device"].problem(device)
    if problem:
        raise typer.BadParameter(f"--device: {problem}")


def chosen_device(device: str) -> None:
    """Make it the place of new tensors; on standard error stands why the CPU computes instead, where ``auto``
    found no GPU.

    Raises:
        typer.BadParameter: no device has this name.
        DeviceError: it can't be used.
    """
    require_device(device)
    if device != "cpu":
        from engine.core.devices import use

        used = use(device)
        if used.fallback:
            say(used.fallback, err=True)
