"""The command ``model-studio``: the window, and train, sweep, export, predict, inspect, run without it."""

from studio.cli import models, sweeping, training  # they add their commands to the application
from studio.cli.application import app, main

__all__ = ["app", "main"]
