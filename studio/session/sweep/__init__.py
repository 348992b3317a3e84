"""Sweeps: many trainings with different settings, planned, run side by side, stopped, resumed, compared."""
