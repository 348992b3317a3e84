"""The command ``model-studio``: the window, and train, sweep, runs, export, predict, inspect, run, launch."""

from studio.cli import launch, models, runs, sweeping, training  # they add their commands
from studio.cli.application import app, main

__all__ = ["app", "main"]
