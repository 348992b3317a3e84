"""Saved models and state dicts of every format: read, written, compared, edited."""
