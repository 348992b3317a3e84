"""RunProcess: the network of a training run at any of its checkpoints, in a process of its own.

As :class:`engine.inference.process.ModelProcess`, with a run's folder in place of inference files. The model
code stored in the run is imported there: ask the user before you create a RunProcess.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engine.core.models.limits import ModelLimits
from engine.files.run_source import is_own
from engine.inference.process import ModelProcess


class RunProcess(ModelProcess):
    """The network of the run in ``folder`` with the weights of ``checkpoint``, a file of the run.

    Another checkpoint may be set at any time; the next run is with its weights. ``agreed`` is the digest of
    the code that may run, None for whatever the run keeps. A run whose code this installation put there has
    no limits; every other one has those of an untrusted model.
    """

    _server = "engine.inference.serve_run"

    def __init__(
        self,
        folder: str | os.PathLike[str],
        checkpoint: str | os.PathLike[str],
        limits: ModelLimits | None = None,
        agreed: str | None = None,
    ) -> None:
        super().__init__(folder, limits)
        self._agreed = agreed
        self.checkpoint = Path(checkpoint)

    def _is_own(self) -> bool:
        return is_own(self.prefix)

    def _files(self) -> list[Path]:
        return [self.checkpoint]

    def _load_request(self) -> dict[str, Any]:
        folder = os.path.abspath(self.prefix)
        return {"do": "load", "folder": folder, "agreed": self._agreed, **self._at()}

    def _at(self) -> dict[str, str]:
        return {"checkpoint": os.path.abspath(self.checkpoint)}
