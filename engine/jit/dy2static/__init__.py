"""Paddle's path to the conversion's classes."""

from engine.jit.dy2static import error, logging_utils, program_translator, utils
from engine.jit.dy2static.program_translator import ProgramTranslator

__all__ = ["ProgramTranslator", "error", "logging_utils", "program_translator", "utils"]
