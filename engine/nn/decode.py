"""Decoding step by step: ``dynamic_decode`` with any Decoder, and BeamSearchDecoder."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from engine.core import mode as modes
from engine.core.containers import nest
from engine.core.errors import ArgumentError, ModeError
from engine.core.values.dtype import default_dtype
from engine.nn import functional
from engine.ops.activations import softmax
from engine.ops.arrays import creation, index, shape
from engine.ops.arrays import tensor_array as array
from engine.ops.elementwise import arithmetic, comparison
from engine.ops.reductions import reduce
from engine.program.build.control import while_loop
from engine.tensor.reductions.cumulative import cumsum
from engine.tensor.search import topk
from engine.tensor.tensor_like import AnyTensor

_FAR = -1e9  # the logarithm of a probability of nothing, as in Paddle


class Decoder:
    """Base of decoders: what ``dynamic_decode`` calls."""

    def initialize(self, inits: Any) -> tuple[Any, Any, Any]:
        """The first inputs, states and finished flags."""
        raise ModeError(f"{type(self).__name__}: a Decoder defines initialize(inits)")

    def step(self, time: AnyTensor, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """Outputs, new states, next inputs and finished flags."""
        raise ModeError(f"{type(self).__name__}: a Decoder defines step(time, inputs, states)")

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: AnyTensor) -> tuple[Any, Any]:
        """The last word on the outputs of all steps [time, batch, ...] and the last states; as they are."""
        return outputs, final_states

    @property
    def tracks_own_finished(self) -> bool:
        """True where ``step`` keeps what is finished finished, as beams that change places need."""
        return False


BeamOutput = collections.namedtuple("BeamOutput", ("scores", "predicted_ids", "parent_ids"))
BeamState = collections.namedtuple("BeamState", ("cell_states", "log_probs", "finished", "lengths"))


class BeamSearchDecoder(Decoder):
    """Keeps the ``beam_size`` likeliest sequences at every step.

    ``cell`` is an RNN cell; ``embedding_fn`` makes its inputs from token numbers [batch, beams], and
    ``output_fn`` scores over the vocabulary from its outputs. Tensors that the cell or embedding closes over
    and that have a batch dimension need ``tile_beam_merge_with_batch`` first.
    """

    OutputWrapper = BeamOutput
    StateWrapper = BeamState

    def __init__(
        self,
        cell: Callable[..., Any],
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[[Any], Any] | None = None,
        output_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        if beam_size < 1:
            raise ArgumentError(f"BeamSearchDecoder: beam_size must be 1 or more: got {beam_size}")
        self.cell = cell
        self.embedding_fn = embedding_fn
        self.output_fn = output_fn
        self.start_token = start_token
        self.end_token = end_token
        self.beam_size = beam_size

    @staticmethod
    def tile_beam_merge_with_batch(x: AnyTensor, beam_size: int) -> Any:
        """[batch, ...] repeated for each beam: [batch * beam_size, ...]."""
        return shape.flatten(_repeated(x, beam_size), start_axis=0, stop_axis=1)

    def _split(self, x: Any) -> Any:
        return shape.reshape(x, shape=[-1, self.beam_size, *[int(d) for d in x.shape[1:]]])

    def _merge(self, x: Any) -> Any:
        return shape.flatten(x, start_axis=0, stop_axis=1)

    def initialize(self, initial_cell_states: Any) -> tuple[Any, Any, Any]:
        """Start tokens, states repeated for each beam of which the first alone is likely; none finished."""
        first = nest.flatten(initial_cell_states)[0]

        def full(value: Any, dtype: str) -> Any:
            return creation.fill_batch(first, shape=[-1, self.beam_size], value=value, dtype=dtype)

        inputs, finished = full(self.start_token, "int64"), full(False, "bool")
        dtype = default_dtype().name
        chances = [0.0, *[_FAR] * (self.beam_size - 1)]
        row = shape.constant(shape=[1, self.beam_size], values=chances, dtype=dtype)
        states = self.StateWrapper(
            nest.map_structure(lambda x: _repeated(x, self.beam_size), initial_cell_states),
            arithmetic.add(full(0.0, dtype), row),
            finished,
            full(0, "int64"),
        )
        return (self.embedding_fn(inputs) if self.embedding_fn else inputs), states, finished

    def step(
        self, time: AnyTensor, inputs: Any, states: BeamState, **kwargs: Any
    ) -> tuple[Any, Any, Any, Any]:
        inputs = nest.map_structure(self._merge, inputs)
        cell_states = nest.map_structure(self._merge, states.cell_states)
        outputs, cell_states = self.cell(inputs, cell_states, **kwargs)
        outputs = nest.map_structure(self._split, outputs)
        cell_states = nest.map_structure(self._split, cell_states)
        logits = outputs if self.output_fn is None else self.output_fn(outputs)
        output, states = self._search(logits, cell_states, states)
        ids = shape.detach(output.predicted_ids)
        return output, states, (self.embedding_fn(ids) if self.embedding_fn else ids), states.finished

    def _search(self, logits: Any, cell_states: Any, states: Any) -> tuple[Any, Any]:
        words = int(logits.shape[-1])
        # A finished sequence continues with the end token, at no cost.
        ended = shape.constant(
            shape=[words],
            values=[0.0 if n == self.end_token else _FAR for n in range(words)],
            dtype=logits.dtype.name,
        )
        step = index.where(
            shape.unsqueeze(states.finished, axes=[2]), ended, softmax.log_softmax(logits, axis=-1)
        )
        total = arithmetic.add(step, shape.unsqueeze(states.log_probs, axes=[2]))
        scores, places = topk(shape.reshape(total, shape=[-1, self.beam_size * words]), self.beam_size)
        parents, tokens = places // words, places % words
        rows = cumsum(creation.fill_like(parents, value=1), axis=0) - 1

        def picked(x: Any) -> Any:
            return index.getitem(x, [rows, parents], index=(("tensor", 0), ("tensor", 1)))

        finished = picked(states.finished)
        lengths = picked(states.lengths) + arithmetic.cast(
            comparison.logical_not(finished), out_dtype="int64"
        )
        end = creation.fill_like(tokens, value=self.end_token)
        finished = comparison.logical_or(finished, comparison.equal(tokens, end))
        states = self.StateWrapper(nest.map_structure(picked, cell_states), scores, finished, lengths)
        return self.OutputWrapper(scores, tokens, parents), states

    def finalize(
        self, outputs: BeamOutput, final_states: BeamState, sequence_lengths: AnyTensor
    ) -> tuple[Any, Any]:
        """Whole sequences [time, batch, beams], likeliest first."""
        return functional.gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self) -> bool:
        return True


def _repeated(x: Any, times: int) -> Any:
    return shape.tile(shape.unsqueeze(x, axes=[1]), repeat_times=[1, times, *[1] * (x.ndim - 1)])


def _unless_finished(old: Any, new: Any, finished: Any) -> Any:
    """Old where finished [batch], else new."""
    return index.where(shape.unsqueeze(finished, axes=list(range(1, new.ndim))), old, new)


def _all(x: Any) -> Any:
    return reduce.all(x, axis=[], keepdim=False, reduce_all=True)


class _Decoding:
    """One run of a decoder: a step, and whether there is another."""

    def __init__(self, decoder: Decoder, most: int | None, impute: bool, kwargs: dict[str, Any]) -> None:
        from engine.program.build.repeated import RepeatedCalls

        self.decoder, self.most, self.impute, self.kwargs = decoder, most, impute, kwargs
        self.call = RepeatedCalls("dynamic_decode: the decoder").calls(decoder.step)

    def step(self, time: Any, inputs: Any, states: Any, finished: Any, lengths: Any) -> tuple[Any, ...]:
        outputs, new_states, inputs, now = self.call(time, inputs, states, **self.kwargs)
        if self.decoder.tracks_own_finished:
            lengths = getattr(new_states, "lengths", lengths)
        else:
            lengths = lengths + arithmetic.cast(comparison.logical_not(finished), out_dtype="int64")
            if self.impute:
                new_states = nest.map_structure(
                    lambda a, b: _unless_finished(a, b, finished), states, new_states
                )
            now = comparison.logical_or(now, finished)
        return outputs, inputs, new_states, now, lengths

    def more(self, count: Any, inputs: Any, states: Any, finished: Any, *_: Any) -> Any:
        going = comparison.logical_not(_all(finished))
        if self.most is None:
            return going
        return comparison.logical_and(
            going, comparison.less_equal(count, creation.fill_like(count, value=self.most))
        )


def dynamic_decode(
    decoder: Decoder,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """Call ``decoder.step`` until all is finished, or ``max_step_num`` + 1 steps are done.

    Gives the outputs of all steps [batch, time, ...] (time first with ``output_time_major``) after
    ``decoder.finalize``, the last states, and with ``return_length`` the lengths [batch] or [batch, beams].
    ``impute_finished`` keeps the states of what is finished. In a Program it is a loop.
    """
    inputs, states, finished = decoder.initialize(inits)
    run = _Decoding(decoder, max_step_num, impute_finished, kwargs)
    lengths = arithmetic.cast(creation.fill_like(finished, value=0), out_dtype="int64")
    time = creation.fill(shape=[1], value=0, dtype="int64")
    # The first step is outside of the loop: it says what outputs look like.
    outputs, *carried = run.step(time, inputs, states, finished, lengths)
    in_program = modes.is_static()

    def begin(x: Any) -> Any:
        return shape.unsqueeze(x, axes=[0]) if in_program else [x]

    def grown(all_before: Any, x: Any) -> Any:
        return array.array_append(all_before, x) if in_program else [*all_before, x]

    collected = [begin(x) for x in nest.flatten(outputs)]

    def body(count: Any, inputs: Any, states: Any, finished: Any, lengths: Any, before: Any) -> list[Any]:
        found, *after = run.step(count, inputs, states, finished, lengths)
        together = [grown(a, x) for a, x in zip(before, nest.flatten(found), strict=True)]
        return [arithmetic.scale(count, bias=1), *after, together]

    first = [arithmetic.scale(time, bias=1), *carried, collected]
    _, _, states, _, lengths, collected = while_loop(run.more, body, first, is_test=is_test)
    stacked = collected if in_program else [shape.stack(each, axis=0) for each in collected]
    outputs = nest.pack(outputs, stacked)
    outputs, states = decoder.finalize(outputs, states, lengths)
    if not output_time_major:
        outputs = nest.map_structure(_batch_first, outputs)
    return (outputs, states, lengths) if return_length else (outputs, states)


def _batch_first(x: Any) -> Any:
    return shape.transpose(x, axis=[1, 0, *range(2, x.ndim)])
