"""Paddle's path to the conversion's classes."""

from engine.jit.dy2static import program_translator
from engine.jit.dy2static.program_translator import ProgramTranslator

__all__ = ["ProgramTranslator", "program_translator"]
