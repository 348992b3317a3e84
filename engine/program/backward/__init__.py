"""Gradients of Programs. Importing it defines how gradients go through branches and loops."""

from engine.program.backward import control as control
