"""The command ``model-studio``: the window, and commands that train, look for settings, export and run."""

from studio.cli import (  # they add their commands
    launch,
    models,
    profiling,
    quantizing,
    rate,
    reporting,
    runs,
    sweeping,
    training,
)
from studio.cli.application import app, main

__all__ = ["app", "main"]
