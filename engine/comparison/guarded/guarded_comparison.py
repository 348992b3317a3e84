"""Compares saved models in a child process with the limits of a model of another installation."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from typing import Any

from engine.comparison.result import Comparison
from engine.comparison.saved_models import SavedRequest
from engine.core.errors import FormatError
from engine.core.models.limits import ModelLimits
from engine.inference.process import MOST_PROGRAM, MOST_SAID, ModelProcess
from engine.inference.wire import Message, Most
from engine.jit.saved.model_files import is_own_model
from engine.training.sources.opening import BUILT_IN
from resources.typed_values import WireError, build


class CompareProcess(ModelProcess):
    """The process that compares a model with another one."""

    _server = "engine.comparison.guarded.serve"

    def compare(self, request: dict[str, Any]) -> Message:
        """The answer to a request. Raises what the model raises, and as ``load``."""
        with self._requests:
            child, _ = self._ready(self._begin(None))
            said = {"do": "compare", "request": request}
            return self._ask(
                child, "a comparison", said, [], self._limits_for(0), Most(MOST_SAID, MOST_PROGRAM)
            )


def compare_saved(request: SavedRequest, limits: ModelLimits | None = None) -> Comparison:
    """Compare saved models: in this process where this installation wrote them, else in a child process with
    limits.

    Raises DataError, FormatError, LimitError, ProgramError as :class:`ModelProcess`; ArgumentError for models
    that can't be compared.
    """
    foreign = [path for path in (request.a, request.b) if path and not is_own_model(path)]
    if not foreign:
        return request.carry_out()
    with CompareProcess(foreign[0], limits) as process:
        found = process.compare(asdict(_anywhere(request)))
    try:
        plain = json.loads(bytes(found.arrays[0]).decode("utf-8", "replace"))
        made: Comparison = build(Comparison, plain, "compare")
    except (LookupError, ValueError, RecursionError, WireError) as error:
        raise FormatError(f"{foreign[0]}: the result could not be read: {error}") from error
    if request.b:
        made.a, made.b = request.a, request.b
    made.notes.append("Computed in a process with limits: another installation wrote a model")
    return made


def _anywhere(request: SavedRequest) -> SavedRequest:
    """The request with absolute paths, since the child process has a working folder of its own."""
    data = request.data
    if data and data not in BUILT_IN:
        data = os.path.abspath(data)
    b = os.path.abspath(request.b) if request.b else ""
    return replace(request, a=os.path.abspath(request.a), b=b, data=data)
