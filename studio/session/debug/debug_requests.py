"""What the page Debug asks of its child process, and what the child reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from studio.session.work.job import Request

Way = Literal["step", "back", "continue", "until_nan", "restart"]


class DebugOpened(TypedDict):
    """The batch is ready. ``parts`` have name, Program (or None) and rows; ``source`` is the whole file that
    most operators come from, empty where there is none."""

    event: Literal["debug_opened"]
    time: float
    title: str
    notes: list[str]
    parts: list[dict[str, Any]]
    source: str
    source_file: str


class DebugStopped(TypedDict):
    """The debugger stands. ``breakpoints`` have, in the order in which the request ``watching`` sent them,
    ``text``, ``line``, ``hit`` and ``refused``; ``updates`` rows of parameters with before, gradient and
    after."""

    event: Literal["debug_stopped"]
    time: float
    request: int
    watching: int
    stop: dict[str, Any]
    breakpoints: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    values: list[dict[str, Any]]
    updates: list[dict[str, Any]]


class DebugProgress(TypedDict):
    """Operators are being computed."""

    event: Literal["debug_progress"]
    time: float
    message: str
    done: int
    total: int


class DebugShown(TypedDict):
    """A view of a value: ``kind`` is statistics, histogram, image or rows; see
    :mod:`engine.debugger.views`. ``values`` has arrays in place of their texts."""

    event: Literal["debug_shown"]
    time: float
    request: int
    name: str
    kind: str
    values: dict[str, Any]


class DebugRefused(TypedDict):
    """A request that could not be carried out; nothing has changed."""

    event: Literal["debug_refused"]
    time: float
    request: int
    message: str


@dataclass(frozen=True)
class GoOn(Request):
    """Move to another position. ``batches`` is over how many batches *until_nan* may go."""

    request: int
    way: Way
    batches: int = 1
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class WatchFor(Request):
    """Stop at these breakpoints and conditions from now on, in place of those before, and watch these
    values. With ``values`` each stop lists all values that there are."""

    request: int
    breakpoints: tuple[dict[str, Any], ...]
    conditions: tuple[dict[str, Any], ...]
    watches: tuple[str, ...]
    values: bool = False


@dataclass(frozen=True)
class ShowValue(Request):
    """A view of a value at the position."""

    request: int
    name: str
    kind: Literal["statistics", "histogram", "image", "rows"]
    options: dict[str, int]


@dataclass(frozen=True)
class ChangeValue(Request):
    """Change a value at the position: one number, all of them, or by a factor."""

    request: int
    name: str
    how: Literal["number", "fill", "scale"]
    value: str
    index: tuple[int, ...] = ()


REQUESTS = (GoOn, WatchFor, ShowValue, ChangeValue)
EVENTS = (DebugOpened, DebugStopped, DebugProgress, DebugShown, DebugRefused)
