"""Gradients of Programs."""

from engine.program.backward import control as control  # registers how gradients go through sub-blocks
