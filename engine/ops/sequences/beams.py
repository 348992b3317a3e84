"""One step of a beam search over rows of candidates."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Number, Size
from engine.core.operators.infer import require_floating, require_integers
from engine.core.operators.opdef import op
from engine.core.values.dtype import int32, int64
from engine.core.values.spec import Spec
from engine.ops.sequences.uneven import require_rows

Array = Any


def _infer(
    pre_ids: Spec,
    pre_scores: Spec,
    scores: Spec,
    ids: Spec | None = None,
    lengths: Spec | None = None,
    *,
    beam_size: int,
    **_: Any,
) -> tuple[Spec, Spec, Spec, Spec]:
    require_floating("beam_search", pre_scores=pre_scores, scores=scores)
    require_integers("beam_search", pre_ids=pre_ids, ids=ids, lengths=lengths)
    if beam_size < 1:
        raise ArgumentError(f"beam_search: beam_size must be 1 or more: got {beam_size}")
    rows = pre_ids.shape[:1]
    for name, spec in (("pre_ids", pre_ids), ("pre_scores", pre_scores), ("scores", scores), ("ids", ids)):
        if spec is not None and (
            spec.ndim != 2 or (-1 not in (*rows, spec.shape[0]) and spec.shape[:1] != rows)
        ):
            raise ShapeError(
                f"beam_search: {name} must be [prefixes, 1] or [prefixes, candidates], with as many rows as "
                f"pre_ids: got {spec}"
            )
    if lengths is None and rows[0] >= 0 and rows[0] % beam_size:
        raise ShapeError(
            f"beam_search: {rows[0]} prefixes are not {beam_size} for each source; give as many, or LoD "
            "tensors"
        )
    chosen = -1 if lengths is not None else rows[0]
    return (
        Spec((chosen, 1), int64),
        pre_scores.with_shape((chosen, 1)),
        Spec((chosen,), int32),
        Spec(rows, int64),
    )


@op(
    "beam_search",
    infer=_infer,
    outputs=("selected_ids", "selected_scores", "parent_idx", "counts"),
    slots={
        name: name for name in ("pre_ids", "pre_scores", "scores", "ids", "selected_ids", "selected_scores")
    }
    | {"parent_idx": "parent_idx"},
)
def beam_search(
    xp,
    pre_ids,
    pre_scores,
    scores,
    ids=None,
    lengths=None,
    *,
    level: Size = 0,
    beam_size: Size,
    end_id: Number,
    is_accumulated=True,
):
    """The ``beam_size`` best candidates of each source, in the order of their prefixes; their scores and
    prefixes.

    ``lengths`` has the number of prefixes of each source; without it there are ``beam_size`` of each. A
    prefix that ended continues only as it is, and with ``lengths`` a source all of whose prefixes ended has
    no candidates any more. ``counts`` has the number of candidates chosen of each prefix. Without ``ids`` the
    candidates are numbered.
    """
    given = (None if each is None else Spec.of(each) for each in (ids, lengths))
    _infer(Spec.of(pre_ids), Spec.of(pre_scores), Spec.of(scores), *given, beam_size=beam_size)
    before, totals, values = map(_on_host, (pre_ids, pre_scores, scores))
    names = None if ids is None else _on_host(ids)
    rows = len(before)
    sizes = [beam_size] * (rows // beam_size) if lengths is None else lengths.tolist()
    if sum(sizes) != rows:
        raise ShapeError(f"beam_search: the sources have {sum(sizes)} prefixes, and there are {rows}")
    ended = before[:, 0] == end_id
    if not is_accumulated:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = (totals + np.log(values)).astype(values.dtype)
    chosen: list[tuple[int, int, Any]] = []
    first = 0
    for size in sizes:
        best = _best(range(first, first + size), ended, totals, values, names, beam_size, end_id)
        if lengths is None or not all(ended[row] and name == end_id for row, name, _ in best):
            chosen += sorted(best, key=lambda item: item[0])
        first += size
    found = [np.array([item[n] for item in chosen]) for n in range(3)]
    counts = np.bincount(found[0].astype(np.int64), minlength=rows)
    return (
        xp.asarray(found[1].astype(np.int64)[:, None]),
        xp.asarray(found[2].astype(pre_scores.dtype)[:, None]),
        xp.asarray(found[0].astype(np.int32)),
        xp.asarray(counts.astype(np.int64)),
    )


def _on_host(x: Array) -> Array:
    return x if isinstance(x, np.ndarray) else x.get()


def _best(
    prefixes: range, ended: Array, totals: Array, values: Array, names: Array, most: int, end: int
) -> list[tuple[int, int, Any]]:
    """The best candidates of one source, as (row, name, score), the best first, equal ones by row."""
    running = [row for row in prefixes if not ended[row]]
    scores = np.concatenate([totals[[row for row in prefixes if ended[row]], 0], values[running].reshape(-1)])
    least = np.partition(scores, len(scores) - most)[-most] if len(scores) > most else -np.inf
    best: list[tuple[int, int, Any]] = []
    for row in prefixes:
        if ended[row]:
            _insert(best, (row, end, totals[row, 0]), most)
            continue
        for place in np.flatnonzero(values[row] >= least).tolist():
            name = place if names is None else int(names[row, place])
            _insert(best, (row, name, values[row, place]), most)
    return best


def _insert(best: list[tuple[int, int, Any]], item: tuple[int, int, Any], most: int) -> None:
    """Put an item to its place in the list of the best, which stays sorted and has ``most`` items at most.

    Of one row's equal items the first ones stay; the last place is taken by the last of them, as in Paddle.
    """
    key = (item[2], item[0])
    if len(best) == most:
        if key < (best[-1][2], best[-1][0]):
            return
        best.pop()
    place = len(best)
    while place and (best[place - 1][2], best[place - 1][0]) < key:
        place -= 1
    best.insert(place, item)


def _infer_decode(ids: Spec, scores: Spec, *sizes: Spec, **_: Any) -> tuple[Spec, ...]:
    require_floating("beam_search_decode", scores=scores)
    require_integers("beam_search_decode", ids=ids, **{f"lengths {n}": spec for n, spec in enumerate(sizes)})
    if not ids.ndim or not scores.ndim or any(spec.ndim != 1 for spec in sizes):
        raise ShapeError(
            f"beam_search_decode: ids and scores have rows, and there is one number for each length: got "
            f"{ids}, {scores} and {', '.join(map(str, sizes))}"
        )
    counts = Spec((-1,), int64)
    return ids.with_shape((-1,)), scores.with_shape((-1,)), counts, counts


@op(
    "beam_search_decode",
    infer=_infer_decode,
    outputs=("sentence_ids", "sentence_scores", "sentences", "words"),
    slots={"ids": "Ids", "scores": "Scores", "sentence_ids": "SentenceIds"},
)
def beam_search_decode(
    xp,
    ids,
    scores,
    counts,
    sources,
    source_counts,
    prefixes,
    prefix_counts,
    *,
    end_id: Number,
):
    """The sentences of a beam search, of the candidates of all its steps, one step after the other.

    A step has ``counts`` candidates; ``sources`` are the numbers of prefixes of each source, ``prefixes``
    those of candidates of each prefix. Gives the words and scores of the sentences, the best first of each
    source, the number of sentences of each source and of words of each sentence.
    """
    names, totals = _on_host(ids).reshape(-1), _on_host(scores).reshape(-1)
    steps = [
        _cut(rows, sizes)
        for rows, sizes in (
            (names, counts),
            (totals, counts),
            (sources, source_counts),
            (prefixes, prefix_counts),
        )
    ]
    for own, _, groups, members in zip(*steps, strict=True):
        _require_sizes(len(members), groups)
        _require_sizes(len(own), members)
    if not steps[0]:
        raise ArgumentError("beam_search_decode: the arrays are empty; write the steps of a search")
    found = [_Sentences(int(end_id)) for _ in steps[2][0]]
    for step in reversed(list(zip(*steps, strict=True))):
        owner, first = np.repeat(np.arange(len(step[3])), step[3]), 0
        for sentences, size in zip(found, step[2].tolist(), strict=True):
            sentences.add_step(step[0], step[1], owner, range(first, first + size))
            first += size
    each = [sentence for sentences in found for sentence in sentences.by_score()]
    return (
        xp.asarray(np.array([name for words, _ in each for name in reversed(words)], ids.dtype)),
        xp.asarray(np.array([score for _, own in each for score in reversed(own)], scores.dtype)),
        xp.asarray(np.array([len(sentences.places) for sentences in found], np.int64)),
        xp.asarray(np.array([len(words) for words, _ in each], np.int64)),
    )


def _cut(rows: Array, sizes: Array) -> list[Array]:
    """The rows of each step. Raises ShapeError for sizes that do not fit."""
    rows, sizes = _on_host(rows), _on_host(sizes)
    _require_sizes(len(rows), sizes)
    return np.split(rows, np.cumsum(sizes)[:-1]) if len(sizes) else []


def _require_sizes(rows: int, sizes: Array) -> None:
    if sizes.size and int(sizes.min()) < 0:
        raise ShapeError(f"beam_search_decode: a number of rows is {int(sizes.min())}; give 0 or more")
    require_rows("beam_search_decode", rows, sizes)


class _Sentences:
    """The sentences of one source, from their last words back."""

    def __init__(self, end: int) -> None:
        self.end = end
        self.places: list[int] = []  # for each sentence, which candidate of the step before it continues
        self.words: list[tuple[list[Any], list[Any]]] = []

    def add_step(self, names: Array, totals: Array, owner: Array, prefixes: range) -> None:
        """Continue each sentence with its candidate of a step, which belongs to prefix ``owner``.

        The first step that has candidates begins the sentences, at their ends.
        """
        begins = not self.places
        if begins:
            self.places = np.flatnonzero((owner >= prefixes.start) & (owner < prefixes.stop)).tolist()
            self.words = [([], []) for _ in self.places]
        for n, place in enumerate(self.places):
            words, scores = self.words[n]
            if begins or names[place] != self.end or not words:  # one end of a sentence is enough
                words.append(names[place])
                scores.append(totals[place])
            self.places[n] = int(owner[place])

    def by_score(self) -> list[tuple[list[Any], list[Any]]]:
        """Words and scores of the sentences, the best one first."""
        return sorted(self.words, key=lambda sentence: -sentence[1][0])
