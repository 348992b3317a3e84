"""The prediction of a saved model, which can be repeated after chosen passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.comparison.program_step import BUILT, ProgramStep, computing_on
from engine.comparison.recorded import Applied, Side
from engine.comparison.static_side import record_program
from engine.comparison.values import ValueStore
from engine.core.errors import ArgumentError, EngineError
from engine.eager.tensor import Tensor
from engine.files.plain import StrPath
from engine.jit.export import described_variables, layer_of
from engine.jit.run_program import ProgramRunner
from engine.jit.saved.compare_outputs import outputs_of, random_feed
from engine.jit.saved.model_files import read_model_files
from engine.kernels.choice import kernels
from engine.program.passes.pipeline import PREDICTION
from engine.training.quantize.data import data_named
from engine.training.randomness import random_state, set_random_state

SAMPLES = 8


class SavedStep(ProgramStep):
    """The prediction of the model at ``path``, a PREFIX or a file of any format.

    Args:
        data: its samples are the inputs; random numbers by default.
        batch: which batch of the data, from 1 (the first by default), or the seed of the random numbers.
        samples: how many samples.

    Raises:
        DataError, FormatError: the files are absent, damaged or no model.
    """

    level = PREDICTION

    def __init__(self, path: StrPath, data: str = "", batch: int = 0, samples: int = SAMPLES) -> None:
        self.label = str(path)
        files = read_model_files(path)
        layer = layer_of(files)
        self._program = layer.program()
        described = described_variables(files)
        self._weights = {
            id(v.tensor): str(described.get(v.name, {}).get("structured_name", v.name))
            for v in self._program.bound()
        }
        self._unit = _is_from_0(files.info)
        self._tensors = [Tensor(array) for array in self._fed(data, batch, samples)]
        self._random = random_state()

    @property
    def tensors(self) -> list[Tensor]:
        return self._tensors

    def take_batch(self, other: ProgramStep) -> None:
        assert isinstance(other, SavedStep), "a step of the same kind"
        self._tensors, self._random = other._tensors, other._random

    def runner(self, passes: int = BUILT) -> ProgramRunner:
        program = self._program
        block = program.global_block()
        inputs, outputs = ([block.var(n) for n in names] for names in (program.inputs, program.outputs))
        return ProgramRunner(program, inputs, outputs, passes=passes)

    def of_program(
        self,
        store: ValueStore,
        label: str,
        runner: ProgramRunner,
        device: str = "",
        drawn: Sequence[Applied] = (),
    ) -> Side:
        before = random_state()
        set_random_state(self._random)
        try:
            with kernels.guard("numpy"), computing_on(device) as xp:
                found = record_program(runner, self._tensors, store, self._weights, False, xp, drawn)
        finally:
            set_random_state(before)
        return Side(label, found.operators, [], found.results, found.inputs)

    def _fed(self, data: str, batch: int, samples: int) -> list[Any]:
        program = self._program
        if data:
            if len(program.inputs) != 1:
                raise ArgumentError(
                    f"compare: {self.label} takes {len(program.inputs)} inputs; --data serves models of one: "
                    "compare it on random inputs"
                )
            return [_batch_of(data, batch, samples)]
        feed = random_feed(program, samples, samples, batch, self._unit)
        try:
            outputs_of(program, feed)
        except EngineError:  # indices and lengths are small
            feed = random_feed(program, samples, samples, batch, unit=True)
        return [feed[name] for name in program.inputs]


def _is_from_0(info: object) -> bool:
    """Whether a model says that its inputs are numbers from 0 on, as images are: others would leave the range
    for which it was quantized."""
    inner = info.get("info") if isinstance(info, dict) else None
    scaling = inner.get("scaling") if isinstance(inner, dict) else None
    low = scaling.get("low") if isinstance(scaling, dict) else None
    return isinstance(low, int | float) and low == 0


def _batch_of(data: str, batch: int, samples: int) -> Any:
    found = data_named(data).calibration
    first = max(batch - 1, 0) * samples
    if first >= len(found):
        raise ArgumentError(
            f"compare: batch {batch} is behind the end of {data}, which has {len(found)} samples; give a "
            "smaller number"
        )
    return found.read(np.arange(first, min(first + samples, len(found)), dtype=np.int64))
