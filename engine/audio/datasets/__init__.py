"""Data sets of sounds, from local folders."""

from engine.audio.datasets.emotions import TESS
from engine.audio.datasets.environment import ESC50

__all__ = ["ESC50", "TESS"]
