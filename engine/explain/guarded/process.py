"""Explained models in child processes with limits, and the Model that asks one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from engine.core.errors import FormatError
from engine.core.models.limits import ModelLimits
from engine.explain.answers import Activation, Array, Value
from engine.explain.sources import of_saved
from engine.explain.subject import Subject
from engine.inference.process import ModelProcess
from engine.inference.run_process import RunProcess
from engine.inference.wire import Message
from engine.jit.saved.model_files import is_own_model

Found = TypeVar("Found")


class ExplainProcess(ModelProcess):
    """The process of a saved model that is explained; it has the limits of a :class:`ModelProcess`."""

    _server = "engine.explain.guarded.serve"


class ExplainRunProcess(RunProcess):
    """The process of a run that is explained, at any of its checkpoints."""

    _server = "engine.explain.guarded.serve_run"


class ProcessModel:
    """A model in another process. What that one answers is checked: it may be untrusted.

    ``since`` is called before each request for the moment from which on ``cancel()`` of the process ends it.
    """

    def __init__(
        self, process: ModelProcess, since: Callable[[], int | None] = lambda: None, owned: bool = True
    ) -> None:
        self._process, self._since, self._owned = process, since, owned
        described = self._ask({"do": "describe"})
        self.inputs = self._read(lambda: [_value(each) for each in described.said["inputs"]])
        self.outputs = self._read(lambda: [_value(each) for each in described.said["outputs"]])
        self._reasons = self._read(lambda: [[str(why) for why in row] for row in described.said["gradient"]])
        self._why_no_activations = str(described.said.get("activations", ""))
        if [len(row) for row in self._reasons] != [len(self.outputs)] * len(self.inputs):
            raise self._odd("reasons for another number of values")

    def why_no_activations(self) -> str:
        return self._why_no_activations

    def why_no_gradient(self, input: int, output: int) -> str:
        return self._reasons[input][output]

    def bytes_of(self, arrays: Sequence[Array]) -> int:
        found = self._ask({"do": "bytes"}, arrays)
        return self._read(lambda: int(found.said["bytes"]))

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        found = self._ask({"do": "run"}, arrays).arrays
        if len(found) != len(self.outputs):
            raise self._odd(f"{len(found)} outputs")
        return found

    def gradient(
        self, arrays: Sequence[Array], input: int, output: int, incoming: Array
    ) -> tuple[Array, Array]:
        found = self._ask({"do": "gradient", "input": input, "output": output}, [*arrays, incoming]).arrays
        if [each.shape for each in found] != [incoming.shape, arrays[input].shape]:
            raise self._odd(f"a gradient of shapes {[each.shape for each in found]}")
        return found[0], found[1]

    def activations(self, arrays: Sequence[Array], wanted: Sequence[str], side: int) -> list[Activation]:
        found = self._ask({"do": "activations", "wanted": list(wanted), "side": side}, arrays)

        def read() -> list[Activation]:
            images = iter(found.arrays)
            return [
                Activation.of_plain(each, _image(next(images)) if each["has_channels"] else None)
                for each in found.said["activations"]
            ]

        return self._read(read)

    def view(self, variable: str, kind: str, options: dict[str, Any]) -> dict[str, Any]:
        found = self._ask({"do": "view", "variable": variable, "kind": kind, "options": options})
        return self._read(lambda: dict(found.said["view"]))

    def values(self, variable: str) -> Array:
        found = self._ask({"do": "values", "variable": variable})
        return self._read(lambda: found.arrays[0])

    def close(self) -> None:
        if self._owned:
            self._process.close()

    def _ask(self, said: dict[str, Any], arrays: Sequence[Array] = ()) -> Message:
        return self._process.request(said, [np.asarray(each) for each in arrays], self._since())

    def _read(self, read: Callable[[], Found]) -> Found:
        try:
            return read()
        except (LookupError, TypeError, ValueError, OverflowError, StopIteration) as error:
            raise self._odd(f"{type(error).__name__}: {error}") from error

    def _odd(self, what: str) -> FormatError:
        return FormatError(
            f"{self._process.prefix}: the model's process sent an invalid reply ({what:.200}); don't use the "
            "model, get it again from a source that you trust"
        )


def open_saved(prefix: str | os.PathLike[str], limits: ModelLimits | None = None) -> Subject:
    """A saved model: in this process where this installation wrote it, else in a child process with limits.

    Raises DataError, FormatError, LimitError, ProgramError as :class:`ModelProcess`.
    """
    if is_own_model(prefix):
        return of_saved(prefix)
    process = ExplainProcess(prefix, limits)
    try:
        return Subject(ProcessModel(process))
    except BaseException:
        process.close()
        raise


def _value(plain: Any) -> Value:
    name, shape, dtype = plain
    return Value(str(name), tuple(int(size) for size in shape), str(dtype))


def _image(array: Array) -> Array:
    if array.ndim != 3 or array.dtype != np.float32:
        raise ValueError(f"channels of {array.dtype} {list(array.shape)}")
    return array
