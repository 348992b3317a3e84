"""Differences in numbers: two ways to compute one step, compared operator by operator."""

from engine.comparison.request import DEVICES, PAIRS, Request, Subject
from engine.comparison.result import Cause, Comparison

__all__ = ["DEVICES", "PAIRS", "Cause", "Comparison", "Request", "Subject"]
