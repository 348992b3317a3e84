"""``Env``, ``prepare_context`` and ``DataParallel`` of fluid: who trains together, and sums of gradients."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.distributed.environment import ParallelEnv
from engine.distributed.gradient_buckets import reduce_gradients
from engine.distributed.reducing import ReduceOp
from engine.fluid.dygraph import parallel_helper
from engine.fluid.dygraph.layers import Layer

__all__ = ["DataParallel", "Env", "ParallelEnv", "ParallelStrategy", "prepare_context"]

Env = ParallelEnv
_TOGETHER = 128 * 1024 * 1024  # bytes of gradients that are summed at once, as in fluid


class ParallelStrategy:
    """Who trains together."""

    def __init__(self) -> None:
        self.nranks = 1
        self.local_rank = 0
        self.trainer_endpoints: list[str] = []
        self.current_endpoint = ""


def prepare_context(strategy: ParallelStrategy | None = None) -> ParallelStrategy | None:
    """Join the processes of the job; the strategy of this process, None for one that trains alone.

    From here on a layer gets rank 0's parameters when it is first called, since it may make them only then.

    Differs from Paddle: a second call does no harm.

    Raises:
        ArgumentError: a strategy of another number of processes than there are.
        DeviceError, ModeError: those of ``paddle.distributed.init_parallel_env``.
    """
    env = ParallelEnv()
    if strategy is None:
        strategy = ParallelStrategy()
        strategy.nranks, strategy.local_rank = env.nranks, env.local_rank
        strategy.trainer_endpoints, strategy.current_endpoint = env.trainer_endpoints, env.current_endpoint
    if strategy.nranks < 2:
        return None
    if strategy.nranks != env.nranks:
        raise ArgumentError(
            f"prepare_context: the strategy has {strategy.nranks} processes, the job {env.nranks}; start it "
            "with `model-studio launch`"
        )
    parallel_helper.join()
    return strategy


class DataParallel(Layer):
    """Runs ``layers``; its parameters, state and results are theirs.

    ``scale_loss`` before ``backward()`` and ``apply_collective_grads`` after it make the gradients those of
    the whole batch: each loss is divided by the number of processes, and the gradients are added up.

    Differs from Paddle: ``strategy`` may be None, as ``prepare_context`` gives it for one process. Raises
    the errors of ``prepare_context``.
    """

    def __init__(self, layers: Any, strategy: ParallelStrategy | None = None) -> None:
        super().__init__(layers.full_name() + "_data_parallel")
        self._layers = layers
        self._strategy = prepare_context(strategy) if strategy is not None else None
        parallel_helper._broadcast_parameters(layers.parameters())  # of layers that are not fluid's, too

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    def scale_loss(self, loss: Any) -> Any:
        """The loss divided by the number of processes: itself for one."""
        return loss if self._strategy is None else loss / float(self._strategy.nranks)

    def apply_collective_grads(self) -> None:
        """Replace each gradient by the sum of those of all processes; nothing for one.

        Raises:
            GradientError: a parameter has a gradient in some processes only.
        """
        if self._strategy is not None:
            found = [(name, each) for name, each in self._layers.named_parameters() if each.trainable]
            group = parallel_helper.join()
            reduce_gradients(found, group, ReduceOp.SUM, _TOGETHER, "apply_collective_grads")

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """That of the wrapped layers, under their own names."""
        found: dict[str, Any] = self._layers.state_dict(*args, **kwargs)
        return found

    def load_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Set the parameters of the wrapped layers."""
        return self._layers.load_dict(*args, **kwargs)

    set_dict = load_dict
