"""Runs Programs: plans, scopes, the Executor. Importing it defines how plans write out branches and loops."""

from engine.program.run import write_control as write_control
