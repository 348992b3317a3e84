"""Joins the checkpoints of a run to their window."""
