"""``Env``, ``prepare_context`` and ``DataParallel`` of fluid: who trains together."""

from __future__ import annotations

import os
from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.dygraph.layers import Layer

__all__ = ["DataParallel", "Env", "ParallelEnv", "ParallelStrategy", "prepare_context"]


class ParallelEnv:
    """What the launcher says in the environment of this process."""

    def __init__(self) -> None:
        self._nranks = int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
        self._local_rank = int(os.environ.get("PADDLE_TRAINER_ID", "0"))
        chosen = os.environ.get("FLAGS_selected_gpus", "0")  # noqa: SIM112 - its name
        self._dev_id = int(chosen.partition(",")[0] or 0)
        self._trainer_endpoints = [e for e in os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",") if e]
        self._current_endpoint = os.environ.get("PADDLE_CURRENT_ENDPOINT", "")

    @property
    def nranks(self) -> int:
        """The number of processes that train together."""
        return self._nranks

    @property
    def local_rank(self) -> int:
        """The number of this process among them."""
        return self._local_rank

    @property
    def dev_id(self) -> int:
        """The number of the GPU that belongs to this process."""
        return self._dev_id

    @property
    def trainer_endpoints(self) -> list[str]:
        """The addresses of all processes."""
        return self._trainer_endpoints

    @property
    def current_endpoint(self) -> str:
        """The address of this process."""
        return self._current_endpoint


Env = ParallelEnv


class ParallelStrategy:
    """Who trains together."""

    def __init__(self) -> None:
        self.nranks = 1
        self.local_rank = 0
        self.trainer_endpoints: list[str] = []
        self.current_endpoint = ""


def prepare_context(strategy: ParallelStrategy | None = None) -> ParallelStrategy | None:
    """The strategy of this process's environment; None for a process that trains alone, as in fluid 1.5."""
    if strategy is None:
        env = ParallelEnv()
        strategy = ParallelStrategy()
        strategy.nranks, strategy.local_rank = env.nranks, env.local_rank
        strategy.trainer_endpoints, strategy.current_endpoint = env.trainer_endpoints, env.current_endpoint
    if strategy.nranks < 2:
        return None
    return strategy


class DataParallel(Layer):
    """Runs ``layers``; its parameters, state and results are theirs.

    Differs from Paddle: ``strategy`` may be None, as ``prepare_context`` gives it for one process. Raises
    ArgumentError for several processes.
    """

    def __init__(self, layers: Any, strategy: ParallelStrategy | None = None) -> None:
        super().__init__(layers.full_name() + "_data_parallel")
        if strategy is not None and strategy.nranks > 1:
            raise ArgumentError(
                f"DataParallel: {strategy.nranks} processes are asked for; it trains in one: start one"
            )
        self._layers = layers
        self._strategy = strategy

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    def scale_loss(self, loss: Any) -> Any:
        """The loss divided by the number of processes: itself for one."""
        return loss

    def apply_collective_grads(self) -> None:
        """Sum the gradients of all processes: nothing for one."""

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """That of the wrapped layers, under their own names."""
        found: dict[str, Any] = self._layers.state_dict(*args, **kwargs)
        return found

    def load_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Set the parameters of the wrapped layers."""
        return self._layers.load_dict(*args, **kwargs)

    set_dict = load_dict
