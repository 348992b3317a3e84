"""Collectives of Python values: JSON and arrays travel, nothing that a reader would execute."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, FormatError
from engine.core.values.bfloat import adopt, plain
from engine.distributed.groups import Group, group_of, outside, place_of
from engine.distributed.mpi import bytes_of
from engine.eager.tensor import Tensor

_LENGTH = 8  # bytes in front that say how long the JSON is


def packed(value: object, where: str) -> np.ndarray[Any, Any]:
    """``value`` as bytes: None, numbers, texts, bytes, arrays, Tensors, and lists, tuples, dicts of those.

    Raises:
        DTypeError: a value of another class.
    """
    blocks: list[bytes] = []

    def block(data: bytes) -> int:
        blocks.append(data)
        return len(data)

    def plan(item: Any) -> Any:
        if item is None or item.__class__ in (bool, int, float, str):
            return item
        if isinstance(item, (Tensor, np.ndarray, np.generic)):
            word = "tensor" if isinstance(item, Tensor) else "array"
            array = np.asarray(plain(item.numpy()) if isinstance(item, Tensor) else item, order="C")
            if array.dtype.kind in "biufc":
                return [word, array.dtype.str, array.shape, block(array.tobytes())]
        if isinstance(item, bytes):
            return ["bytes", block(item)]
        if item.__class__ in (list, tuple):
            return [item.__class__.__name__, [plan(each) for each in item]]
        if item.__class__ is dict:
            return ["dict", [[plan(key), plan(each)] for key, each in item.items()]]
        raise DTypeError(
            f"{where}: {type(item).__name__} does not travel between processes: only None, numbers, texts, "
            "bytes, arrays, Tensors, and lists, tuples and dicts of those"
        )

    text = json.dumps(plan(value)).encode()
    data = b"".join([len(text).to_bytes(_LENGTH, "little"), text, *blocks])
    return np.frombuffer(data, np.uint8).copy()


def unpacked(data: np.ndarray[Any, Any]) -> Any:
    """The value that ``packed`` made bytes of.

    Raises:
        FormatError: the bytes are not such.
    """
    raw = data.tobytes()
    start = _LENGTH + int.from_bytes(raw[:_LENGTH], "little")

    def take(length: int) -> bytes:
        nonlocal start
        found = raw[start : start + length]
        if length < 0 or len(found) != length:
            raise ValueError("the data ends early")
        start += length
        return found

    def value(item: Any) -> Any:
        if not isinstance(item, list):
            return item
        match item:
            case ["tensor" | "array" as word, str(kind), list(shape), int(length)]:
                dtype = np.dtype(kind)
                if dtype.kind not in "biufc":
                    raise ValueError(f"an array of {dtype}")
                array = np.frombuffer(take(length), dtype).reshape(shape).copy()
                return Tensor(adopt(array)) if word == "tensor" else array
            case ["bytes", int(length)]:
                return take(length)
            case ["list", list(items)]:
                return [value(each) for each in items]
            case ["tuple", list(items)]:
                return tuple(value(each) for each in items)
            case ["dict", list(items)]:
                return {value(key): value(each) for key, each in items}
        raise ValueError(f"an unknown kind: {item[:1]}")

    try:
        return value(json.loads(raw[_LENGTH:start]))
    except (ValueError, TypeError, RecursionError, OverflowError, SyntaxError, MemoryError) as error:
        raise FormatError(f"distributed: a value from another process is damaged: {error}") from None


def _gathered(value: object, group: Group, where: str) -> list[Any]:
    mine = packed(value, where)
    if group.nranks == 1:
        return [unpacked(mine)]
    sizes = np.empty(group.nranks, np.int64)
    group.process_group.Allgather(np.array([mine.size], np.int64), sizes)
    everything = np.empty(int(sizes.sum()), np.uint8)
    group.process_group.Allgatherv(mine, [everything, sizes.tolist()])
    return [unpacked(part) for part in np.split(everything, np.cumsum(sizes)[:-1])]


def broadcast_value(value: object, root: int, group: Group, where: str) -> Any:
    """``value`` of the member ``root`` of ``group``, in every member."""
    if group.nranks == 1:
        return unpacked(packed(value, where))
    data = packed(value, where) if group.rank == root else np.empty(0, np.uint8)
    size = np.array([data.size], np.int64)
    group.process_group.Bcast(size, root)
    if group.rank != root:
        data = np.empty(int(size[0]), np.uint8)
    group.process_group.Bcast(bytes_of(data), root)
    return unpacked(data)


def all_gather_object(object_list: list[Any], obj: object, group: Group | None = None) -> None:
    """Append ``obj`` of every process to ``object_list``, in the order of the ranks.

    Differs from Paddle: JSON and arrays travel, not any object that pickle takes.
    """
    if not outside(group):
        object_list.extend(_gathered(obj, group_of(group, "all_gather_object"), "all_gather_object"))


def broadcast_object_list(object_list: list[Any], src: int, group: Group | None = None) -> None:
    """Replace the items of ``object_list`` by those of the process ``src``, which has as many.

    Differs from Paddle: JSON and arrays travel, not any object that pickle takes.
    """
    if outside(group):
        return
    group = group_of(group, "broadcast_object_list")
    root = place_of(src, group, "broadcast_object_list")
    got = broadcast_value(list(object_list), root, group, "broadcast_object_list")
    if len(got) != len(object_list):
        raise ArgumentError(
            f"broadcast_object_list: the lists must have one length: here {len(object_list)} items, in rank "
            f"{src} {len(got)}"
        )
    object_list[:] = got


def scatter_object_list(
    out_object_list: list[Any],
    in_object_list: list[Any] | None = None,
    src: int = 0,
    group: Group | None = None,
) -> None:
    """Put item i of ``in_object_list`` of the process ``src`` into ``out_object_list`` of process i, alone.

    Differs from Paddle: JSON and arrays travel, not any object that pickle takes.
    """
    if outside(group):
        return
    group = group_of(group, "scatter_object_list")
    root = place_of(src, group, "scatter_object_list")
    if group.rank == root and (in_object_list is None or len(in_object_list) != group.nranks):
        given = "None" if in_object_list is None else f"{len(in_object_list)} items"
        raise ArgumentError(
            f"scatter_object_list: in_object_list needs an item for each of the {group.nranks} processes: "
            f"got {given}"
        )
    out_object_list[:] = [broadcast_value(in_object_list, root, group, "scatter_object_list")[group.rank]]
