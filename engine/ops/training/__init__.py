"""Losses, metrics and updates of parameters."""
