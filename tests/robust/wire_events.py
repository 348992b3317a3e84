"""Messages of a child to the window as the fuzz makes them: events of declared types, odd, cut, mixed up."""

from __future__ import annotations

import dataclasses
import json
import random
import struct
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, Union, get_args, get_origin

import numpy as np

from resources.typed_values import WireError
from studio.session.work.job import Job, _declared
from studio.session.work.wire import encode
from tests.robust.mutations import ODD, mutated, mutated_bytes

_TEXTS = ["", "a", "test", "lenet", "/tmp/none", "line\nline", "\ud800", "<b>x</b>", "x" * 3000, "0" * 64]
_INTEGERS = [0, 0, 1, 1, 2, 3, 5, 10, 100]
_ODD_INTEGERS = [-1, 2**31 - 1, 2**31, 2**40, 2**63 - 1, 2**63, -(2**63), 10**30, 10**300]
_ODD_FLOATS = [float("nan"), float("inf"), float("-inf"), -1.0, 1e308, -1e308, 5e-324, -0.0, 1e30]
_DTYPES = ["?", "u1", "u1", "i8", "f2", "f4", "f8", ">f4", "c16", "u8"]
_SHAPES = [(), (0,), (1,), (10,), (28, 28), (1, 28, 28), (4, 28, 28), (3, 0, 2), (2, 3, 4, 5), (1,) * 20]


def value_of(kind: Any, draw: random.Random, odd: float) -> Any:
    """A value of a declared type; with the probability ``odd`` one from the edge of what the type allows."""
    if kind is Any:
        return draw.choice([{}, [], 1, "x", {"blocks": [{"ops": [], "vars": []}]}, draw.choice(ODD)])
    if typing.is_typeddict(kind) or dataclasses.is_dataclass(kind):
        found = {}
        for name, hint in typing.get_type_hints(kind, include_extras=True).items():
            if get_origin(hint) is NotRequired:
                if draw.random() < 0.5:
                    continue
                hint = get_args(hint)[0]
            found[name] = value_of(hint, draw, odd)
        return found
    if kind is bool:
        return draw.random() < 0.5
    if kind is int:
        return draw.choice(_ODD_INTEGERS if draw.random() < odd else _INTEGERS)
    if kind is float:
        return draw.choice(_ODD_FLOATS) if draw.random() < odd else draw.random()
    if kind is str:
        return draw.choice(_TEXTS) if draw.random() < 4 * odd else draw.choice(["a", "b", "run"])
    if kind is type(None):
        return None
    return _of_several(kind, draw, odd)


def _of_several(kind: Any, draw: random.Random, odd: float) -> Any:
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, types.UnionType):
        return value_of(draw.choice(arguments), draw, odd)
    if origin is Literal:
        return draw.choice(arguments)
    if origin is np.ndarray:
        shape = draw.choice(_SHAPES)
        return np.zeros(shape, draw.choice(_DTYPES) if draw.random() < 4 * odd else "u1")
    count = draw.choice([0, 1, 2, 3]) if draw.random() < 4 * odd else 2
    if origin in (dict, Mapping):
        key, of = arguments or (str, Any)
        keys = [
            str(each) if key is int else draw.choice(["epochs", "data", "a", "lr"]) for each in range(count)
        ]
        return {each: value_of(of, draw, odd) for each in keys}
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return [value_of(each, draw, odd) for each in arguments]
    if origin in (list, tuple, Sequence):
        return [value_of(arguments[0] if arguments else Any, draw, odd) for _ in range(count)]
    raise TypeError(f"no value for {kind}")


def some_events(job: Job, first: Sequence[Mapping[str, Any]], draw: random.Random) -> list[dict[str, Any]]:
    """Events that ``job`` declares, in any order; ``first`` are events as they should be."""
    kinds = _declared(type(job))
    odd = draw.choice((0.0, 0.02, 0.1, 0.3))
    found: list[dict[str, Any]] = [dict(each) for each in first] if draw.random() < 0.7 else []
    for _ in range(draw.randint(1, 8)):
        kind = draw.choice(list(kinds))
        found.append(value_of(kinds[kind], draw, odd) | {"event": kind})
    if draw.random() < 0.3:
        draw.shuffle(found)
    if draw.random() < 0.3:
        found += found[: draw.randint(1, len(found))]
    if draw.random() < 0.3:
        at = draw.randrange(len(found))
        found[at] = mutated(found[at], draw, 0.9)
    return found


def frames(values: Sequence[Any], draw: random.Random) -> list[bytes]:
    """The messages that carry ``values``: now and then cut, repeated, reordered or with damaged bytes."""
    made = [_frame(value) for value in values]
    if draw.random() < 0.25:
        at = draw.randrange(len(made))
        made[at] = mutated_bytes(made[at], draw, made)
    messages, batch = [], b""
    for each in made:
        batch += each
        if draw.random() < 0.5:
            messages.append(batch)
            batch = b""
    messages.append(batch)
    if draw.random() < 0.05:
        draw.shuffle(messages)
    if draw.random() < 0.05:
        messages[-1] = messages[-1][: draw.randrange(len(messages[-1]) + 1)]
    return messages


def _frame(value: Any) -> bytes:
    try:
        return encode(value)
    except WireError:  # what no child of ours would send
        text = json.dumps(value, default=repr, skipkeys=True).encode()
        return struct.pack("<QQ", len(text), 0) + text
