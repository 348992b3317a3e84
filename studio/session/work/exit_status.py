"""Exit statuses of child processes. Imports nothing: a child reads it before anything else."""

ORPHANED = 3
"""The process that started the child is gone."""
