"""What the child process of a saved model does: load it, run it, send its Program, exit with its parent."""

from __future__ import annotations

import json
import os
import queue
import threading
from typing import Any, BinaryIO

import numpy as np

from engine.core.errors import EngineError
from engine.eager.grad_mode import no_grad
from engine.files.untrusted import guarded
from engine.files.untrusted.limits import allow_processor_time, limit_this_process
from engine.inference.wire import Message, Most, WireError, receive, send
from engine.jit.export import prediction_layer
from engine.jit.saved.model_files import read_model_files
from engine.program.saved.serialize import to_plain
from engine.tensor.creation import to_tensor

# The parent is believed; its arrays are as large as the user's inputs.
_ANY = Most(json=1 << 30, arrays=1 << 62)
_MESSAGE_LENGTH = 10_000
Arrays = list[np.ndarray[Any, Any]]


class Server:
    """The model and the answers about it."""

    def __init__(self) -> None:
        self._layer: Any = None  # what is called; here a TranslatedLayer
        self._seconds = 0.0

    def answer(self, message: Message) -> tuple[dict[str, Any], Arrays]:
        """What is answered to one request, with the arrays. Raises whatever the model raises."""
        said = message.said
        if said["do"] == "load":
            return self._load(said)
        self._allow_time()
        if self._layer is None:
            raise WireError("model process: asked before a model was loaded")
        if said["do"] == "program":
            program = self._layer.program()
            plain = json.dumps(to_plain(program), default=str)
            return {}, [_bytes_of(plain), _bytes_of(program.to_string())]
        return self._run(said, message.arrays)

    def _run(self, said: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        with no_grad():
            found = self._layer(*[to_tensor(array) for array in arrays])
        outputs = found if isinstance(found, (list, tuple)) else [found]
        return {}, [np.asarray(output.numpy()) for output in outputs]

    def _allow_time(self) -> None:
        """Let the processor time of a request begin."""
        if self._seconds:
            allow_processor_time(self._seconds)

    def _limit(self, said: dict[str, Any]) -> None:
        """Limit this process: ``memory`` and ``seconds`` of processor time, None where it has no limits."""
        if said["memory"] is not None:
            guarded.this_is_a_child()
            limit_this_process(said["memory"], None)
            self._seconds = said["seconds"]
            allow_processor_time(self._seconds)

    def _load(self, said: dict[str, Any]) -> tuple[dict[str, Any], Arrays]:
        """Load the model, within the limits that are said."""
        self._limit(said)
        files = read_model_files(said["prefix"])
        self._layer = prediction_layer(files)
        self._layer.eval()
        info = json.dumps(files.info, default=str)
        return {"save_id": files.save_id, "info": json.loads(info)}, []


def _bytes_of(text: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


def serve(requests: BinaryIO, answers: BinaryIO, server: Server | None = None) -> None:
    """Answer requests in turn; the process ends when there are no more, also in the middle of a run."""
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, inbox), name="requests", daemon=True).start()
    server = server or Server()
    send(answers, {"ready": True})
    while True:
        said: dict[str, Any]
        arrays: Arrays
        try:
            said, arrays = server.answer(inbox.get())
            send(answers, said, arrays)
        except Exception as error:
            send(answers, _error(error))


def _error(error: Exception) -> dict[str, Any]:
    message = error.message if isinstance(error, EngineError) else str(error)
    return {"error": type(error).__name__, "message": message[:_MESSAGE_LENGTH]}


def _listen(requests: BinaryIO, inbox: queue.SimpleQueue[Message]) -> None:
    try:
        while True:
            inbox.put(receive(requests, _ANY))
    except WireError:
        os._exit(0)
