"""Branches, loops, effects, and operators whose rule is a Python function."""
