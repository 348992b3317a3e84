"""The command ``model-studio``: the window, and commands that train, look for settings, export and run."""

from studio.cli import launch, models, rate, reporting, runs, sweeping, training  # they add their commands
from studio.cli.application import app, main

__all__ = ["app", "main"]
