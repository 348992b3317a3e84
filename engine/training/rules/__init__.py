"""Optimizers and learning rates: as the settings choose them, as tables, and as a curve."""
