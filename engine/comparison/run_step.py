"""One training step of a run, which can be repeated: eagerly, or as a Program after chosen passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.comparison.eager_side import record_eager
from engine.comparison.program_step import BUILT, ProgramStep, computing_on
from engine.comparison.recorded import Applied, Side, Updated
from engine.comparison.static_side import record_program
from engine.comparison.values import ValueStore
from engine.core.containers.nest import flatten
from engine.core.errors import ArgumentError, DataError
from engine.core.layer_calls import names_of
from engine.eager.tensor import Tensor, wrap
from engine.files.checkpoint import list_checkpoints
from engine.jit.concrete_program import ConcreteProgram
from engine.jit.run_program import ProgramRunner
from engine.kernels.choice import kernels
from engine.optimizer import LBFGS
from engine.program.passes.pipeline import EXACT
from engine.training.config import TrainingConfig
from engine.training.data import fetch_data
from engine.training.folder.checkpointing import restore
from engine.training.folder.run_folder import RunFolder
from engine.training.randomness import random_state, seed_everything, set_random_state
from engine.training.reporting.progress import History, Progress
from engine.training.setup import Parts, build_parts

if TYPE_CHECKING:
    from engine.nn import Layer

LOSS = "(loss)"  # in place of a layer call, of operators behind the network


class RunStep(ProgramStep):
    """The step that a run would take after a checkpoint, with its own code.

    Args:
        folder: of the run, whose code is imported from there.
        checkpoint: the step of the checkpoint; the newest by default.
        batch: the number of the batch after the checkpoint, from 0.
        changes: settings that replace those of the run, such as ``data``.

    Raises:
        DataError: no such checkpoint. What building the network and reading the data raise.
    """

    level = EXACT

    def __init__(
        self, folder: Path, checkpoint: int | None = None, batch: int = 0, changes: Mapping[str, Any] = {}
    ) -> None:
        store = RunFolder(folder)
        store.refuse_links()
        tree = store.read_checkpoint(_checkpoint_path(store, checkpoint))
        config = TrainingConfig.from_dict(tree["config"]).changed(out="", workers=1, static=True)
        self.step = int(tree["progress"]["step"])
        self.config = config.changed(**changes)
        self.label = f"{folder.name}@{self.step}"
        fetch_data(self.config.data, lambda message: None)
        seed_everything(self.config.seed)
        self.parts: Parts = build_parts(self.config, store.source_path)
        if self.config.data != config.data or self.config.batch_size != config.batch_size:
            self.parts.stepper.set_state_dict(tree)
            set_random_state(tree["random"])
        else:
            restore(tree, Progress(), History(), self.parts)
        self.images, self.labels = _batch(self.parts.batches, batch)
        self._random = random_state()
        self._state = _arrays(self.parts.stepper.state_dict())

    @property
    def network(self) -> Layer:
        """The network with the weights of the checkpoint."""
        found: Layer = self.parts.stepper.network
        return found

    @property
    def tensors(self) -> list[Tensor]:
        """The inputs of the step: images and labels."""
        return [each for each in flatten([self.images, self.labels]) if isinstance(each, Tensor)]

    def concrete(self) -> ConcreteProgram:
        """The Program of the step. Raises ConversionError where the forward can't be converted."""
        found: ConcreteProgram = self.parts.stepper.traced()
        return found

    def take_batch(self, other: RunStep) -> None:
        """Use the batch and the random numbers of another step."""
        self.images, self.labels, self._random = other.images, other.labels, other._random

    # -- sides -----------------------------------------------------------------------------------------------
    def eager(self, store: ValueStore, label: str = "eager") -> Side:
        """The step as written, operator by operator."""
        layer = self.parts.stepper.layer
        with self._repeatable():
            operators, results = record_eager(
                lambda: layer(self.images, self.labels), store, names_of(layer), self._weights()
            )
            self._clean(operators)
            return Side(label, operators, self._updates(store), results)

    def runner(self, passes: int = BUILT) -> ProgramRunner:
        concrete = self.concrete()
        outputs = [v for v in concrete.outputs if v is not None]
        return ProgramRunner(concrete.main_program, concrete.inputs, outputs, passes=passes)

    def of_program(self, store: ValueStore, label: str, runner: ProgramRunner, device: str = "") -> Side:
        with self._repeatable(), computing_on(device) as xp:
            found = record_program(runner, self.tensors, store, self._weights(), True, xp)
            self._clean(found.operators)
            parameters = dict(self.network.named_parameters())
            for name, value in found.gradients.items():
                if name in parameters:
                    array = store.get(value)
                    parameters[name].grad = wrap(array.astype(parameters[name]._array.dtype))
            return Side(label, found.operators, self._updates(store), found.results, found.inputs)

    @contextmanager
    def _repeatable(self) -> Iterator[None]:
        """Begin with the state of the checkpoint, and come back to it; NumPy's kernels compute."""
        self._reset()
        try:
            with kernels.guard("numpy"):
                yield
        finally:
            self._reset()

    def _reset(self) -> None:
        stepper = self.parts.stepper
        stepper.optimizer.clear_grad(set_to_zero=False)
        stepper.set_state_dict(_arrays(self._state))
        stepper.network.train()
        set_random_state(self._random)

    def _updates(self, store: ValueStore) -> list[Updated]:
        """Let the optimizer use the gradients; what it does to each parameter. Nothing for L-BFGS, which
        computes gradients itself."""
        optimizer = self.parts.stepper.optimizer
        if isinstance(optimizer, LBFGS):
            return []
        trained = {n: p for n, p in self.network.named_parameters() if not p.stop_gradient}
        before = {n: store.put(n, p._array) for n, p in trained.items()}
        gradients = {
            n: None if p.grad is None else store.put(f"gradient of {n}", p.grad._array)
            for n, p in trained.items()
        }
        optimizer.step()
        return [Updated(n, before[n], gradients[n], store.put(n, p._array)) for n, p in trained.items()]

    def _weights(self) -> dict[int, str]:
        named = {**dict(self.network.named_parameters()), **dict(self.network.named_buffers())}
        return {id(tensor): name for name, tensor in named.items()}

    def _clean(self, operators: Sequence[Applied]) -> None:
        """Let paths of layer calls begin at the network, and mark what the loss is computed with."""
        prefix = self.parts.stepper.network_call
        for each in operators:
            if each.layer == prefix:
                each.layer = ""
            elif each.layer.startswith(f"{prefix}."):
                each.layer = each.layer.removeprefix(f"{prefix}.")
            else:
                each.layer, each.file, each.line = LOSS, "", 0


def _checkpoint_path(store: RunFolder, step: int | None) -> Path:
    if step is None:
        return store.latest_checkpoint("compare")[0]
    found = {entry.step: entry.path for entry in list_checkpoints(store.checkpoints_path)}
    if step not in found:
        have = ", ".join(map(str, found)) or "none"
        raise DataError(
            f"compare: there is no checkpoint of step {step}: {store.path}; choose one that is saved: {have}"
        )
    return found[step]


def _batch(batches: Any, number: int) -> tuple[Any, Any]:
    for n, batch in enumerate(batches):
        if n == number:
            images, labels = batch
            return images, labels
    raise ArgumentError(
        f"compare: batch {number} is behind the end of the epoch, which has {len(batches)} batches; "
        "give a smaller number"
    )


def _arrays(tree: Any) -> Any:
    """A copy of nested state with its own arrays."""
    if isinstance(tree, dict):
        return {name: _arrays(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(_arrays(value) for value in tree)
    if isinstance(tree, Tensor):
        return wrap(tree._array.copy())
    return tree.copy() if isinstance(tree, np.ndarray) else tree

