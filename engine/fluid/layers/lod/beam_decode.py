"""``beam_search_decode``: the sentences of a beam search whose steps are in arrays."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.core.frames import located, user_frame
from engine.fluid.layers.lod.rows_array import RowsArray
from engine.fluid.values.variable import result
from engine.ops.sequences import beams
from engine.static.nn.sequence_lengths import with_levels


def beam_search_decode(
    ids: Any, scores: Any, beam_size: int, end_id: int, name: str | None = None
) -> tuple[Any, Any]:
    """The sentences of a beam search, and the scores of their words: [words] with two levels of lengths.

    ``ids`` and ``scores`` are arrays with what ``beam_search`` selected in each step, behind the words that
    the search began with. The sentences of each source are ordered by score, the best first; words behind
    the first ``end_id`` are left out. ``beam_size`` is accepted.

    Raises ArgumentError for other arrays.
    """
    for what, array in (("ids", ids), ("scores", scores)):
        if not isinstance(array, RowsArray) or len(array.leaves()) != 6:
            raise located(
                ArgumentError(
                    f"beam_search_decode: {what} is an array of LoD tensors with two levels, as beam_search "
                    f"gives them: got {array!r}; write each step with layers.array_write"
                ),
                user_frame(),
            )
    (rows, counts), (sources, source_counts), (prefixes, prefix_counts) = ids.columns()
    values = scores.columns()[0][0]
    words, totals, sentences, lengths = beams.beam_search_decode(
        rows, values, counts, sources, source_counts, prefixes, prefix_counts, end_id=int(end_id)
    )
    found, found_scores = (result(with_levels(each, [sentences, lengths])) for each in (words, totals))
    return found, found_scores
