"""Graphs: rows that belong together, neighbours and their numbers."""
