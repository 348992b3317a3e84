"""Sequences compared with those that are right: edit distances, and chunks that tags mark.

Sequences are rows of a batch, padded to one length. The results are counts without gradients, computed by the
CPU for every place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.operators.bounds import Number, Size
from engine.core.operators.infer import require_integers
from engine.core.operators.opdef import op
from engine.core.values.dtype import float32, int64
from engine.core.values.spec import Spec

Array = Any


def _check(where: str, **specs: Spec) -> None:
    """Rows of tokens [batch, time], maybe with a last dimension of 1, and their lengths."""
    require_integers(where, **specs)
    batch = next(iter(specs.values())).shape[:1]
    for name, spec in specs.items():
        least = 1 if "length" in name else 2
        if (
            spec.ndim not in (least, least + 1)
            or spec.shape[least:] not in ((), (1,), (-1,))
            or (spec.shape[:1] != batch and -1 not in (*batch, spec.shape[0]))
        ):
            wanted = "[batch]" if least == 1 else "[batch, time]"
            raise ShapeError(f"{where}: {name} must be {wanted} of one batch: got {spec}; pad the sequences")


def _on_host(x: Array) -> Array:
    return x if isinstance(x, np.ndarray) else x.get()


def _rows(where: str, name: str, tokens: Array, length: Array) -> tuple[Array, Array]:
    """Tokens [batch, time] and checked lengths [batch]."""
    rows, lengths = _on_host(tokens).reshape(tokens.shape[:2]), _on_host(length).reshape(-1)
    if lengths.size and (int(lengths.min()) < 0 or int(lengths.max()) > rows.shape[1]):
        wrong = lengths[(lengths < 0) | (lengths > rows.shape[1])][0]
        raise OutOfRangeError(
            f"{where}: {int(wrong)} is not a length of {name}, rows of {rows.shape[1]}; use 0 to "
            f"{rows.shape[1]}"
        )
    return rows, lengths


# -- edit distance -----------------------------------------------------------------------------------------
def _infer_distance(
    hyps: Spec, refs: Spec, hyps_length: Spec, refs_length: Spec, **_: Any
) -> tuple[Spec, Spec]:
    _check("edit_distance", input=hyps, label=refs, input_length=hyps_length, label_length=refs_length)
    return Spec((hyps.shape[0], 1), float32), Spec((1,), int64)


def _without(rows: Array, lengths: Array, ignored: Any) -> tuple[Array, Array]:
    """The rows less the ignored tokens, and their lengths."""
    kept = (np.arange(rows.shape[1]) < lengths[:, None]) & ~np.isin(rows, ignored)
    order = np.argsort(~kept, axis=1, kind="stable")
    return np.take_along_axis(rows, order, 1), kept.sum(1)


@op("edit_distance", infer=_infer_distance, outputs=("out", "sequence_num"))
def edit_distance(xp, hyps, refs, hyps_length, refs_length, *, normalized=False, ignored_tokens: Number = ()):
    """Insertions, deletions and replacements that make each row of hyps that of refs, and how many rows there
    are.

    ``normalized`` divides by the lengths of refs; ``ignored_tokens`` are left out of both. Levenshtein,
    Binary codes capable of correcting deletions, insertions and reversals (1966).
    """
    where = "edit_distance"
    _infer_distance(*(Spec.of(each) for each in (hyps, refs, hyps_length, refs_length)))
    found, lengths = _rows(where, "input", hyps, hyps_length)
    wanted, ends = _rows(where, "label", refs, refs_length)
    if len(ignored_tokens):
        found, lengths = _without(found, lengths, list(ignored_tokens))
        wanted, ends = _without(wanted, ends, list(ignored_tokens))
    if normalized and not (ends > 0).all():
        raise ArgumentError(
            f"{where}: row {int(np.flatnonzero(ends <= 0)[0])} of label is empty, so its distance can't "
            "be divided by "
            "its length; remove it, or pass normalized=False"
        )
    places = np.arange(wanted.shape[1] + 1)
    row = np.repeat(places[None, :], len(found), 0)
    for t in range(1, found.shape[1] + 1):
        changed = np.minimum(row[:, 1:] + 1, row[:, :-1] + (wanted != found[:, t - 1 : t]))
        new = np.concatenate([np.full((len(found), 1), t), changed], 1)
        # An insertion costs 1 for each place: the least of all places before, each with its distance.
        new = np.minimum.accumulate(new - places, axis=1) + places
        row = np.where((t <= lengths)[:, None], new, row)
    distances = row[np.arange(len(found)), ends].astype(np.float32)[:, None]
    if normalized:
        distances /= ends[:, None].astype(np.float32)
    return xp.asarray(distances), xp.asarray(np.array([len(found)], np.int64))


# -- chunks ------------------------------------------------------------------------------------------------
SCHEMES = {
    "IOB": (2, 0, 1, -1, -1),
    "IOE": (2, -1, 0, 1, -1),
    "IOBES": (4, 0, 1, 2, 3),
    "plain": (1, -1, -1, -1, -1),
}
"""How many kinds of tags a chunk has, and the numbers of begin, inside, end and single; -1: there is none."""


def _infer_chunks(
    inference: Spec, label: Spec, seq_length: Spec, *, chunk_scheme: str, num_chunk_types: int, **_: Any
) -> tuple[Spec, ...]:
    _check("chunk_eval", input=inference, label=label, seq_length=seq_length)
    if chunk_scheme not in SCHEMES:
        raise ArgumentError(
            f"chunk_eval: chunk_scheme {chunk_scheme!r} is unknown; use one of {list(SCHEMES)}"
        )
    if num_chunk_types < 1:
        raise ArgumentError(f"chunk_eval: num_chunk_types must be 1 or more: got {num_chunk_types}")
    return (*[Spec((1,), float32)] * 3, *[Spec((1,), int64)] * 3)


def _chunks(rows: Array, lengths: Array, chunk_scheme: str, types: int, excluded: Any) -> Array:
    """The chunks in rows of tags: their row, first place, last place and type, [chunks, 4]."""
    tags, first_tag, inside_tag, end_tag, single_tag = SCHEMES[chunk_scheme]
    inside = np.arange(rows.shape[1]) < lengths[:, None]
    wrong = inside & ((rows < 0) | (rows > types * tags))
    if wrong.any():
        raise OutOfRangeError(
            f"chunk_eval: tag {int(rows[wrong][0])} is not one of {types} chunk types of {tags} "
            "tags; use 0 to "
            f"{types * tags - 1}, or {types * tags} outside of all"
        )
    tag = np.where(inside, rows % tags, -1)
    kind = np.where(inside, rows // tags, types)
    tag_before, before = np.full_like(tag, -1), np.full_like(kind, types)
    tag_before[:, 1:], before[:, 1:] = tag[:, :-1], kind[:, :-1]
    ended = (tag_before == end_tag) | (tag_before == single_tag)
    starts = (tag == first_tag) | (tag == single_tag)
    starts |= ended & ((tag == inside_tag) | (tag == end_tag))
    starts = (kind != types) & ((kind != before) | starts)
    ends = kind != types
    ends[:, :-1] &= starts[:, 1:] | (kind[:, 1:] == types)
    (row, first), last = np.nonzero(starts), np.nonzero(ends)[1]
    found = np.stack([row, first, last, kind[row, first]], 1)
    return found[~np.isin(found[:, 3], excluded)]


@op(
    "chunk_eval",
    infer=_infer_chunks,
    outputs=("precision", "recall", "f1_score", "num_infer_chunks", "num_label_chunks", "num_correct_chunks"),
    slots={"f1_score": "F1-Score"},
)
def chunk_eval(
    xp,
    inference,
    label,
    seq_length,
    *,
    chunk_scheme="IOB",
    num_chunk_types: Size,
    excluded_chunk_types: Number = (),
):
    """Precision, recall and F1 of the chunks that tags mark, and how many are found, wanted and right: [1]
    each.

    A tag is ``type * tags of the scheme + tag``; the largest number is outside of all chunks.
    """
    _infer_chunks(
        *(Spec.of(each) for each in (inference, label, seq_length)),
        chunk_scheme=chunk_scheme,
        num_chunk_types=num_chunk_types,
    )
    chunks = [
        _chunks(
            *_rows("chunk_eval", name, rows, seq_length),
            chunk_scheme,
            num_chunk_types,
            list(excluded_chunk_types),
        )
        for name, rows in (("input", inference), ("label", label))
    ]
    both = np.concatenate(chunks)
    right = len(both) - len(np.unique(both, axis=0))  # no side has a chunk twice
    found, wanted = map(len, chunks)
    precision, recall = (np.float32(right) / np.float32(n) if n else np.float32(0) for n in (found, wanted))
    f1 = np.float32(2) * precision * recall / (precision + recall) if right else np.float32(0)
    counts = [np.array([n], np.int64) for n in (found, wanted, right)]
    return tuple(
        xp.asarray(each) for each in (*(np.array([v], np.float32) for v in (precision, recall, f1)), *counts)
    )
