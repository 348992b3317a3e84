"""Reading and writing parts of tensors: numbers, slices, and tensors of indices and masks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.program.graph.program import Variable
from engine.program.saved.paddle.writes.rows import writes
from engine.program.saved.paddle.writes.writing import UnwritableError, Writing, only

_END = 2147483647


@dataclass
class _Slices:
    """The bounds along the axes that an index slices; texts are names of Variables of one element."""

    axes: list[int] = field(default_factory=list)
    starts: list[Any] = field(default_factory=list)
    ends: list[Any] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)

    def add(self, axis: int, start: Any, end: Any, step: int = 1, drop: bool = False) -> None:
        self.axes.append(axis)
        self.starts.append(start)
        self.ends.append(end)
        self.steps.append(step)
        self.dropped += [axis] if drop else []

    def turn(self, n: int) -> None:
        """The same elements of the reversed axis, with a positive step."""
        start, end = self.starts[n], self.ends[n]
        if isinstance(start, str) or isinstance(end, str):
            raise UnwritableError("slices with a negative step have bounds that are known")
        self.ends[n] = _END if end == -_END else -1 - end
        self.starts[n] = 0 if start == _END else -1 - start
        self.steps[n] = -self.steps[n]

    def inputs(self, w: Writing, names: tuple[str, ...] = ("Starts", "Ends")) -> dict[str, list[str]]:
        """The lists of tensors that replace attributes, where a bound is a Variable."""
        given = {"Starts": self.starts, "Ends": self.ends, "Steps": self.steps, "Strides": self.steps}
        if not any(isinstance(v, str) for v in (*self.starts, *self.ends)):
            return {}
        return {
            f"{name}TensorList": [v if isinstance(v, str) else w.constant([v], "int64") for v in given[name]]
            for name in names
        }

    def numbers(self, values: list[Any]) -> list[int]:
        return [-1 if isinstance(v, str) else v for v in values]


def _number(w: Writing, value: Any, tensors: Any) -> Any:
    """A bound: a number, or the name of an int64 Variable of one element."""
    if not isinstance(value, (list, tuple)):
        return value
    return w.reshape(w.cast(tensors[value[1]], "int64"), [1])


def _is(item: Any, kind: str) -> bool:
    return isinstance(item, (list, tuple)) and item[0] == kind


def _expanded(o: Operator, x: Variable, tensors: Any) -> list[Any]:
    """The index with slices in place of the ellipsis, or at the end."""

    def rank(item: Any) -> int:
        if item is None or isinstance(item, str):
            return 0
        if not _is(item, "tensor"):
            return 1
        tensor = tensors[item[1]]
        return int(tensor.ndim) if tensor.dtype.name == "bool" else 1

    full = list(o.attrs["index"])
    if not any(isinstance(i, str) for i in full):
        full.append("...")
    at = next(n for n, i in enumerate(full) if isinstance(i, str))
    full[at : at + 1] = [("slice", None, None, None)] * (x.ndim - sum(map(rank, full)))
    return full


def _slices(w: Writing, x: Variable, index: list[Any], tensors: Any) -> _Slices:
    found, axis = _Slices(), 0
    for item in index:
        if item is None:
            continue
        if _is(item, "tensor"):
            tensor = tensors[item[1]]
            axis += int(tensor.ndim) if tensor.dtype.name == "bool" else 1
            continue
        if _is(item, "slice"):
            start, end, step = (_number(w, v, tensors) for v in item[1:])
            if isinstance(step, str):
                raise UnwritableError("Paddle's slices have steps that are known")
            step = 1 if step is None else step
            if (start, end, step) != (None, None, 1):
                first, last = (0, _END) if step > 0 else (_END, -_END)
                found.add(axis, first if start is None else start, last if end is None else end, step)
        elif isinstance(item, int):
            found.add(axis, item, item + 1 if item != -1 else _END, drop=True)
        else:
            at = _from_front(w, _number(w, item, tensors), x, axis)
            found.add(axis, at, w.scale(at, bias=1.0), drop=True)
        axis += 1
    return found


def _from_front(w: Writing, index: str, x: Variable | str, axis: int) -> str:
    """Indices counted from the front: those below 0 plus the size."""
    spec = w.spec(index)
    known = w.spec(x).shape[axis]
    if known >= 0:
        size = w.full((), known, spec.dtype)
    else:
        size = w.cast(w.cut(w.shape_of(x), 0, axis, axis + 1, drop=True), spec.dtype)
    below = w.emit(
        "less_than", {"X": index, "Y": w.full((), 0, spec.dtype)}, spec.with_dtype("bool"), axis=-1
    )
    return w.binary("add", index, w.binary("mul", w.cast(below, spec.dtype), size, spec))


def _basic(w: Writing, o: Operator, x: Variable, index: list[Any], tensors: Any) -> str:
    """What numbers and slices pick, without new axes."""
    found = _slices(w, x, index, tensors)
    if not found.axes:
        return w.name(x)
    rank = x.ndim - len(found.dropped)
    like = x.spec.with_shape([-1] * rank)
    source: Any = x
    turned = [n for n, step in enumerate(found.steps) if step < 0]
    for n in turned:  # Paddle's negative steps lose an element at the front
        source = w.emit("flip", {"X": source}, x.spec, axis=[found.axes[n]])
        found.turn(n)
    attrs: dict[str, Any] = {
        "axes": found.axes,
        "starts": found.numbers(found.starts),
        "ends": found.numbers(found.ends),
        "decrease_axis": found.dropped,
    }
    attrs["infer_flags"] = [
        -1 if isinstance(a, str) or isinstance(b, str) else 1
        for a, b in zip(found.starts, found.ends, strict=True)
    ]
    if all(step == 1 for step in found.steps):
        return w.emit("slice", {"Input": source, **found.inputs(w)}, like, **attrs)
    inputs = found.inputs(w, ("Starts", "Ends", "Strides"))
    return w.emit("strided_slice", {"Input": source, **inputs}, like, strides=found.steps, **attrs)


@writes("slice_view", "getitem")
def _(w: Writing, o: Operator) -> None:
    x = o.inputs[0]
    tensors = o.inputs[1] if len(o.inputs) > 1 else []
    index = _expanded(o, x, tensors)
    value = _basic(w, o, x, index, tensors)
    kept = [i for i in index if i is None or _is(i, "slice") or _is(i, "tensor")]
    news = [n for n, item in enumerate(kept) if item is None]
    picks = [item for item in kept if _is(item, "tensor")]
    if picks:
        if news:
            value = w.unsqueeze(value, news)
        value = _picked(w, value, kept, tensors)
    elif news:
        value = w.unsqueeze(value, news)
    w.put("assign", {"X": value}, {"Out": w.declare(only(o))})


def _picked(w: Writing, value: str, kept: list[Any], tensors: Any) -> str:
    """The elements at tensors of indices: their axes first, then all of them by ``gather_nd``."""
    axes: list[int] = []
    picked, axis = [], 0
    parts: list[Variable] = []
    for n, item in enumerate(kept):
        rank = 1
        if _is(item, "tensor"):
            tensor = tensors[item[1]]
            rank = tensor.ndim if tensor.dtype.name == "bool" else 1
            axes += range(axis, axis + rank)
            picked.append(n)
            parts.append(tensor)
        axis += rank
    masks = [p for p in parts if p.dtype.name == "bool"]
    if masks and len(parts) > 1:
        raise UnwritableError("masks next to other tensors of indices are not written")
    rest = [n for n in range(axis) if n not in axes]
    order = [*axes, *rest]
    if order != sorted(order):
        value = w.transpose(value, order)
    if masks:
        index, dims = w.emit("where_index", {"Condition": masks[0]}, Spec((-1, len(axes)), "int64")), 1
    else:
        index, dims = _stacked(w, value, parts)
    like = w.spec(value).with_shape([-1] * (dims + len(rest)))
    found = w.emit("gather_nd", {"X": value, "Index": index}, like)
    together = picked == list(range(picked[0], picked[0] + len(picked)))
    at = len([n for n in rest if n < axes[0]]) if together else 0
    if at:
        back = [*range(dims, dims + at), *range(dims), *range(dims + at, dims + len(rest))]
        found = w.transpose(found, back)
    return found


def _stacked(w: Writing, value: str, parts: list[Variable]) -> tuple[str, int]:
    """Tensors of indices as one, the last axis of which has a number for each; and how many axes it has."""
    names = [_from_front(w, w.cast(p, "int64"), value, n) for n, p in enumerate(parts)]
    dims = max(p.ndim for p in parts)
    like = Spec([-1] * dims, "int64")
    if len({p.spec.shape for p in parts}) > 1 or not all(p.spec.known for p in parts):
        total = names[0]
        for name in names[1:]:
            total = w.binary("add", total, name, like)
        zero = w.scale(total, 0.0)
        names = [w.binary("add", zero, name, like) for name in names]
    if len(names) == 1:
        return w.unsqueeze(names[0], [dims]), dims
    return w.emit("stack", {"X": names}, Spec([-1] * dims + [len(names)], "int64"), "Y", axis=-1), dims


@writes("set_value")
def _(w: Writing, o: Operator) -> None:
    x, value, tensors = o.inputs
    index = _expanded(o, x, tensors)
    out = only(o)
    picks = [item for item in index if _is(item, "tensor")]
    if picks:
        while index and index[-1] == ("slice", None, None, None):
            index.pop()
        if len(picks) != len(index):
            raise UnwritableError("tensors of indices after slices or numbers are not written")
        chosen = [tensors[item[1]] for item in index]
        given = [p if p.dtype.name == "bool" else w.cast(p, "int64") for p in chosen]
        put = w.cast(value, x.dtype)
        w.put(
            "index_put", {"x": x, "indices": given, "value": put}, {"out": w.declare(out)}, accumulate=False
        )
        return
    found = _slices(w, x, index, tensors)
    inputs = found.inputs(w, ("Starts", "Ends", "Steps"))
    news = [n for n, item in enumerate(index) if item is None]
    if not found.axes:
        found.add(0, 0, _END)
    w.put(
        "set_value",
        {"Input": x, "ValueTensor": value, **inputs},
        {"Out": w.declare(out)},
        dtype=x.dtype.number,
        axes=found.axes,
        starts=found.numbers(found.starts),
        ends=found.numbers(found.ends),
        steps=found.steps,
        decrease_axes=found.dropped,
        none_axes=news,
        values=[],
        shape=[],
    )
