"""A training on random numbers of given shapes: for measuring networks that no data at hand can feed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from engine.core.errors import ArgumentError
from engine.training.config import TrainingConfig
from engine.training.resolve import LOSSES
from engine.training.rules.rules import make_optimizer, make_schedule
from engine.training.setup import Parts, build_network
from engine.training.sources.several_inputs import Samples
from engine.training.stepper import Stepper

if TYPE_CHECKING:
    from engine.eager.tensor import Tensor
    from engine.nn import Layer

# Shape (None: as many as the batch has) and dtype of one input.
Input = tuple[Sequence[int | None], str]


class OneBatch:
    """The same batch again and again; an epoch has one."""

    def __init__(self, inputs: Samples, labels: Tensor) -> None:
        self._batch = (inputs, labels)

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Any]:
        yield self._batch


def random_inputs(inputs: Sequence[Input], batch: int) -> list[Any]:
    """A Tensor for each input. Integers are indices mostly, and 0 is one everywhere."""
    from engine.tensor.creation import zeros
    from engine.tensor.random import rand

    made = []
    for shape, dtype in inputs:
        sizes = [batch if size is None else size for size in shape]
        made.append(rand(sizes).astype(dtype) if dtype.startswith("float") else zeros(sizes, dtype))
    return made


def build_given(config: TrainingConfig, inputs: Sequence[Input]) -> Parts:
    """Everything for steps of the network of ``config`` on one batch of random numbers.

    The first Tensor that the network gives counts as scores: all numbers of a sample are its classes, the
    first of them is right. There is no data, so nothing can be evaluated.

    Raises what :func:`engine.training.setup.build_network` raises; ArgumentError for no input.
    """
    from engine.core.devices import use
    from engine.jit.input_spec import InputSpec
    from engine.tensor.creation import zeros
    from engine.training.network.recomputing import recompute_blocks

    if not inputs:
        raise ArgumentError("build_given: there is no input: got 0; give a shape and a dtype for each")
    used = use(config.device)
    network, files = build_network(config)
    if config.recompute:
        recompute_blocks(network)
    first = inputs[0][0][0]
    samples = config.batch_size if first is None else first
    specs = [
        InputSpec(shape=list(shape), dtype=dtype, name="x" if len(inputs) == 1 else f"x{at}")
        for at, (shape, dtype) in enumerate(inputs)
    ]
    batches = OneBatch(random_inputs(inputs, config.batch_size), zeros([samples, 1], "int64"))
    schedule = make_schedule(config, len(batches))
    optimizer = make_optimizer(config, schedule, network.parameters())
    classes = LOSSES["classes"]
    loss = config.loss if config.loss in classes else classes[0]
    stepper = Stepper(_scores_of(network), optimizer, config.static, (), schedule, loss, inputs=specs)
    return Parts(stepper, batches, (), (), samples, 0, model_files=files, fallback=used.fallback)


def _scores_of(network: Layer) -> Layer:
    """A Layer that takes a list of inputs and gives the first result of ``network`` as [N, classes]."""
    from engine import nn

    class Scores(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, given: Any) -> Any:
            made = self.network(*given)
            while isinstance(made, (list, tuple, dict)):
                made = made[0] if isinstance(made, (list, tuple)) else list(made.values())[0]  # noqa: RUF015
            if len(made.shape) == 0:
                raise ArgumentError(
                    "forward: gives one number for the batch: got the shape []; give scores [N, classes]"
                )
            return made.reshape([made.shape[0], 1]) if len(made.shape) == 1 else made.flatten(1)

    return Scores()
