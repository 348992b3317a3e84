"""Sweeps: commands."""
