"""The checkpoints of a run one after the other: weights, what was measured, and what the network answers."""
