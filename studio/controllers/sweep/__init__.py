"""Sweeps: joins view models to widgets."""
