"""From samples as they lie there to the batches that a model is fed."""
