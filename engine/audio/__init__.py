"""Paddle's ``audio``: files of sound, functions and features of waves, data sets."""

from engine.audio import backends, datasets, features, functional
from engine.audio.backends.wave_files import info, load, save

__all__ = ["functional", "features", "datasets", "backends", "load", "info", "save"]
