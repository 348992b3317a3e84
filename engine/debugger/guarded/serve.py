"""What the child process of a debugger does: load a model, step through it, answer in plain values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from engine.core.errors import ArgumentError, UnreadyError
from engine.debugger.breakpoints import Breakpoint
from engine.debugger.conditions import condition_of
from engine.debugger.debugger import Debugger
from engine.debugger.subjects.building import subject_of
from engine.inference import serve as serving
from engine.inference.serve import Arrays, Server
from engine.inference.wire import Message
from engine.jit.export import layer_of
from engine.jit.saved.model_files import read_model_files

Asked = Mapping[str, Any]


def _stop(name: str) -> Callable[[Debugger, Asked], Any]:
    return lambda debugger, asked: getattr(debugger, name)(**asked).plain()


def _set_conditions(debugger: Debugger, asked: Asked) -> None:
    debugger.conditions = [condition_of(each) for each in asked["conditions"]]


CALLS: dict[str, Callable[[Debugger, Asked], Any]] = {
    **{
        name: _stop(name)
        for name in ("step", "step_back", "go_to", "resume", "until_nan", "next_batch", "restart", "change")
    },
    "add_breakpoint": lambda debugger, asked: debugger.add_breakpoint(Breakpoint.of_plain(asked["wanted"])),
    "change_breakpoint": lambda debugger, asked: debugger.change_breakpoint(
        asked["number"], Breakpoint.of_plain(asked["wanted"])
    ),
    "remove_breakpoint": lambda debugger, asked: debugger.remove_breakpoint(**asked),
    "breakpoints": lambda debugger, asked: {n: each.plain() for n, each in debugger.breakpoints.items()},
    "hits": lambda debugger, asked: debugger.hits(**asked),
    "set_conditions": _set_conditions,
    "values": lambda debugger, asked: debugger.values(**asked),
    "view": lambda debugger, asked: debugger.view(**asked),
    "watch": lambda debugger, asked: debugger.watch(**asked),
    "unwatch": lambda debugger, asked: debugger.unwatch(**asked),
    "changes": lambda debugger, asked: debugger.changes,
    "kept_bytes": lambda debugger, asked: debugger.kept_bytes,
}
"""What can be asked, by name; all of it answers plain values."""


class DebugServer(Server):
    """A model and the debugger that steps through it."""

    def __init__(self) -> None:
        super().__init__()
        self._debugger: Debugger | None = None

    def _load(self, said: dict[str, Any]) -> tuple[dict[str, Any], Arrays]:
        self._limit(said)
        files = read_model_files(said["prefix"])
        self._layer = layer_of(files)
        self._layer.eval()
        return {"save_id": files.save_id, "info": json.loads(json.dumps(files.info, default=str))}, []

    def answer(self, message: Message) -> tuple[dict[str, Any], Arrays]:
        said = message.said
        if said["do"] == "begin" and self._layer is not None:
            inputs = message.arrays if said["given"] else None
            subject = subject_of(self._layer, said["title"], inputs, said["seed"])
            self._debugger = debugger = Debugger(subject, said["keep"])
            parts = json.dumps([part.plain() for part in debugger.parts], default=str).encode()
            answer = {"title": debugger.title, "notes": debugger.notes, "stop": debugger.stop.plain()}
            return answer, [np.frombuffer(parts, np.uint8)]
        if said["do"] != "call":
            return super().answer(message)
        if self._debugger is None:
            raise UnreadyError("debug: the process of the model was ended; call restart()")
        if said["name"] not in CALLS:
            raise ArgumentError(f"debug: nothing is called {said['name']!r}")
        self._allow_time()
        return {"value": CALLS[said["name"]](self._debugger, said["asked"])}, []


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """As ``engine.inference.serve.serve``, for a debugger."""
    serving.serve(requests, answers, DebugServer())
