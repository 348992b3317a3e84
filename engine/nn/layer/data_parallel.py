"""DataParallel: a network whose gradients are averaged over the processes that train it together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from engine.core import mode as modes
from engine.core.containers.nest import flatten
from engine.core.errors import ArgumentError, ConditionError, DTypeError, ModeError
from engine.core.strictness import warn_at_user
from engine.distributed import delegates
from engine.distributed.collectives import broadcast
from engine.distributed.environment import ParallelEnv
from engine.distributed.gradient_buckets import GradientBuckets
from engine.distributed.groups import Group, group_of
from engine.distributed.objects import all_gather_object
from engine.eager.tensor import Tensor
from engine.nn.layer.layers import Layer
from engine.nn.layer.norm import SyncBatchNorm
from engine.tensor.tensor_like import AnyTensor

_MEGABYTE = 1024 * 1024


class Strategy(Protocol):
    """Who trains together, as older scripts say it."""

    @property
    def nranks(self) -> int:
        """The number of processes."""


class DataParallel(Layer):
    """Runs ``layers``; every process has them, with the parameters and buffers of the first.

    Each process runs its own batch. During ``backward()`` the gradients of the trainable parameters are
    averaged over the processes, in buckets of ``comm_buffer_size`` MB (the last of
    ``last_comm_buffer_size``) in the reverse order of registration, each as soon as it is full. Parameters
    with an attribute ``no_sync=True`` are left alone. Results, parameters and state are those of ``layers``.
    With one process it warns and does nothing else.

    Args:
        strategy: for older scripts; one whose ``nranks`` is 1 says that this process is alone.
        find_unused_parameters: parameters may be without a gradient in some processes or steps. Without it,
            one that is in the graph of ``forward`` and gets none is an error.
        group: the processes; by default all.

    Differs from Paddle: a bucket is averaged when the call that started it returns; backward from layers
    called without their DataParallel, and a second backward of one forward, average too; parameters that only
    some processes use raise in all of them; a group's first process sends the parameters; PyLayer works.

    Raises:
        DTypeError: ``layers`` is not a Layer.
        ModeError: a Program is being built, or several processes that were not joined.
        ConditionError: no parameter to train.
        ArgumentError: the processes have different parameters.
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Strategy | None = None,
        comm_buffer_size: float = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Group | None = None,
    ) -> None:
        if not isinstance(layers, Layer):
            raise DTypeError(f"DataParallel: layers must be a Layer: got {type(layers).__name__}")
        if modes.is_static():
            raise ModeError("DataParallel: a Program is being built: call disable_static() first")
        super().__init__(layers.full_name() + "_data_parallel")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        self.grad_need_sync = True
        self.group = group
        self._buckets: GradientBuckets | None = None
        if _count(strategy, group) < 2:
            warn_at_user(
                "The program will return to single-card operation. Please check 1, whether you use spawn or "
                "fleetrun to start the program. 2, Whether it is a multi-card program. 3, Is the current "
                "environment multi-card.",
                UserWarning,
            )
            return
        self.group = group_of(group, "DataParallel")
        copy_from_first(layers, self.group)
        limits = [int(size * _MEGABYTE) for size in (last_comm_buffer_size, comm_buffer_size)]
        found = [(n, p) for n, p in layers.named_parameters() if p.trainable and not left_alone(p)]
        if not found:
            raise ConditionError(
                "DataParallel: This model does not have any parameters to train, and does not need to use "
                "DataParallel"
            )
        self._buckets = GradientBuckets(self, found, self.group, limits, find_unused_parameters)

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        outputs = super().__call__(*inputs, **kwargs)
        mode = modes.current()
        if self._buckets is not None and mode.grad and not mode.static:
            self._buckets.sync = self.grad_need_sync
            if self.grad_need_sync:
                self._buckets.prepare(each for each in flatten(outputs) if isinstance(each, Tensor))
        return outputs

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """What is computed forward within the block collects gradients of this process alone.

        They are averaged with those of the next forward outside.
        """
        before, self.grad_need_sync = self.grad_need_sync, False
        try:
            yield
        finally:
            self.grad_need_sync = before

    def scale_loss(self, loss: AnyTensor) -> Any:
        """``loss`` itself (for older scripts)."""
        return loss

    def apply_collective_grads(self) -> None:
        """Nothing (for older scripts)."""

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
    ) -> dict[str, Any]:
        """That of the wrapped layers, under their own names."""
        return self._layers.state_dict(destination, include_sublayers, structured_name_prefix, use_hook)

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """That of the wrapped layers."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict


def _count(strategy: Strategy | None, group: Group | None) -> int:
    """How many processes train together; 1 for a process that is not a member of ``group``."""
    if group is not None:
        return group.nranks if group.is_member() else 1
    return int(strategy.nranks) if strategy is not None else ParallelEnv().world_size


def left_alone(tensor: AnyTensor) -> bool:
    """Whether each process keeps its own values of a parameter or buffer: it has ``no_sync=True``."""
    return bool(getattr(tensor, "no_sync", False))


def copy_from_first(layers: Layer, group: Group) -> None:
    """Give the parameters and buffers of all processes the values of the first of ``group``.

    Raises:
        ArgumentError: they differ in number, names, shapes or dtypes; in all processes.
    """
    found = [*layers.named_parameters(), *layers.named_buffers()]
    chosen = [(name, tensor) for name, tensor in found if not left_alone(tensor)]
    kinds: list[list[tuple[str, list[int], str]]] = []
    all_gather_object(kinds, [(name, each.shape, each.dtype.name) for name, each in chosen], group)
    for rank, other in zip(group.ranks, kinds, strict=True):
        if other != kinds[0]:
            first, second = next(
                (pair for pair in zip(kinds[0], other, strict=False) if pair[0] != pair[1]),
                (f"{len(kinds[0])} parameters and buffers", f"{len(other)}"),
            )
            raise ArgumentError(
                f"DataParallel: the processes have different networks: rank {group.ranks[0]} has {first}, "
                f"rank {rank} {second}; build the same network in all"
            )
    for _, tensor in chosen:
        broadcast(tensor, group.ranks[0], group)


@delegates.made_parallel.define
def made_parallel(
    model: Layer,
    sync_batch_norm: bool,
    comm_buffer_size: float,
    last_comm_buffer_size: float,
    find_unused_parameters: bool,
) -> DataParallel:
    """See ``engine.distributed.delegates.made_parallel``."""
    return DataParallel(
        SyncBatchNorm.convert_sync_batchnorm(model) if sync_batch_norm else model,
        None,
        comm_buffer_size,
        last_comm_buffer_size,
        find_unused_parameters,
    )
