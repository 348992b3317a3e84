"""Builds Programs: applying an operator infers its results and appends it."""
