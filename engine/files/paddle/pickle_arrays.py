"""The globals that Paddle's pickles name: arrays and scalars of NumPy, tuples of names and arrays."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import numpy as np

from engine.files.paddle.pickle_values import Blob, Charge, Malformed, Name, Pending, Text, raw, shown
from engine.files.paddle.pickles import Meaning, Vocabulary, Walk, check_key

_CODES = frozenset(("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"))
_ORDERS = {"<": "<", ">": ">", "|": "=", "=": "="}
_MOST_DIMENSIONS = 32  # of NumPy 1
_AFTER_ORDER = (None, None, None, -1, -1, 0)  # no subarray, no fields; no size or alignment of one's own
_BUILTINS = ("builtins", "__builtin__")
_LATIN = ("latin1", "latin-1", "iso-8859-1")


class PickledDtype(Pending):
    """A dtype: BUILD gives its byte order."""

    what = "a dtype"

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code

    def build(self, charge: Charge, state: object) -> None:
        if (
            self.ready
            or type(state) is not tuple
            or len(state) != 8
            or type(state[0]) is not int
            or state[0] != 3
            or type(state[1]) is not str
            or state[1] not in _ORDERS
            or any(type(a) is not type(b) or a != b for a, b in zip(state[2:], _AFTER_ORDER, strict=True))
        ):
            raise Malformed("a dtype has a state of an unknown form")
        self.value, self.ready = np.dtype(_ORDERS[state[1]] + self.code), True


class PickledArray(Pending):
    """An array: BUILD gives shape, dtype, order and numbers."""

    what = "an array"

    def build(self, charge: Charge, state: object) -> None:
        if self.ready or type(state) is not tuple or len(state) != 5:
            raise Malformed("an array has a state of an unknown form")
        _, shape, dtype, fortran, numbers = state
        if fortran not in (True, False) or type(fortran) not in (bool, int):
            raise Malformed("an array has a state of an unknown form")
        self.take(charge, shape, dtype, bool(fortran), numbers)

    def take(self, charge: Charge, shape: object, dtype: object, fortran: bool, numbers: object) -> None:
        """Make the array. Raises Malformed where the parts don't fit one another."""
        if not isinstance(dtype, PickledDtype):
            raise Malformed("an array has a dtype of an unknown form")
        self.value, self.ready = array_of(charge, shape, known_dtype(dtype), fortran, numbers), True


def known_dtype(dtype: PickledDtype) -> np.dtype[Any]:
    """The dtype itself; one without a BUILD has the byte order of this computer."""
    return dtype.value if dtype.ready else np.dtype(dtype.code)


def array_of(
    charge: Charge, shape: object, dtype: np.dtype[Any], fortran: bool, numbers: object
) -> np.ndarray[Any, Any]:
    """A writable array of native byte order. Raises Malformed where the parts don't fit one another."""
    if (
        type(shape) is not tuple
        or len(shape) > _MOST_DIMENSIONS
        or any(type(size) is not int or size < 0 for size in shape)
    ):
        raise Malformed("an array has an invalid shape")
    if isinstance(numbers, list):
        raise Malformed("an array holds Python objects, which are refused")
    if isinstance(numbers, Text):
        charge(len(numbers.view))  # for as long as it is decoded
    stored = raw(numbers)
    if math.prod(shape) * dtype.itemsize != len(stored):
        raise Malformed(f"an array {dtype.name}{list(shape)} has {len(stored)} bytes of numbers")
    charge(len(stored))
    if dtype.kind == "b":
        flat = np.frombuffer(stored, np.uint8) != 0  # any byte but 0 is true
    else:
        flat = np.frombuffer(stored, dtype).astype(dtype.newbyteorder("="))
    found: np.ndarray[Any, Any] = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
    return found


def _reconstruct(walk: Walk, given: tuple[Any, ...]) -> Any:
    if len(given) != 3 or given[0] != Name("numpy", "ndarray") or given[1] != (0,):
        raise Malformed("an array is made in an unknown way")
    return PickledArray()


def _dtype(walk: Walk, given: tuple[Any, ...]) -> Any:
    code = given[0] if given else None
    if type(code) is bytes:
        code = code.decode("ascii")
    if type(code) is not str or code not in _CODES:
        objects = type(code) is str and code[:1] == "O"
        if objects:
            raise Malformed("an array holds Python objects, which are refused")
        named = shown(code) if type(code) is str else "of an unknown form"
        raise Malformed(f"an array has dtype {named}, which holds no numbers")
    return PickledDtype(code)


def _scalar(walk: Walk, given: tuple[Any, ...]) -> Any:
    if len(given) != 2 or not isinstance(given[0], PickledDtype):
        raise Malformed("a number of NumPy is made in an unknown way")
    return array_of(walk.charge, (), known_dtype(given[0]), False, given[1])[()]


def _frombuffer(walk: Walk, given: tuple[Any, ...]) -> Any:
    if len(given) != 4 or type(given[3]) is not str or given[3] not in ("C", "F"):
        raise Malformed("an array is made in an unknown way")
    found = PickledArray()
    found.take(walk.charge, given[2], given[1], given[3] == "F", given[0])
    return found


def _encode(walk: Walk, given: tuple[Any, ...]) -> Any:
    """Bytes that protocol 2 stores as a text."""
    if len(given) != 2 or type(given[1]) is not str or given[1] not in _LATIN:
        raise Malformed("bytes are encoded in an unknown way")
    text = given[0]
    if type(text) is str:
        return text.encode("latin-1")
    if not isinstance(text, Text):
        raise Malformed("bytes are encoded in an unknown way")
    walk.charge(len(text.view))
    return Blob(text.decoded().encode("latin-1"))


def _items(given: tuple[Any, ...], what: str) -> list[Any] | tuple[Any, ...]:
    if not given:
        return ()
    if len(given) != 1 or type(given[0]) not in (list, tuple):
        raise Malformed(f"a {what} is made in an unknown way")
    found: list[Any] | tuple[Any, ...] = given[0]
    return found


def _tuple(walk: Walk, given: tuple[Any, ...]) -> Any:
    items = _items(given, "tuple")
    walk.charge(8 * len(items))
    return tuple(items)


def _set(walk: Walk, given: tuple[Any, ...]) -> Any:
    items = _items(given, "set")
    walk.charge(80 * len(items))
    for item in items:
        check_key(item, "a value in a set")
    return set(items)


def _no_bytes(walk: Walk, given: tuple[Any, ...]) -> Any:
    """Empty bytes as protocol 2 stores them, for an empty array too."""
    if given:
        raise Malformed("bytes are made in an unknown way")
    return b""


def ordered_dict(walk: Walk, given: tuple[Any, ...]) -> OrderedDict[Any, Any]:
    """An OrderedDict: empty, or of pairs, as Python 2 writes it."""
    found: OrderedDict[Any, Any] = OrderedDict()
    items = _items(given, "dict")
    walk.charge(200 * len(items))
    for pair in items:
        if type(pair) not in (list, tuple) or len(pair) != 2:
            raise Malformed("a dict is made in an unknown way")
        check_key(pair[0], "a key of a dict")
        found[pair[0]] = pair[1]
    return found


def _lod_tensor(walk: Walk, given: tuple[Any, ...]) -> Any:
    """The one form in which Paddle writes a LoDTensor: ``eval('data', {'data': array})``. Nothing is
    evaluated."""
    if len(given) == 2 and type(given[0]) is str and given[0] == "data" and type(given[1]) is dict:
        held = given[1]
        if list(held) == ["data"] and isinstance(held["data"], PickledArray):
            return held["data"]
    raise Malformed("it names 'builtins.eval', which is refused")


_NUMPY: dict[tuple[str, str], Meaning] = {
    ("numpy", "ndarray"): None,
    ("numpy", "dtype"): _dtype,
    ("_codecs", "encode"): _encode,
    **{
        (module, name): meaning
        for package in ("numpy.core", "numpy._core")
        for module, name, meaning in (
            (f"{package}.multiarray", "_reconstruct", _reconstruct),
            (f"{package}.multiarray", "scalar", _scalar),
            (f"{package}.numeric", "_frombuffer", _frombuffer),
        )
    },
}
PLAIN: dict[tuple[str, str], Meaning] = {
    **_NUMPY,
    ("collections", "OrderedDict"): ordered_dict,
    **{(module, "set"): _set for module in _BUILTINS},
    **{(module, "bytes"): _no_bytes for module in _BUILTINS},
}
"""Arrays, numbers and containers, which the pickles of PyTorch hold too."""

PADDLE = Vocabulary(
    "a state dict of arrays",
    {
        **PLAIN,
        **{(module, "tuple"): _tuple for module in _BUILTINS},
        **{(module, "eval"): _lod_tensor for module in _BUILTINS},
    },
)
"""What ``paddle.save`` writes."""
