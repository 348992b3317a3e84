"""Records a ``fit`` as a run of the studio: a folder with journal and checkpoints, which the window lists."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core import mode as modes
from engine.hapi.callbacks.base import Callback, Logs
from resources.run_folders import new_run_folder

if TYPE_CHECKING:
    from engine.training.reporting.recorder import Recorder


class RunRecorder(Callback):
    """Records each ``fit`` in a new folder of ``runs``: its steps, epochs and the newest three checkpoints.

    ``model-studio run --runs DIR SCRIPT``, or the environment variable ``MODEL_STUDIO_RUNS``, adds one to
    every ``fit`` of a script. The studio's window shows the runs of its folder while they run. ``folder`` is
    that of the last run. A checkpoint is written after every epoch; ``Model.load`` takes it.
    """

    def __init__(self, runs: str | os.PathLike[str]) -> None:
        super().__init__()
        self.runs = Path(runs)
        self.folder: Path | None = None
        self.about: dict[str, Any] = {}  # what fit knows of its data
        self._recorder: Recorder | None = None
        self._ended = False  # an epoch whose evaluation may follow
        self._values: dict[str, float] = {}

    def on_train_begin(self, logs: Logs | None = None) -> None:
        # Files, journal and what they need are loaded when something is recorded. Decision 0026.
        from engine.training.problem import is_users
        from engine.training.reporting.recorder import Recorder

        model = self.model
        name, static = type(model.network).__name__, modes.is_static()
        optimizer = model._optimizer
        script = str(getattr(sys.modules["__main__"], "__file__", "") or "")
        steps = self.params["steps"]
        config = {
            "model": name,
            "static": static,
            "epochs": self.params["epochs"],
            "script": script,
            "optimizer": type(optimizer).__name__,
            "learning_rate": float(optimizer.get_lr()),
            **self.about,
        }
        self.folder = new_run_folder(self.runs, name, static)
        self._recorder = Recorder(self.folder, config)
        parameters = sum(
            math.prod(max(0, n) for n in p.shape) for p in model.network.parameters() if not p.stop_gradient
        )
        sources = [Path(script)] if script.endswith(".py") and is_users(script) else []
        self._recorder.start(steps or 0, parameters, sources)

    def on_train_batch_end(self, step: int, logs: Logs | None = None) -> None:
        if self._recorder is not None:
            values = self._scalars(logs or {})
            rate = float(self.model._optimizer.get_lr())
            samples = int((logs or {}).get("batch_size") or 0)
            loss = values.get("loss", math.nan)
            self._recorder.step(loss, _accuracy(values), samples, rate, _others(values))

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self._end_epoch({})

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self._ended = True

    def on_eval_begin(self, logs: Logs | None = None) -> None:
        if self._recorder is not None:
            self._recorder.evaluating()

    def on_eval_end(self, logs: Logs | None = None) -> None:
        self._end_epoch(self._scalars(logs or {}))

    def on_train_end(self, logs: Logs | None = None) -> None:
        self._end_epoch({})
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            whole = recorder.progress.complete
            _tell(recorder.end("finished" if whole else "stopped", "" if whole else "early"))

    def failed(self, error: BaseException) -> None:
        """``fit`` was left by ``error``; nothing happens where it ended otherwise."""
        recorder, self._recorder = self._recorder, None
        self._ended = False
        if recorder is None:
            return
        if isinstance(error, KeyboardInterrupt):
            _tell(recorder.end("stopped", "interrupted"))
        else:
            recorder.fail(error)

    def _end_epoch(self, measured: dict[str, float]) -> None:
        if not self._ended or self._recorder is None:
            return
        self._ended = False
        best = self._recorder.end_epoch(
            measured.get("loss", math.nan), _accuracy(measured), _others(measured)
        )
        self._recorder.checkpoint(self.model._steps.state(), best)

    def _scalars(self, logs: Logs) -> dict[str, float]:
        """Loss (the sum of several) and metrics as numbers, by name."""
        found = {}
        for name in self.params["metrics"]:
            if name in logs:
                values = np.asarray(logs[name], np.float64)
                found[name] = float(values.sum() if name == "loss" else values.mean())
        return found


def _tell(lost: str) -> None:
    """Warn the script that its run is recorded as failed; what it trained is still in memory."""
    if lost:
        warnings.warn(lost, RuntimeWarning, stacklevel=2)


def _accuracy(values: dict[str, float]) -> float:
    """The first metric that is called an accuracy, as Paddle's is (``acc``, ``acc_top1``); else NaN."""
    return next((value for name, value in values.items() if name.startswith("acc")), math.nan)


def _others(values: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if name != "loss"}


@contextmanager
def recorded(recorders: list[RunRecorder]) -> Iterator[None]:
    """Within the block an error ends what is being recorded, too."""
    try:
        yield
    except BaseException as error:
        for recorder in recorders:
            recorder.failed(error)
        raise


def recorders(callbacks: list[Callback], loader: object) -> list[RunRecorder]:
    """Those among ``callbacks``, or the one that the command line or the environment asks for."""
    found = [callback for callback in callbacks if isinstance(callback, RunRecorder)]
    runs = os.environ.get("MODEL_STUDIO_RUNS", "")
    if runs and not found:
        found = [RunRecorder(runs)]
        callbacks += found
    sampler = getattr(loader, "batch_sampler", None)
    size = getattr(loader, "batch_size", None) or getattr(sampler, "batch_size", None) or 0
    for recorder in found:
        recorder.about = {"batch_size": size, "data": type(getattr(loader, "dataset", loader)).__name__}
    return found
