"""The command that lists the checkpoints of a run."""
