"""Callbacks that write loss and metrics down: as a plain log file, or to Weights & Biases."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from engine.core.errors import MissingExtraError
from engine.files.atomic import make_folder
from engine.hapi.callbacks.base import Callback, Logs


class _Writer(Callback):
    """Counts steps and epochs, and hands on the scalars of each training step and each evaluation."""

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0
        self._epoch = 0
        self._training = False
        self._open = False

    def begin(self) -> None:
        """Open what is written to."""
        raise NotImplementedError

    def write(self, part: str, at: int, scalars: Logs) -> None:
        """Write the scalars of a step of ``train``, or of the ``eval`` of an epoch."""
        raise NotImplementedError

    def end(self) -> None:
        """Close what is written to."""
        raise NotImplementedError

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._steps = 0
        self._training = True
        self._begin()

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self._epoch = epoch

    def on_train_batch_end(self, step: int, logs: Logs | None = None) -> None:
        self._steps += 1
        self.write("train", self._steps, self._scalars(logs or {}))

    def on_eval_begin(self, logs: Logs | None = None) -> None:
        if not self._training:
            self._epoch = 0
        self._begin()

    def on_eval_end(self, logs: Logs | None = None) -> None:
        self.write("eval", self._epoch, self._scalars(logs or {}))
        if not self._training:
            self._end()

    def on_train_end(self, logs: Logs | None = None) -> None:
        self._training = False
        self._end()

    def _begin(self) -> None:
        if not self._open:
            self.begin()
            self._open = True

    def _end(self) -> None:
        self.end()
        self._open = False

    def _scalars(self, logs: Logs) -> Logs:
        """The loss (the first, of several) and the metrics."""
        found = {name: logs[name] for name in self.params.get("metrics", ()) if name in logs}
        return {name: v[0] if isinstance(v, (list, tuple)) else v for name, v in found.items()}


class VisualDL(_Writer):
    """Writes every scalar as a line of ``log_dir/scalars.jsonl``: ``{"tag", "step", "value"}``.

    Tags are ``train/loss``, ``train/acc``, ... with the step, counted from 1 over all epochs, and
    ``eval/loss``, ... with the epoch. A file that is there is continued.

    Differs from Paddle: no package is needed; VisualDL's own record files are not written.
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self._file: Any = None

    def begin(self) -> None:
        folder = Path(self.log_dir)
        make_folder(folder)
        self._file = (folder / "scalars.jsonl").open("a", encoding="utf-8")

    def write(self, part: str, at: int, scalars: Logs) -> None:
        for name, value in scalars.items():
            line = {"tag": f"{part}/{name}", "step": at, "value": float(value)}
            self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def end(self) -> None:
        self._file.close()


class WandbCallback(_Writer):
    """Logs to Weights & Biases: each training step under ``train/step``, each evaluation under ``epoch``.

    The arguments, and others by keyword, are those of ``wandb.init``. Raises MissingExtraError where the
    package ``wandb`` is not installed.
    """

    def __init__(
        self,
        project: str | None = None,
        entity: str | None = None,
        name: str | None = None,
        dir: str | None = None,
        mode: str | None = None,
        job_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            self.wandb: Any = importlib.import_module("wandb")
        except ImportError as error:
            raise MissingExtraError(
                "WandbCallback: the package wandb is not installed; install it with `pip install wandb`"
            ) from error
        super().__init__()
        self.wandb_args = {
            "project": project,
            "name": name,
            "entity": entity,
            "dir": dir,
            "mode": mode,
            "job_type": job_type,
            **kwargs,
        }
        self._run: Any = None

    @property
    def run(self) -> Any:
        """The run that is logged to: the one in progress in this process, else a new one."""
        if self._run is None:
            self._run = self.wandb.run or self.wandb.init(**self.wandb_args)
        return self._run

    def begin(self) -> None:
        self.run.define_metric("train/step")
        self.run.define_metric("train/*", step_metric="train/step")
        self.run.define_metric("epoch")
        self.run.define_metric("eval/*", step_metric="epoch")

    def write(self, part: str, at: int, scalars: Logs) -> None:
        key = "train/step" if part == "train" else "epoch"
        self.run.log({key: at, **{f"{part}/{name}": value for name, value in scalars.items()}})

    def end(self) -> None:
        self.run.finish()
        self._run = None
