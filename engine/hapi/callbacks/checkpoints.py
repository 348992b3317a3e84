"""Saves the model after epochs and at the end of training."""

from __future__ import annotations

import os

from engine.hapi.callbacks.base import Callback, Logs


class ModelCheckpoint(Callback):
    """Saves every ``save_freq``-th epoch as ``save_dir/EPOCH`` and the end as ``save_dir/final``.

    Each is ``.pdparams`` and, where the optimizer keeps a state, ``.pdopt``. ``fit(save_dir=...)`` adds one
    by itself. Without ``save_dir`` nothing is saved.
    """

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        super().__init__()
        self.save_freq = save_freq
        self.save_dir = save_dir

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs: Logs | None = None) -> None:
        self._save("final")

    def _save(self, name: str) -> None:
        if self.model is None or not self.save_dir:
            return
        path = os.path.join(os.path.abspath(self.save_dir), name)
        print(f"save checkpoint at {path}")
        self.model.save(path)
