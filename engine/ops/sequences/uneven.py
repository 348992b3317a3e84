"""Sequences of uneven lengths: their rows one after the other [rows, ...], or padded [sequences, steps, ...].

``lengths`` has the number of rows of each sequence.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Number, Size
from engine.core.operators.infer import require_integers
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.dtype import int64
from engine.core.values.spec import Spec


def level_name(name: str, level: int) -> str:
    """The name under which the lengths of a level of the fed Variable ``name`` are fed."""
    return f"{name}@LOD_{level}"


def within(xp: ArrayModule, where: str, rows: int, lengths: Array, steps: int) -> Any:
    """True at the steps of each sequence that exist: [sequences, steps]. Raises for lengths that don't fit
    the ``rows``, ArgumentError for one over ``steps``."""
    if lengths.size and (int(lengths.min()) < 0 or int(lengths.max()) > steps):
        raise ArgumentError(
            f"{where}: (InvalidArgument) lengths must be 0 to {steps}: got {int(lengths.min())} to "
            f"{int(lengths.max())}"
        )
    require_rows(where, rows, lengths)
    return xp.arange(steps) < lengths[:, None]


def require_rows(where: str, rows: int, lengths: Array) -> None:
    """Raise ShapeError unless the lengths add up to ``rows``."""
    total = int(lengths.sum())
    if total != rows:
        raise ShapeError(
            f"{where}: the lengths of the sequences add up to {total}, and there are {rows} rows; feed "
            "lengths that belong to the rows"
        )


def _require_lengths(where: str, lengths: Spec) -> None:
    require_integers(where, lengths=lengths)
    if lengths.ndim != 1:
        raise ShapeError(f"{where}: lengths are one number for each sequence: got {lengths}; reshape them")


def _infer_pad(x: Spec, lengths: Spec, like: Spec | None = None, *, maxlen: int = -1, **_: Any) -> Spec:
    _require_lengths("sequence_pad", lengths)
    if x.ndim < 1:
        raise ShapeError(f"sequence_pad: x has rows: got {x}; give it a dimension")
    steps = maxlen if like is None else like.shape[1]
    return x.with_shape((lengths.shape[0], steps if steps > 0 else -1, *x.shape[1:]))


@op("pad_sequences", infer=_infer_pad, slots={"lengths": "Length", "like": "Y"})
def pad_sequences(xp, x, lengths, like=None, *, value: Number = 0.0, maxlen: Size = -1):
    """Rows as a batch of sequences [sequences, steps, ...], ``value`` behind the end of each.

    There are as many steps as ``maxlen``, or as ``like`` has, or as the longest sequence (1 at least).
    """
    steps = maxlen if like is None else like.shape[1]
    if steps < 0:
        steps = max(int(lengths.max()), 1) if lengths.size else 1
    inside = within(xp, "sequence_pad", len(x), lengths, steps)
    made = xp.full((*inside.shape, *x.shape[1:]), value, x.dtype)
    made[inside] = x
    return made


def _infer_unpad(x: Spec, lengths: Spec) -> Spec:
    _require_lengths("sequence_unpad", lengths)
    sizes = (x.shape[0] if x.ndim else -2, lengths.shape[0])
    if x.ndim < 2 or (-1 not in sizes and sizes[0] != sizes[1]):
        raise ShapeError(
            f"sequence_unpad: x is [sequences, steps, ...] with a length for each sequence: got x {x} and "
            f"lengths {lengths}"
        )
    return x.with_shape((-1, *x.shape[2:]))


@op("unpad_sequences", infer=_infer_unpad, slots={"lengths": "Length"})
def unpad_sequences(xp, x, lengths):
    """The rows of a batch of padded sequences: the first ones of each, as many as its length."""
    if len(x) != len(lengths):
        raise ShapeError(f"sequence_unpad: there are {len(x)} sequences and {len(lengths)} lengths")
    return x[within(xp, "sequence_unpad", int(lengths.sum()), lengths, x.shape[1])]


pad_sequences.grad(x=lambda g, lengths: unpad_sequences(g, lengths))
unpad_sequences.grad(x=lambda g, x_like, lengths: pad_sequences(g, lengths, x_like))


def _infer_largest(x: Spec, lengths: Spec) -> Spec:
    _require_lengths("sequence_pool", lengths)
    return Spec((lengths.shape[0], 1, *x.shape[1:]), int64)


@op("largest_steps", infer=_infer_largest, slots={"lengths": "Length"})
def largest_steps(xp, x, lengths):
    """The step of each sequence at which each element is largest, the first one: [sequences, 1, ...].

    0 for a sequence without rows.
    """
    kind = x.dtype.kind
    least = -xp.inf if kind == "f" else False if kind == "b" else xp.iinfo(x.dtype).min
    return pad_sequences.opdef.kernel(xp, x, lengths, value=least).argmax(axis=1)[:, None].astype("int64")


def _infer_with_lengths(x: Spec, lengths: list[Spec]) -> Spec:
    for spec in lengths:
        _require_lengths("lod_reset", spec)
    return x


@op("with_lengths", infer=_infer_with_lengths, view=True, slots={"lengths": "Length"})
def with_lengths(xp, x, lengths: list):
    """x itself, whose rows are sequences of these lengths: one list of them for each level, the outermost
    first. A level has the lengths of groups of the next one's. A view."""
    counts = [*(len(each) for each in lengths[1:]), len(x)]
    for each, count in zip(lengths, counts, strict=True):
        require_rows("lod_reset", count, each)
    return x[...]


with_lengths.grad(x=lambda g: g)
