"""What the child process of an explained model does: load it, run it, answer in plain values and arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, BinaryIO

from engine.core.errors import UnreadyError
from engine.explain.model import Model
from engine.explain.sources import loaded_model
from engine.inference import serve as serving
from engine.inference.serve import Arrays, Server
from engine.inference.wire import Message

Said = dict[str, Any]
Answer = tuple[Said, Arrays]


def _describe(model: Model, said: Said, arrays: Arrays) -> Answer:
    values = {
        name: [[each.name, list(each.shape), each.dtype] for each in group]
        for name, group in (("inputs", model.inputs), ("outputs", model.outputs))
    }
    reasons = [
        [model.why_no_gradient(n, m) for m in range(len(model.outputs))] for n in range(len(model.inputs))
    ]
    return {**values, "gradient": reasons, "activations": model.why_no_activations()}, []


def _bytes(model: Model, said: Said, arrays: Arrays) -> Answer:
    return {"bytes": model.bytes_of(arrays)}, []


def _run(model: Model, said: Said, arrays: Arrays) -> Answer:
    return {}, model.run(arrays)


def _gradient(model: Model, said: Said, arrays: Arrays) -> Answer:
    *fed, incoming = arrays
    return {}, list(model.gradient(fed, said["input"], said["output"], incoming))


def _activations(model: Model, said: Said, arrays: Arrays) -> Answer:
    found = model.activations(arrays, said["wanted"], said["side"])
    images = [each.channels for each in found if each.channels is not None]
    plain = [{**each.plain(), "has_channels": each.channels is not None} for each in found]
    return {"activations": plain}, images


def _view(model: Model, said: Said, arrays: Arrays) -> Answer:
    return {"view": model.view(said["variable"], said["kind"], said["options"])}, []


def _values(model: Model, said: Said, arrays: Arrays) -> Answer:
    return {}, [model.values(said["variable"])]


REQUESTS: dict[str, Callable[[Model, Said, Arrays], Answer]] = {
    "describe": _describe,
    "bytes": _bytes,
    "run": _run,
    "gradient": _gradient,
    "activations": _activations,
    "view": _view,
    "values": _values,
}


class Explaining(Server):
    """A server that also answers about what a model computes."""

    _model: Model | None = None

    def answer(self, message: Message) -> tuple[dict[str, Any], Arrays]:
        said = message.said
        request = REQUESTS.get(said["do"])
        if request is None:
            self._model = None
            return super().answer(message)
        if self._layer is None:
            raise UnreadyError("explain: asked before a model was loaded")
        self._allow_time()
        self._prepare(said)
        if self._model is None:
            self._model = self._made()
        return request(self._model, said, message.arrays)

    def _prepare(self, said: Said) -> None:
        """Before a request."""

    @abstractmethod
    def _made(self) -> Model:
        """The loaded model."""


class ExplainServer(Explaining):
    """A saved model."""

    def _made(self) -> Model:
        return loaded_model(self._layer)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """As ``engine.inference.serve.serve``, for a model that is explained."""
    serving.serve(requests, answers, ExplainServer())
