"""``fluid.dygraph.parallel_helper``: the processes that ``prepare_context`` joined, what they are sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.distributed.collectives import broadcast
from engine.distributed.environment import ParallelEnv
from engine.distributed.groups import Group, group_of, init_parallel_env, is_initialized

_joined = False


def join() -> Group:
    """Join the other processes of the job; from here on layers that are built get rank 0's parameters."""
    global _joined
    if ParallelEnv().world_size > 1:
        _joined = init_parallel_env() is not None
    return group_of(None, "prepare_context")


def _is_data_parallel_mode() -> bool:
    """Whether ``prepare_context`` has joined this process to others."""
    return _joined and is_initialized()


def _broadcast_parameters(parameters: Iterable[Any]) -> None:
    """Give ``parameters``, None among them, the values of rank 0; nothing for a process alone."""
    if _is_data_parallel_mode():
        for parameter in parameters:
            if parameter is not None:
                broadcast(parameter, 0)
