"""Kinds of arguments, and how one is drawn: each gives a description that JSON can hold.

A tensor is ``{"t": shape, "d": dtype, "s": seed, "v": values}``, perhaps with the number of its classes
(``"hi"``); ``{"list": [...]}``, ``{"tuple": [...]}``, ``{"dtype": name}``, ``{"np": tensor}`` and
``{"slice": [...]}`` are what they say; ``{"v": value}`` is a plain value.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

Description = dict[str, Any]

DTYPES = {
    "float": {"float32": 76, "float64": 20, "float16": 2, "int32": 1, "bfloat16": 1},
    "any": {
        "float32": 48,
        "float64": 14,
        "int64": 12,
        "int32": 9,
        "bool": 5,
        "complex64": 3,
        "uint8": 2,
        "int8": 2,
        "int16": 2,
        "float16": 2,
        "complex128": 1,
        "bfloat16": 1,
    },
    "int": {"int64": 66, "int32": 30, "int16": 1, "uint8": 2, "float32": 1},
    "bool": {"bool": 97, "int32": 1, "float32": 2},
    "complex": {"complex64": 60, "complex128": 37, "float32": 3},
}
SIZES = {0: 3, 1: 18, 2: 26, 3: 27, 4: 16, 5: 10}


class Draw:
    """What has been drawn for one call: later arguments follow the first tensor and named sizes."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sizes: dict[str, int] = {}
        self.batch: list[int] | None = None
        self.first: Description | None = None
        self.drawn: dict[str, Description] = {}

    def weighted(self, weights: dict[Any, int]) -> Any:
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def size(self, name: str) -> int:
        """A size by its name: an upper-case one is larger, a number stands for itself."""
        if name.lstrip("-").isdigit():
            return int(name)
        if name.startswith("@"):
            return self.size_of_first(name[1:])
        base, _, factor = name.partition("*")
        if base not in self.sizes:
            self.sizes[base] = self.rng.randint(4, 9) if base.isupper() else self.weighted(SIZES)
        return self.sizes[base] * (self.size(factor) if factor else 1)

    def size_of_first(self, at: str) -> int:
        """The size of the first tensor at a dimension, or at the axis that was drawn."""
        shape = self.shape()
        if not at.lstrip("-").isdigit():
            axis = self.drawn.get(at, {}).get("v", 0)
            at = str(axis if isinstance(axis, int) else 0)
        if not shape or not -len(shape) <= int(at) < len(shape):
            return 1
        return shape[int(at)]

    def shape(self) -> list[int]:
        return list(self.first["t"]) if self.first else []

    def dims(self, text: str) -> list[int]:
        """``...,m,k`` as sizes; dots stand for up to two dimensions that all tensors share."""
        shape: list[int] = []
        for part in filter(None, text.split(",")):
            if part == "...":
                if self.batch is None:
                    self.batch = [self.weighted(SIZES) for _ in range(self.rng.choice([0, 0, 1, 1, 2]))]
                shape += self.batch
            elif part == "@":
                shape += self.shape()
            else:
                shape.append(self.size(part))
        return shape

    def tensor(self, shape: list[int], dtype: str, values: str = "", hi: int = 0) -> Description:
        if not values:
            values = self.weighted({"unit": 70, "wide": 18, "pos": 8, "special": 4})
        made = {"t": shape, "d": dtype, "s": self.rng.randrange(1000), "v": values}
        if hi:
            made["hi"] = hi
        if self.first is None:
            self.first = made
        return made

    def dtype(self, kind: str) -> str:
        """A dtype of the kind: mostly that of the first tensor, if it is of the kind."""
        if kind in DTYPES:
            if self.first and self.first["d"] in DTYPES[kind] and self.rng.random() < 0.93:
                return str(self.first["d"])
            return str(self.weighted(DTYPES[kind]))
        return kind


Kind = Callable[..., Description]
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    KINDS[function.__name__.rstrip("_")] = function
    return function


def draw(d: Draw, text: str) -> Description:
    """The argument that ``KIND:ARGUMENT:...`` describes."""
    name, *arguments = text.split(":")
    return KINDS[name](d, *arguments)


# ----- tensors -----


@kind
def any_(d: Draw, least: str = "0", most: str = "4", of: str = "any") -> Description:
    """A tensor of any shape and, where not said otherwise, any dtype."""
    rank = d.rng.randint(int(least), int(most))
    return d.tensor([d.weighted(SIZES) for _ in range(rank)], str(d.weighted(DTYPES[of])))


@kind
def float_(d: Draw, least: str = "0", most: str = "4") -> Description:
    return any_(d, least, most, "float")


@kind
def whole(d: Draw, least: str = "0", most: str = "4") -> Description:
    """Integers or booleans."""
    made = any_(d, least, most, "int")
    if d.rng.random() < 0.2:
        made["d"] = "bool"
    return made


@kind
def t(d: Draw, dims: str, of: str = "float", values: str = "") -> Description:
    """A tensor of named sizes."""
    return d.tensor(d.dims(dims), d.dtype(of), values)


@kind
def like(d: Draw, of: str = "any") -> Description:
    """A tensor that broadcasts with the first one; sometimes a number."""
    if d.rng.random() < 0.04:
        return {"v": d.rng.choice([2, -1, 0.5, 0, True])}
    shape = d.shape()
    form = d.rng.random()
    if form < 0.25:
        shape = [1 if d.rng.random() < 0.5 else n for n in shape]
    elif form < 0.4:
        shape = shape[d.rng.randint(0, len(shape)) :]
    elif form < 0.5:
        shape = [d.weighted(SIZES), *shape]
    return d.tensor(shape, d.dtype(of))


@kind
def same(d: Draw, of: str = "any", values: str = "") -> Description:
    """A tensor of the first one's shape."""
    return d.tensor(d.shape(), d.dtype(of), values)


@kind
def i(d: Draw, dims: str, high: str, least: str = "0") -> Description:
    """Indices below a size; sometimes from the end, rarely out of range."""
    hi = d.size(high)
    made = d.tensor(d.dims(dims), d.dtype("int"), "ints", hi)
    form = d.rng.random()
    if form < 0.06:
        made["lo"] = -hi
    elif form < 0.1:
        made["hi"] = hi + 2
    if least != "0":
        made["lo"] = int(least)
    return made


@kind
def mask(d: Draw, dims: str = "@") -> Description:
    return d.tensor(d.dims(dims), d.dtype("bool"), "bool")


@kind
def several(d: Draw, form: str, low: str = "1", high: str = "3") -> Description:
    """A list of tensors: of one shape, that broadcast, or of one shape but for the axis."""
    made = [any_(d, "1" if form == "joined" else "0", "3")]
    count = d.rng.randint(int(low), int(high))
    at = d.rng.randrange(len(made[0]["t"]) or 1)
    d.drawn["axis"] = {"v": at}
    for _ in range(count - 1):
        shape = list(made[0]["t"])
        if form == "joined" and d.rng.random() < 0.9:
            shape[at] = d.weighted(SIZES)
        elif form == "broadcast":
            shape = [1 if d.rng.random() < 0.3 else n for n in shape]
        elif form == "loose":
            shape = [d.weighted(SIZES) for _ in range(d.rng.randint(0, 2))]
        made.append(d.tensor(shape, d.dtype("any")))
    return {"list": made}


@kind
def vectors(d: Draw, low: str = "1", high: str = "3") -> Description:
    rank = 1 if d.rng.random() < 0.9 else d.rng.choice([0, 2])
    dtype = str(d.weighted(DTYPES["any"]))
    shapes = [[d.weighted(SIZES) for _ in range(rank)] for _ in range(d.rng.randint(int(low), int(high)))]
    return {"list": [d.tensor(shape, dtype) for shape in shapes]}


@kind
def chain(d: Draw) -> Description:
    """Matrices that can be multiplied one after the other."""
    sizes = [d.weighted(SIZES) for _ in range(d.rng.randint(3, 5))]
    dtype = str(d.weighted(DTYPES["float"]))
    made = [d.tensor([a, b], dtype) for a, b in pairwise(sizes)]
    return {"list": made}


# ----- plain values -----


@kind
def flag(d: Draw) -> Description:
    return {"v": d.rng.random() < 0.5}


@kind
def one(d: Draw, choices: str) -> Description:
    """One of the values between bars."""
    text = d.rng.choice(choices.split("|"))
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = text
    if isinstance(value, tuple):
        return {"tuple": [{"v": n} for n in value]}
    return {"v": value}


@kind
def int_(d: Draw, low: str = "0", high: str = "4") -> Description:
    most = d.size(high) if high.startswith("@") else int(high)
    value = d.rng.randint(int(low), max(most, int(low)))
    return _whole_number(d, value)


def _whole_number(d: Draw, value: int) -> Description:
    form = d.rng.random()
    if form < 0.04:
        return {"t": [], "d": d.rng.choice(["int64", "int32"]), "s": 0, "v": "just", "data": value}
    if form < 0.06:
        return {"np": {"t": [], "d": "int64", "s": 0, "v": "just", "data": value}}
    return {"v": value}


@kind
def num(d: Draw, low: str = "-2", high: str = "2") -> Description:
    """A number: floating, an integer, sometimes a tensor of one."""
    form = d.rng.random()
    value = round(d.rng.uniform(float(low), float(high)), 2)
    if form < 0.25:
        return {"v": round(value)}
    if form < 0.31:
        dtype = d.first["d"] if d.first else "float32"
        return {"t": d.rng.choice([[], [1]]), "d": dtype, "s": 0, "v": "just", "data": value}
    if form < 0.33:
        return {"np": {"t": [], "d": "float32", "s": 0, "v": "just", "data": value}}
    return {"v": value}


@kind
def real(d: Draw, low: str = "0", high: str = "1") -> Description:
    return {"v": round(d.rng.uniform(float(low), float(high)), 3)}


@kind
def axis(d: Draw) -> Description:
    """One dimension of the first tensor, from either end."""
    rank = len(d.shape())
    if not rank:
        return {"v": d.rng.choice([0, -1])}
    return _whole_number(d, d.rng.randrange(-rank, rank))


@kind
def axes(d: Draw) -> Description:
    """A dimension, several of them, or None for all."""
    rank = len(d.shape())
    form = d.rng.random()
    if form < 0.08:
        return {"v": None}
    if form < 0.55 or not rank:
        return axis(d)
    chosen = d.rng.sample(range(rank), d.rng.randint(1, rank))
    made = [n - rank if d.rng.random() < 0.4 else n for n in chosen]
    return _listed(d, made)


def _listed(d: Draw, values: list[int]) -> Description:
    """Integers as a list, a tuple, a tensor, or a list with a tensor."""
    form = d.rng.random()
    if form < 0.06:
        dtype = d.rng.choice(["int64", "int32"])
        return {"t": [len(values)], "d": dtype, "s": 0, "v": "just", "data": values}
    if form < 0.12 and values:
        made = [{"v": n} for n in values]
        at = d.rng.randrange(len(values))
        shape = d.rng.choice([[], [1]])
        made[at] = {"t": shape, "d": "int32", "s": 0, "v": "just", "data": values[at]}
        return {"list": made}
    return {("tuple" if form < 0.4 else "list"): [{"v": n} for n in values]}


@kind
def ints(d: Draw, count: str, low: str, high: str) -> Description:
    """A list of integers; a count ``r`` is the first tensor's rank."""
    n = len(d.shape()) if count == "r" else d.size(count)
    return _listed(d, [d.rng.randint(int(low), int(high)) for _ in range(n)])


@kind
def size(d: Draw, count: str, low: str, high: str) -> Description:
    """One integer for all of ``count`` dimensions, or a list of them."""
    if d.rng.random() < 0.55:
        return _whole_number(d, d.rng.randint(int(low), int(high)))
    return ints(d, count, low, high)


@kind
def dtype(d: Draw, of: str = "any") -> Description:
    """A dtype: its name, the object, sometimes NumPy's."""
    name = str(d.weighted(DTYPES[of]))
    form = d.rng.random()
    if form < 0.55:
        return {"v": name}
    return {"npdtype" if form > 0.95 and name != "bfloat16" else "dtype": name}


@kind
def shape(d: Draw) -> Description:
    values = [d.weighted(SIZES) for _ in range(d.rng.randint(0, 4))]
    return _listed(d, values)


@kind
def reshaped(d: Draw) -> Description:
    """A shape for the first tensor's elements: the same number of them, perhaps with -1 and 0."""
    have = d.shape()
    total = 1
    for n in have:
        total *= n
    parts: list[int] = []
    left = total
    while left > 1 and len(parts) < 3:
        divisors = [n for n in range(1, left + 1) if left % n == 0]
        parts.append(d.rng.choice(divisors))
        left //= parts[-1]
    parts = [*parts, left] if left != 1 or not parts else parts
    if parts and d.rng.random() < 0.5:
        parts[d.rng.randrange(len(parts))] = -1
    if d.rng.random() < 0.1 and parts:
        parts[d.rng.randrange(len(parts))] = d.rng.choice([0, 7, -1])
    return _listed(d, parts)


@kind
def expanded(d: Draw) -> Description:
    """A shape that the first tensor expands to."""
    made = [
        d.rng.randint(1, 4) if n == 1 and d.rng.random() < 0.7 else (-1 if d.rng.random() < 0.3 else n)
        for n in d.shape()
    ]
    made = [d.rng.randint(1, 3) for _ in range(d.rng.choice([0, 0, 1, 2]))] + made
    return _listed(d, made)


@kind
def perm(d: Draw) -> Description:
    rank = len(d.shape())
    return _listed(d, d.rng.sample(range(rank), rank))


@kind
def sections(d: Draw) -> Description:
    """In how many parts, or the sizes of the parts."""
    total = d.size_of_first("axis")
    if d.rng.random() < 0.5:
        divisors = [n for n in range(1, total + 1) if total % n == 0] or [1]
        return _whole_number(d, d.rng.choice(divisors))
    cut = d.rng.randint(0, total)
    parts = [cut, total - cut]
    if d.rng.random() < 0.3:
        parts[d.rng.randrange(2)] = -1
    return _listed(d, parts)


@kind
def subscript(d: Draw) -> Description:
    """The index in square brackets behind the first tensor."""
    rank = len(d.shape())
    if d.rng.random() < 0.1:
        return d.tensor(d.shape(), "bool", "bool")
    made: list[Description] = []
    for at in range(d.rng.randint(1, rank) if rank else 0):
        n = d.shape()[at]
        form = d.rng.random()
        bounds = [None if d.rng.random() < 0.4 else d.rng.randint(-n - 1, n + 1) for _ in range(2)]
        if form < 0.3:
            made.append({"v": d.rng.randint(-n, max(n - 1, 0))})
        elif form < 0.65:
            step = d.rng.choice([None, None, 1, 2, -1, -2])
            made.append({"slice": [*bounds, step]})
        elif form < 0.75:
            made.append(i(d, "2", str(max(n, 1))))
        elif form < 0.83:
            made.append({"list": [{"v": d.rng.randrange(max(n, 1))} for _ in range(2)]})
        elif form < 0.9:
            made.append({"v": None})
        else:
            made.append({"slice": [None, None, None]})
    if d.rng.random() < 0.12 or not made:
        made.insert(d.rng.randint(0, len(made)), {"ellipsis": True})
    return made[0] if len(made) == 1 and d.rng.random() < 0.8 else {"tuple": made}


@kind
def padding(d: Draw, dims: str) -> Description:
    """Padding of a convolution or pool: a number, one for each dimension, or a name."""
    form = d.rng.random()
    count = int(dims)
    if form < 0.5:
        return {"v": d.rng.choice([0, 0, 1, 1, 2])}
    if form < 0.65:
        return {"v": d.rng.choice(["SAME", "VALID", "same"])}
    if form < 0.85:
        return ints(d, str(count), "0", "2")
    return ints(d, str(2 * count), "0", "1")


@kind
def nested(d: Draw) -> Description:
    """Numbers in nested lists, as to_tensor takes them."""
    rank = d.rng.randint(0, 3)
    shape = [d.rng.randint(0, 3) for _ in range(rank)]
    sort = d.rng.choice(["int", "float", "bool", "mixed", "complex"])
    return _nested(d, shape, sort)


def _nested(d: Draw, shape: list[int], sort: str) -> Description:
    if shape:
        of = "tuple" if d.rng.random() < 0.2 else "list"
        return {of: [_nested(d, shape[1:], sort) for _ in range(shape[0])]}
    if sort == "mixed":
        sort = d.rng.choice(["int", "float"])
    value: Any = d.rng.randint(-5, 5)
    if sort == "complex":
        return {"complex": [value, d.rng.randint(-2, 2)]}
    return {"v": value / 2 if sort == "float" else value > 0 if sort == "bool" else value}


@kind
def operand(d: Draw) -> Description:
    """The other side of an operator: half of the time a number."""
    if d.rng.random() < 0.5:
        return {"v": d.rng.choice([2, -3, 0.5, 0, True, 1.5, 300])}
    return like(d)


@kind
def signs(d: Draw, dims: str) -> Description:
    """Labels -1 and 1."""
    made = i(d, dims, "2")
    shape = made["t"]
    count = 1
    for n in shape:
        count *= n
    data = [d.rng.choice([-1, 1]) for _ in range(count)]
    return {**made, "d": d.dtype("float"), "v": "just", "data": data}


@kind
def just(d: Draw, dims: str, value: str, of: str = "int64") -> Description:
    """A tensor of one value."""
    shape = d.dims(dims)
    count = 1
    for n in shape:
        count *= n
    return {"t": shape, "d": of, "s": 0, "v": "just", "data": [int(value)] * count}


@kind
def ascending(d: Draw, dims: str) -> Description:
    """Indices that never descend."""
    shape = d.dims(dims)
    data = sorted(d.rng.randrange(3) for _ in range(shape[0]))
    return {"t": shape, "d": d.dtype("int"), "s": 0, "v": "just", "data": data}


@kind
def of(d: Draw, dims: str) -> Description:
    """The named sizes themselves, as a shape."""
    return _listed(d, d.dims(dims))


@kind
def padded(d: Draw, count: str) -> Description:
    """What F.pad adds: mostly for each side of the inner dimensions."""
    rank = len(d.shape())
    return ints(d, d.rng.choice([count, count, str(2 * rank), "2"]), "0", "2")


@kind
def index_pair(d: Draw) -> Description:
    return {"tuple": [i(d, "2", "@0"), i(d, "2", "@1")]}


EQUATIONS = {
    "ij,jk->ik": ("m,k", "k,n"),
    "ij->ji": ("m,n",),
    "ij->": ("m,n",),
    "bij,bjk->bik": ("b,m,k", "b,k,n"),
    "...ij,...jk->...ik": ("...,m,k", "...,k,n"),
    "i,j->ij": ("m", "n"),
    "ii->i": ("m,m",),
    "ij,kj": ("m,k", "n,k"),
}


@kind
def matrices(d: Draw) -> Description:
    """The operands of an equation, which is chosen here."""
    equation = d.rng.choice(list(EQUATIONS))
    d.drawn["equation"] = {"v": equation}
    return {"list": [t(d, dims) for dims in EQUATIONS[equation]]}
