"""``BasicDecoder`` and its helpers, which choose the next input of each step."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from engine.core.containers import nest
from engine.core.errors import ArgumentError, ModeError
from engine.fluid.layers.adapting import adapter
from engine.fluid.layers.nn.dropping import sampling_id
from engine.fluid.values.variable import result
from engine.nn import functional
from engine.nn.decode import Decoder
from engine.ops.sequences import beams
from engine.program.graph.variable import Variable
from engine.static.nn.sequence_lengths import levels_of, padded, unpadded, with_levels
from engine.tensor import creation, logic, manipulation, math, search
from engine.tensor.elements import scattering
from engine.tensor.reductions import cumulative, reduction


class DecodeHelper:
    """Base of the helpers that ``BasicDecoder`` asks."""

    def initialize(self) -> tuple[Any, Any]:
        """The first inputs, and which of the batch are finished: bool [N]."""
        raise ModeError(f"{type(self).__name__}: a DecodeHelper defines initialize()")

    def sample(self, time: Any, outputs: Any, states: Any) -> Any:
        """Numbers of tokens [N] from ``outputs`` [N, vocabulary]."""
        raise ModeError(f"{type(self).__name__}: a DecodeHelper defines sample(time, outputs, states)")

    def next_inputs(self, time: Any, outputs: Any, states: Any, sample_ids: Any) -> tuple[Any, Any, Any]:
        """What is finished, the inputs and the states of the next step."""
        raise ModeError(f"{type(self).__name__}: a DecodeHelper defines next_inputs")


class TrainingHelper(DecodeHelper):
    """The inputs are given: ``inputs`` [N, steps, ...], of which ``sequence_length`` [N] steps count."""

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False) -> None:
        self.inputs = inputs
        self.sequence_length = sequence_length
        self.time_major = time_major
        self._axis = 0 if time_major else 1
        # One step more, so that the last step has an input to hand on.
        self._padded = nest.map_structure(self._with_end, inputs)

    def _with_end(self, x: Any) -> Any:
        pads = [n for axis in range(len(x.shape)) for n in (0, int(axis == self._axis))]
        return functional.pad(x, pads)

    def initialize(self) -> tuple[Any, Any]:
        """The first step of the inputs."""
        first = nest.map_structure(lambda x: x[0] if self.time_major else x[:, 0], self.inputs)
        none = creation.full([1], 0, self.sequence_length.dtype)
        return result(first), result(logic.equal(self.sequence_length, none))

    def sample(self, time: Any, outputs: Any, states: Any) -> Any:
        """The likeliest tokens."""
        return result(reduction.argmax(outputs, -1))

    def next_inputs(self, time: Any, outputs: Any, states: Any, sample_ids: Any) -> tuple[Any, Any, Any]:
        """The next step of the inputs; a sequence is finished at its length."""
        after = math.cast(time, "int64") + 1
        finished = logic.less_equal(math.cast(self.sequence_length, "int64"), after)

        def taken(x: Any) -> Any:
            return manipulation.squeeze(scattering.gather(x, after, self._axis), self._axis)

        return result(finished), result(nest.map_structure(taken, self._padded)), states


class GreedyEmbeddingHelper(DecodeHelper):
    """The next input is ``embedding_fn`` of the likeliest tokens, up to ``end_token``.

    ``start_tokens`` is int64 [N]; ``embedding_fn`` takes ids of that shape, as ``fluid.embedding`` does.
    """

    def __init__(self, embedding_fn: Callable[[Any], Any], start_tokens: Any, end_token: int) -> None:
        self.embedding_fn = embedding_fn
        self.start_tokens = start_tokens
        self.end_token = creation.full([1], end_token, "int64")

    def initialize(self) -> tuple[Any, Any]:
        """The embedded start tokens."""
        finished = creation.full_like(self.start_tokens, False, "bool")
        return self.embedding_fn(self.start_tokens), result(finished)

    def sample(self, time: Any, outputs: Any, states: Any) -> Any:
        """The likeliest tokens."""
        return result(reduction.argmax(outputs, -1))

    def next_inputs(self, time: Any, outputs: Any, states: Any, sample_ids: Any) -> tuple[Any, Any, Any]:
        """The embedded tokens; a sequence is finished at its end token."""
        return result(logic.equal(sample_ids, self.end_token)), self.embedding_fn(sample_ids), states


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """GreedyEmbeddingHelper whose tokens are drawn by ``softmax(outputs / softmax_temperature)``."""

    def __init__(
        self,
        embedding_fn: Callable[[Any], Any],
        start_tokens: Any,
        end_token: int,
        softmax_temperature: float | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding_fn, start_tokens, end_token)
        self.softmax_temperature = softmax_temperature
        self.seed = seed

    def sample(self, time: Any, outputs: Any, states: Any) -> Any:
        """Drawn tokens."""
        warm = outputs if self.softmax_temperature is None else outputs / float(self.softmax_temperature)
        return sampling_id(functional.softmax(warm), seed=self.seed or 0)


class BasicDecoder(Decoder):
    """Steps of ``cell``, through ``output_fn`` where given; ``helper`` samples and gives the next inputs.

    Its outputs are pairs (cell_outputs, sample_ids).
    """

    OutputWrapper = collections.namedtuple("OutputWrapper", ("cell_outputs", "sample_ids"))

    def __init__(self, cell: Any, helper: Any, output_fn: Callable[[Any], Any] | None = None) -> None:
        self.cell = cell
        self.helper = helper
        self.output_fn = output_fn

    def initialize(self, initial_cell_states: Any) -> tuple[Any, Any, Any]:
        """The first inputs, states and finished flags."""
        inputs, finished = self.helper.initialize()
        return inputs, initial_cell_states, finished

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """Outputs, new states, next inputs and finished flags."""
        outputs, states = self.cell(inputs, states, **kwargs)
        if self.output_fn is not None:
            outputs = self.output_fn(outputs)
        ids = self.helper.sample(time=time, outputs=outputs, states=states)
        ids.stop_gradient = True
        finished, inputs, states = self.helper.next_inputs(
            time=time, outputs=outputs, states=states, sample_ids=ids
        )
        return self.OutputWrapper(outputs, ids), states, inputs, finished


@adapter
def ctc_greedy_decoder(
    input: Any, blank: int, input_length: Any = None, padding_value: int = 0, name: str | None = None
) -> Any:
    """The likeliest classes of ``input`` [N, steps, classes + 1] without repetitions and blanks.

    Gives them at the beginning of rows [N, steps], ``padding_value`` after them, and how many there are
    [N, 1]. Without ``input_length`` [N, 1] or [N] the input is a LoD tensor [rows, classes + 1], and so is
    the result [rows, 1]. Raises ArgumentError without lengths.

    Differs from Paddle: where no sequence has a class the result has no rows; there it has one of -1.
    """
    if input_length is None:
        found = padded(input)
        if found is None:
            raise ArgumentError(
                "ctc_greedy_decoder: input_length is needed for padded rows; give it, or a LoD tensor "
                "(layers.data with lod_level=1)"
            )
        rows, counts = ctc_greedy_decoder(found[0], blank, found[1])
        return manipulation.unsqueeze(unpadded(rows, manipulation.reshape(counts, [-1])), -1)
    ids = reduction.argmax(input, -1)
    place = cumulative.cumsum(creation.ones_like(ids), 1) - 1
    before = manipulation.concat([creation.full_like(ids[:, :1], -1), ids[:, :-1]], 1)
    within = place < manipulation.reshape(math.cast(input_length, ids.dtype), [-1, 1])
    selected = math.cast((ids != before).logical_and(ids != blank).logical_and(within), ids.dtype)
    count = reduction.sum(selected, 1, keepdim=True)
    # Positions of the remaining labels come first; all stay in their order.
    order = search.argsort(place + (1 - selected) * reduction.max(place + 1), 1)
    first = scattering.take_along_axis(ids, order, 1)
    return search.where(place < count, first, creation.full_like(first, padding_value)), count


@adapter
def beam_search(
    pre_ids: Any, pre_scores: Any, ids: Any, scores: Any, beam_size: int, end_id: int, level: int = 0,
    is_accumulated: bool = True, name: str | None = None, return_parent_idx: bool = False,
) -> Any:  # fmt: skip
    """One step of a beam search: the best candidates of each source, their scores, and with
    ``return_parent_idx`` the numbers of the prefixes that they continue.

    ``pre_ids`` and ``pre_scores`` [prefixes, 1] are those of the step before, ``ids`` and ``scores``
    [prefixes, candidates] those of this one. Of LoD tensors the lengths of ``level`` of ``scores`` count the
    prefixes of each source; a source whose prefixes have all ended with ``end_id`` is dropped, and the
    results have two levels. In a guard each source has ``beam_size`` prefixes, before and after. Raises
    ArgumentError for Variables without lengths.
    """
    found = levels_of("beam_search", "scores", scores) if isinstance(scores, Variable) else []
    lengths: Any = _rows_of(found, level) if found else None
    chosen, totals, parents, counts = beams.beam_search(
        pre_ids, pre_scores, scores, ids, lengths, level=level, beam_size=int(beam_size), end_id=int(end_id),
        is_accumulated=bool(is_accumulated),
    )  # fmt: skip
    if found:
        chosen, totals = (with_levels(each, [lengths, counts]) for each in (chosen, totals))
    return (chosen, totals, parents) if return_parent_idx else (chosen, totals)


def _rows_of(levels: list[Any], level: int) -> Any:
    """How many rows each sequence of a level has, from the lengths of all levels."""
    lengths = levels[level]
    for inner in levels[level + 1 :]:
        ends = manipulation.concat([creation.zeros([1], "int64"), cumulative.cumsum(inner, 0)])
        last = cumulative.cumsum(lengths, 0)
        lengths = scattering.gather(ends, last) - scattering.gather(ends, last - lengths)
    return lengths
