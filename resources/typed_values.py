"""Values from another process against declared types: dataclasses (jobs) and TypedDicts (events)."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NotRequired, Union, get_args, get_origin

import numpy as np

MOST_TEXT = 1000
"""Characters of an error about a message."""
LARGEST = 1 << 64
_PLAIN = {int: (int,), float: (float, int), str: (str,), bool: (bool,), type(None): (type(None),)}


class WireError(ValueError):
    """What can't be sent, or was received and isn't valid: ``where: what is wrong: values seen``.

    A message that is too long is cut: it may have names that the other side sent.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= MOST_TEXT else f"{message[:MOST_TEXT]}...")


def checked(value: Any, kind: Any, where: str) -> Any:
    """``value`` as the type ``kind``: lists become tuples and dicts dataclasses where it says so.

    Args:
        kind: a plain type, a collection of them, Literal, union, array, TypedDict or dataclass.
        where: names the field in the message.

    Raises:
        WireError: the value has another type.
    """
    if kind is Any:
        return value
    if kind in _PLAIN:
        if type(value) in _PLAIN[kind]:
            if type(value) is int and abs(value) >= LARGEST:
                raise WireError(f"{where}: an integer of {value.bit_length()} bits, where 64 is the most")
            return value
        raise _wrong(value, kind, where)
    if dataclasses.is_dataclass(kind):
        return build(kind, value, where)
    if typing.is_typeddict(kind):
        return _typed_dict(value, kind, where)
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, types.UnionType):
        return _union(value, arguments, kind, where)
    if origin is Literal:
        if any(type(value) is type(each) and value == each for each in arguments):
            return value
    elif origin is np.ndarray:
        if isinstance(value, np.ndarray):
            return value
    elif origin in (list, Sequence):
        if isinstance(value, list):
            return list(_items(value, arguments[0] if arguments else Any, where))
    elif origin is tuple:
        if isinstance(value, list):
            return _tuple(value, arguments, kind, where)
    elif origin in (dict, Mapping) and isinstance(value, dict):
        key_kind, of = arguments or (str, Any)
        return {
            _key(key, key_kind, where): checked(each, of, f"{where}[{key!r}]") for key, each in value.items()
        }
    raise _wrong(value, kind, where)


def build(kind: Any, values: Any, where: str) -> Any:
    """The dataclass ``kind`` of plain values. Raises WireError: unknown, missing or wrong fields."""
    if not isinstance(values, dict):
        raise _wrong(values, kind, where)
    hints = _hints(kind)
    fields = {each.name: each for each in dataclasses.fields(kind)}
    if unknown := sorted(values.keys() - fields.keys()):
        raise WireError(f"{where}: unknown field: {', '.join(map(repr, unknown))}")
    required = {name for name, each in fields.items() if _is_required(each)}
    if missing := sorted(required - values.keys()):
        raise WireError(f"{where}: missing field: {', '.join(map(repr, missing))}")
    return kind(**{name: checked(value, hints[name], f"{where}.{name}") for name, value in values.items()})


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, of nested ones too, as ``build`` takes them."""
    return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@functools.lru_cache(256)
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _typed_dict(value: Any, kind: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(value, kind, where)
    found = dict(value)
    for name, hint, plain, items, optional in _entries(kind):
        if name not in value:
            if not optional:
                raise WireError(f"{where}: missing field: {name!r}")
            continue
        each = value[name]
        # The common cases at once: several events a second have lists of numbers.
        if (type(each) in plain and type(each) is not int) or (
            type(each) is list and items and items.issuperset(map(type, each))
        ):
            continue
        found[name] = checked(each, hint, f"{where}.{name}")
    return found


@functools.lru_cache(256)
def _entries(kind: Any) -> tuple[tuple[str, Any, tuple[type, ...], frozenset[type], bool], ...]:
    """Of each field: name, type, plain types of a value, plain types of a list's items, is optional."""
    found = []
    for name, hint in _hints(kind).items():
        optional = get_origin(hint) is NotRequired
        hint = get_args(hint)[0] if optional else hint
        items: tuple[type, ...] = _PLAIN.get(get_args(hint)[0], ()) if get_origin(hint) is list else ()
        found.append((name, hint, _PLAIN.get(hint, ()), frozenset(items), optional))
    return tuple(found)


def _union(value: Any, arguments: tuple[Any, ...], kind: Any, where: str) -> Any:
    for each in arguments:
        try:
            return checked(value, each, where)
        except WireError:
            continue
    raise _wrong(value, kind, where)


def _items(value: list[Any], of: Any, where: str) -> Iterator[Any]:
    allowed = _PLAIN.get(of)
    if of is Any or (allowed is not None and all(type(each) in allowed for each in value)):
        yield from value
    else:
        for at, each in enumerate(value):
            yield checked(each, of, f"{where}[{at}]")


def _tuple(value: list[Any], arguments: tuple[Any, ...], kind: Any, where: str) -> tuple[Any, ...]:
    if not arguments or arguments[-1] is Ellipsis:
        return tuple(_items(value, arguments[0] if arguments else Any, where))
    if len(value) != len(arguments):
        raise _wrong(value, kind, where)
    return tuple(
        checked(each, of, f"{where}[{at}]")
        for at, (each, of) in enumerate(zip(value, arguments, strict=True))
    )


def _key(key: Any, kind: Any, where: str) -> Any:
    """Keys of JSON are texts; those of integers are read as such."""
    if kind is int and isinstance(key, str) and key.lstrip("-").isdecimal() and len(key) < 20:
        return int(key)
    return checked(key, kind, where)


def _wrong(value: Any, kind: Any, where: str) -> WireError:
    wanted = kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
    return WireError(f"{where}: must be {wanted}: got {type(value).__name__}")
