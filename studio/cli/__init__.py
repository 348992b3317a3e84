"""The command ``model-studio``: the window, and train, export, predict, inspect and run without one."""

from studio.cli import models, training  # they add their commands to the application
from studio.cli.application import app, main

__all__ = ["app", "main"]
