"""What can be debugged: a batch of a run, of settings, of a saved model."""

from engine.debugger.subjects.building import of_config, of_run, of_saved

__all__ = ["of_config", "of_run", "of_saved"]
