"""The folder of a run: its journal, its checkpoints, and what they say."""
