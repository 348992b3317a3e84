"""Paddle's ``fluid.evaluator``: metrics whose numbers a Program adds up, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.names import generate
from engine.fluid import layers
from engine.fluid.layer_helper import LayerHelper
from engine.fluid.metrics import DetectionMAP as DetectionMAP
from engine.program.graph.program import Program
from engine.static import program_guard

__all__ = ["ChunkEvaluator", "DetectionMAP", "EditDistance", "Evaluator"]


class Evaluator:
    """Base of the evaluators: ``states`` are persistable numbers, ``metrics`` results to fetch of each batch.

    A subclass creates states by ``_create_state`` and appends operators that add to them.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.states: list[Any] = []
        self.metrics: list[Any] = []
        self.helper = LayerHelper(name, **kwargs)

    def reset(self, executor: Any, reset_program: Any = None) -> None:
        """Set the states to 0 by a run of ``executor``; ``reset_program`` takes the operators for this."""
        program = Program() if reset_program is None else reset_program
        with program_guard(program):
            for state in self.states:
                layers.fill_constant(state.shape, state.dtype, 0.0, out=_of_program(program, state))
        executor.run(program)

    def eval(self, executor: Any, eval_program: Any = None) -> Any:
        """The value over all batches since ``reset``; a subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__}.eval: the class does not define it")

    def _create_state(self, suffix: str, dtype: Any, shape: Any) -> Any:
        """A persistable Variable of the Program that is built, 0 at first."""
        name = f"{generate(self.helper.name)}_{suffix}"
        state = layers.create_global_var(shape, 0.0, dtype, persistable=True, name=name)
        self.states.append(state)
        return state

    def _values(self, executor: Any, eval_program: Any) -> list[float]:
        program = Program() if eval_program is None else eval_program
        with program_guard(program):
            fetched = [layers.assign(_of_program(program, state)) for state in self.states]
        return [float(value.reshape(-1)[0]) for value in executor.run(program, fetch_list=fetched)]


class ChunkEvaluator(Evaluator):
    """Precision, recall and F1 of chunks; for the arguments see ``layers.chunk_eval``.

    Raises ArgumentError within a block of control flow.
    """

    def __init__(
        self,
        input: Any,
        label: Any,
        chunk_scheme: str,
        num_chunk_types: int,
        excluded_chunk_types: Any = None,
    ) -> None:
        super().__init__("chunk_eval")
        _require_root("ChunkEvaluator", self.helper.main_program)
        states = [
            self._create_state(name, "int64", [1])
            for name in ("num_infer_chunks", "num_label_chunks", "num_correct_chunks")
        ]
        self.num_infer_chunks, self.num_label_chunks, self.num_correct_chunks = states
        found = layers.chunk_eval(input, label, chunk_scheme, num_chunk_types, excluded_chunk_types)
        for state, count in zip(states, found[3:], strict=True):
            layers.sums([state, count], out=state)
        self.metrics.extend(found[:3])

    def eval(self, executor: Any, eval_program: Any = None) -> tuple[np.ndarray[Any, Any], ...]:
        """Precision, recall and F1, float32 [1] each."""
        inferred, labels, correct = self._values(executor, eval_program)
        precision = correct / inferred if inferred else 0.0
        recall = correct / labels if labels else 0.0
        both = 2 * precision * recall / (precision + recall) if correct else 0.0
        return tuple(np.array([value], np.float32) for value in (precision, recall, both))


class EditDistance(Evaluator):
    """The mean edit distance of sequences, and the share of those that are not right.

    ``metrics`` are the sum of a batch's distances and the number of its wrong sequences. For the arguments
    see ``layers.edit_distance``. Raises ArgumentError within a block of control flow.
    """

    def __init__(self, input: Any, label: Any, ignored_tokens: Any = None, **kwargs: Any) -> None:
        super().__init__("edit_distance", **kwargs)
        _require_root("EditDistance", self.helper.main_program)
        self.total_distance = self._create_state("total_distance", "float32", [1])
        self.seq_num = self._create_state("seq_num", "int64", [1])
        self.instance_error = self._create_state("instance_error", "int64", [1])
        distances, seq_num = layers.edit_distance(input, label, ignored_tokens=ignored_tokens)
        total = layers.reduce_sum(distances)
        wrong = layers.reduce_sum(
            layers.cast(layers.not_equal(distances, layers.zeros_like(distances)), "int64")
        )
        for state, value in zip(self.states, (total, seq_num, wrong), strict=True):
            layers.sums([state, value], out=state)
        self.metrics.extend([total, wrong])

    def eval(self, executor: Any, eval_program: Any = None) -> list[np.ndarray[Any, Any]]:
        """The mean distance and the share of wrong sequences, float32 [1] each.

        Raises ArgumentError before the first batch.
        """
        distance, number, wrong = self._values(executor, eval_program)
        if number == 0:
            raise ArgumentError("EditDistance.eval: there are no sequences: run the Program with some first")
        return [np.array([value / number], np.float32) for value in (distance, wrong)]


def _require_root(where: str, program: Any) -> None:
    if program.current_block().idx != 0:
        raise ArgumentError(
            f"{where}: You can only invoke Evaluator in root block: create it outside of While and cond"
        )


def _of_program(program: Any, state: Any) -> Any:
    """The Variable of ``program`` for the value that ``state`` has in a scope."""
    block = program.global_block()
    found = block.vars.get(state.name)
    if found is None:
        found = block.create_var(state.name, shape=state.shape, dtype=state.dtype, persistable=True)
    return found
