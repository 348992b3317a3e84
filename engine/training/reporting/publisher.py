"""Publisher: passes the events of a run to its listeners, its history and its journal."""

from __future__ import annotations

from collections.abc import Iterable

from engine.training.events import EventListener, Listener, now
from engine.training.folder.run_folder import RunFolder
from engine.training.reporting.progress import History, Progress
from resources.training_events import CheckpointFailed, TrainingEvent


class Publisher:
    """Passes on what happens in a run.

    Args:
        listeners: called in the thread that runs the training.
        progress: where the run stands; an event about a failed write has its step.
        folder: keeps the journal; None where nothing is written.
    """

    def __init__(self, listeners: Iterable[Listener], progress: Progress, folder: RunFolder | None) -> None:
        self.listeners = list(listeners)
        self.history = History()
        self._progress = progress
        self._folder = folder

    def publish(self, event: TrainingEvent) -> None:
        """Add the event to the history and the journal, and pass it to all listeners."""
        self.history.take(event)
        if self._folder is not None:
            self._folder.record(event, self.write_failed)
        self.deliver(event)

    def write_failed(self, path: str, message: str) -> None:
        """Report a file that could not be written, to the listeners only: the journal may be that file."""
        self.deliver(
            CheckpointFailed(
                event="checkpoint_failed", time=now(), step=self._progress.step, path=path, message=message
            )
        )

    def deliver(self, event: TrainingEvent) -> None:
        """Pass the event to all listeners alone: the journal has it, or can't be written."""
        for listener in self.listeners:
            if isinstance(listener, EventListener):
                listener.on_event(event)
            else:
                listener(event)
