"""What the child process of an explained run does: the same, with its network at any checkpoint."""

from __future__ import annotations

from typing import BinaryIO

from engine.explain.guarded.serve import Explaining, Said
from engine.explain.model import Model
from engine.explain.sources import model_of_layer
from engine.inference import serve as serving
from engine.inference.serve import Arrays
from engine.inference.serve_run import RunServer
from engine.jit.input_spec import InputSpec


class ExplainRunServer(Explaining, RunServer):
    """The network of one run, with the weights of the checkpoint that was asked for last."""

    def __init__(self) -> None:
        super().__init__()
        self._inputs: list[InputSpec] = []

    def _load(self, said: Said) -> tuple[Said, Arrays]:
        answer, arrays = super()._load(said)
        self._inputs = [
            InputSpec(each["shape"], each["dtype"], each["name"]) for each in answer["info"]["inputs"]
        ]
        return answer, arrays

    def _prepare(self, said: Said) -> None:
        self._use(said["checkpoint"])

    def _made(self) -> Model:
        return model_of_layer(self._layer, self._inputs)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """As ``engine.inference.serve.serve``, for a run that is explained."""
    serving.serve(requests, answers, ExplainRunServer())
