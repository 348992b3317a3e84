"""What the child process of a run's network does: build it from the run's code, take weights, run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

from engine.core.errors import ArgumentError, FormatError, UnsupportedError
from engine.core.models.local_imports import AGREED
from engine.inference import serve as serving
from engine.inference.serve import Arrays, Server
from engine.inference.wire import Message
from engine.training.config import TrainingConfig
from engine.training.exporting.export import information
from engine.training.exporting.inputs import export_inputs
from engine.training.exporting.normalizing import for_prediction
from engine.training.folder.run_folder import RunFolder
from engine.training.reporting.progress import measured_before
from engine.training.setup import build_network
from resources.settings.export import ExportSettings


class RunServer(Server):
    """The network of one run, with the weights of the checkpoint that was asked for last."""

    def __init__(self) -> None:
        super().__init__()
        self._store: RunFolder | None = None
        self._network: Any = None
        self._at = ""

    def answer(self, message: Message) -> tuple[dict[str, Any], Arrays]:
        if message.said["do"] == "program":
            raise UnsupportedError("run: it has no saved Program; export it to look at its graph")
        return super().answer(message)

    def _load(self, said: dict[str, Any]) -> tuple[dict[str, Any], Arrays]:
        self._limit(said)
        AGREED.set(said["agreed"])
        self._store = RunFolder(Path(said["folder"]))
        self._store.refuse_links()
        tree = self._read(said["checkpoint"])
        config = TrainingConfig.from_dict(tree["config"])
        self._network, _ = build_network(config, self._store.source_path)
        self._take(tree, said["checkpoint"])
        try:
            data, progress = dict(tree["data"]), tree["progress"]
            step, measured = int(progress["step"]), measured_before(progress)
            inputs = [
                {"name": row.name, "dtype": row.dtype, "shape": list(row.shape)}
                for row in export_inputs(data, ExportSettings())
            ]
            self._layer = for_prediction(self._network, data)
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            raise FormatError(
                f"{said['checkpoint']}: not the checkpoint of a training: {type(error).__name__} at {error}; "
                "choose another checkpoint"
            ) from error
        info = information(config, data, step, measured)
        if not measured:
            info.pop("validation_accuracy", None)
        described = {"inputs": inputs, "info": info}
        return {"save_id": "", "info": json.loads(json.dumps(described, default=str))}, []

    def _run(self, said: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        self._use(said["checkpoint"])
        return super()._run(said, arrays)

    def _use(self, checkpoint: str) -> None:
        """Take the weights of a checkpoint unless they are those of the network."""
        if checkpoint != self._at:
            self._take(self._read(checkpoint), checkpoint)

    def _read(self, checkpoint: str) -> dict[str, Any]:
        """The tree of a checkpoint, which must be one of the run's own."""
        assert self._store is not None
        path = Path(checkpoint)
        if path.parent != self._store.checkpoints_path:
            raise ArgumentError(
                f"{path}: not a checkpoint of the run: {self._store.path}; choose one of its own"
            )
        return self._store.read_checkpoint(path)

    def _take(self, tree: dict[str, Any], checkpoint: str) -> None:
        """The weights of a checkpoint. Raises FormatError where they are not those of the network."""
        self._at = ""
        try:
            self._network.set_state_dict(dict(tree["model"]))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(
                f"{checkpoint}: its weights are not those of the run's model: {error}; choose "
                "another checkpoint"
            ) from error
        self._network.eval()
        self._at = checkpoint


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """As ``engine.inference.serve.serve``, for a run."""
    serving.serve(requests, answers, RunServer())
