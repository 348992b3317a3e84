"""Operators: what defines one, what applies one, and what their definitions share."""
