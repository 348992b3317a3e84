"""Which call of a Layer an operator of a Program was made in: ``layer1.0.relu#2``.

While a function is traced, each call of a Layer has a path: the Layer's name below the calling one, and from
the second call on its number within that one. The name of a Layer would not do: a ResNet calls one ``relu``
three times in a block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from engine.core.spans import watch

LONGEST, DEEPEST = 1000, 100  # letters of a path in a file, and names in it


class _Call:
    """A call that is running: its path, the name of its Layer, and how often it has called which Layer."""

    __slots__ = ("counts", "name", "names", "path")

    def __init__(self, path: str, name: str, names: Mapping[int, str]) -> None:
        self.path = path
        self.name = name
        self.names = names  # of all Layers, by id
        self.counts: Counter[str] = Counter()


_running: ContextVar[_Call | None] = ContextVar("layer_call", default=None)


@contextmanager
def noting_layer_calls(names: Mapping[int, str]) -> Iterator[None]:
    """Give calls of Layers paths within the block; ``names`` are those of the Layers, by id."""
    token = _running.set(_Call("", "", names))
    watch.observe_layers(True)
    try:
        yield
    finally:
        watch.observe_layers(False)
        _running.reset(token)


def names_of(layer: object) -> dict[int, str]:
    """The names of the Layers of a tree, by id; that of its root is empty. Nothing for another object."""
    named: Callable[..., Iterator[tuple[str, object]]] | None = getattr(layer, "named_sublayers", None)
    return {} if named is None else {id(below): name for name, below in named(include_self=True)}


@contextmanager
def calling(layer: object) -> Iterator[None]:
    """A call of ``layer``; nothing where calls get no paths."""
    outer = _running.get()
    if outer is None:
        yield
        return
    name = outer.names.get(id(layer))
    if name == "":  # the Layer whose forward is traced
        yield
        return
    local = name or type(layer).__name__
    if name and outer.name and name.startswith(f"{outer.name}."):
        local = name[len(outer.name) + 1 :]
    outer.counts[local] += 1
    if outer.counts[local] > 1:
        local += f"#{outer.counts[local]}"
    token = _running.set(_Call(f"{outer.path}.{local}" if outer.path else local, name or "", outer.names))
    try:
        yield
    finally:
        _running.reset(token)


def layer_call() -> str:
    """The path of the call that is running; empty outside of a Layer that the traced function calls."""
    running = _running.get()
    return "" if running is None else running.path


def common_call(paths: Sequence[str]) -> str:
    """The path of the innermost call that all of these are a part of."""
    shared = paths[0].split(".")
    for path in paths[1:]:
        parts = path.split(".")
        same = [a == b for a, b in zip(shared, parts, strict=False)]
        shared = shared[: same.index(False) if False in same else len(same)]
    return ".".join(shared)


@contextmanager
def within(path: str) -> Iterator[None]:
    """Let operators made in the block have this path; an empty one changes nothing."""
    if not path:
        yield
        return
    token = _running.set(_Call(path, "", {}))
    try:
        yield
    finally:
        _running.reset(token)


def is_path(path: object) -> bool:
    """Whether a value from a file is a path that may be shown."""
    return isinstance(path, str) and len(path) <= LONGEST and path.count(".") < DEEPEST and path.isprintable()


def as_scope(path: str) -> str:
    """A path as name scopes of other formats are written: ``/layer1/0/relu#2/``."""
    return f"/{path.replace('.', '/')}/"


def of_scope(scope: str) -> str:
    """The path that a scope stands for; empty where there is none.

    PyTorch repeats the name of a ``Sequential`` in that of its parts: ``/layer1/layer1.0/`` is ``layer1.0``.
    """
    parts: list[str] = []
    for part in scope.split("/"):
        if parts and part.startswith(f"{parts[-1]}."):
            parts[-1] = part
        elif part:
            parts.append(part)
    path = ".".join(parts)
    return path if is_path(path) else ""
