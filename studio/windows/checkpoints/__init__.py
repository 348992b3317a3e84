"""The window that goes through the checkpoints of a run."""
