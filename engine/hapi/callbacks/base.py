"""The base of callbacks, and the list of those that take part in one run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Logs = dict[str, Any]


class Callback:
    """Base of all callbacks: define the methods that are to be called.

    ``model`` is the ``Model`` that runs, ``params`` a dict of ``batch_size``, ``epochs``, ``steps``,
    ``verbose`` and ``metrics`` (the names of the loss and the metrics). ``logs`` of a run is one dict, which
    changes during the training: ``loss`` (a list), each metric by name, ``step`` and ``batch_size``.
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: Logs = {}

    def set_params(self, params: Logs) -> None:
        """Called before a run with its parameters."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Called before a run with the Model."""
        self.model = model

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Called before training."""

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Called after training."""

    def on_eval_begin(self, logs: Logs | None = None) -> None:
        """Called before an evaluation; ``logs`` has ``steps`` and ``metrics``."""

    def on_eval_end(self, logs: Logs | None = None) -> None:
        """Called after an evaluation."""

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        """Called before predicting; ``logs`` has ``steps``."""

    def on_predict_end(self, logs: Logs | None = None) -> None:
        """Called after predicting."""

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Called before each epoch, which counts from 0."""

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Called after each epoch, before it is evaluated."""

    def on_train_batch_begin(self, step: int, logs: Logs | None = None) -> None:
        """Called before each batch of training; ``step`` counts from 0 in each epoch."""

    def on_train_batch_end(self, step: int, logs: Logs | None = None) -> None:
        """Called after each batch of training."""

    def on_eval_batch_begin(self, step: int, logs: Logs | None = None) -> None:
        """Called before each batch of an evaluation."""

    def on_eval_batch_end(self, step: int, logs: Logs | None = None) -> None:
        """Called after each batch of an evaluation."""

    def on_predict_batch_begin(self, step: int, logs: Logs | None = None) -> None:
        """Called before each batch of a prediction."""

    def on_predict_batch_end(self, step: int, logs: Logs | None = None) -> None:
        """Called after each batch of a prediction."""


class CallbackList:
    """The callbacks of one run, called in order; ``kind`` below is train, eval or predict."""

    def __init__(self, callbacks: Iterable[Callback], model: Any, params: Logs) -> None:
        self.callbacks = list(callbacks)
        for callback in self.callbacks:
            callback.set_model(model)
        for callback in self.callbacks:
            callback.set_params(params)

    def begin(self, kind: str, logs: Logs | None = None) -> None:
        self._call(f"on_{kind}_begin", logs)

    def end(self, kind: str, logs: Logs | None = None) -> None:
        self._call(f"on_{kind}_end", logs)

    def epoch_begin(self, epoch: int) -> None:
        self._call("on_epoch_begin", epoch, None)

    def epoch_end(self, epoch: int, logs: Logs) -> None:
        self._call("on_epoch_end", epoch, logs)

    def batch_begin(self, kind: str, step: int, logs: Logs) -> None:
        self._call(f"on_{kind}_batch_begin", step, logs)

    def batch_end(self, kind: str, step: int, logs: Logs) -> None:
        self._call(f"on_{kind}_batch_end", step, logs)

    def _call(self, name: str, *args: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, name)(*args)
