"""The messages between the ranks of a training and the process that started them, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypedDict, get_args, get_type_hints

import numpy as np

from engine.core.errors import FormatError
from engine.training.problem import Problem
from engine.training.result import RunResult
from resources.training_events import TRAINING_EVENTS
from resources.typed_values import WireError, build, checked


class _Joined(TypedDict):
    rank: int
    pid: int


class _Printed(TypedDict):
    event: Literal["output"]
    time: float
    stream: Literal["stdout", "stderr"]
    text: str


class _Reported(TypedDict):
    event: dict[str, Any]


class _Finished(TypedDict):
    result: RunResult
    weights: dict[str, Any]


class _Failed(TypedDict):
    problem: Problem
    ours: bool


class _Order(TypedDict):
    command: str


_KINDS: dict[str, Any] = {
    "rank": _Joined,
    "stream": _Printed,
    "event": _Reported,
    "result": _Finished,
    "problem": _Failed,
    "command": _Order,
}


def checked_message(message: object, *kinds: str) -> dict[str, Any]:
    """A message that was received, of one of ``kinds``, each the name of its first field.

    Raises:
        FormatError: it is none of them, or a field has another type.
    """
    try:
        if not isinstance(message, dict):
            raise WireError(f"must be a dict: got {type(message).__name__}")
        kind = next((each for each in kinds if each in message), None)
        if kind is None:
            raise WireError(f"none of {', '.join(kinds)}: got {list(message)!r:.200}")
        if unknown := message.keys() - _KINDS[kind].__annotations__.keys():
            raise WireError(f"unknown field: {', '.join(sorted(map(repr, unknown)))}")
        checked(_plain(message), _KINDS[kind], kind)
        if kind == "event":
            _check_event(message["event"])
    except WireError as error:
        said = " ".join(str(error).split())
        raise FormatError(
            f"workers: a message from another process is not valid: {said}; resume from the last checkpoint, "
            "and report it"
        ) from None
    return message


def result_of(message: Mapping[str, Any]) -> RunResult:
    """The result in a checked message."""
    made: RunResult = build(RunResult, _plain(message["result"]), "result")
    return made


def _check_event(event: dict[str, Any]) -> None:
    kind = event.get("event")
    if not isinstance(kind, str) or kind not in _events():
        raise WireError(f"event: unknown: {kind!r:.200}")
    checked(_plain(event), _events()[kind], f"event {kind}")


@cache
def _events() -> dict[str, Any]:
    return {kind: each for each in TRAINING_EVENTS for kind in get_args(get_type_hints(each)["event"])}


def _plain(value: Any) -> Any:
    """The value as JSON has it: tuples are lists, an array of one number is that number."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
