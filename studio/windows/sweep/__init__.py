"""Sweeps: pages, panels and dialogs."""
