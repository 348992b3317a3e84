"""Groups of processes: the one of all, those created by ``new_group``, and the rank of a process in them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, ConditionError, ModeError
from engine.core.strictness import warn_at_user
from engine.distributed import mpi
from engine.distributed.environment import ParallelEnv
from engine.distributed.waiting import watched

_FIRST_ID = 10  # Paddle keeps those below for its rings
_GROUPS: dict[int, Group] = {}
_made = 0


class Group:
    """Processes that exchange values with each other, in the order of their ranks."""

    def __init__(
        self, rank_in_group: int, id: int, ranks: Sequence[int], pg: Any = None, name: str | None = None
    ) -> None:
        self._rank_in_group = rank_in_group
        self._id = id
        self._ranks = list(ranks)
        self._pg = pg
        self._name = name

    @property
    def rank(self) -> int:
        """The place of this process in the group; -1 if it is not a member."""
        return self._rank_in_group

    @property
    def ranks(self) -> list[int]:
        """The ranks of the members among all processes, ascending."""
        return self._ranks

    @property
    def nranks(self) -> int:
        """The number of members."""
        return len(self._ranks)

    @property
    def world_size(self) -> int:
        """The number of members; -1 if this process is not one."""
        return self.nranks if self._rank_in_group >= 0 else -1

    @property
    def name(self) -> str | None:
        """The name of the group."""
        return self._name

    @property
    def id(self) -> int:
        """The number of the group: 0 for that of all processes."""
        return self._id

    @property
    def backend(self) -> str:
        """What carries the values: ``MPI``."""
        return "MPI"

    @property
    def process_group(self) -> Any:
        """MPI's communicator; None if this process is not a member, or the only one."""
        return self._pg

    def is_member(self) -> bool:
        """Whether this process is one of at least two members."""
        return self._rank_in_group >= 0 and self.nranks > 1

    def get_group_rank(self, rank: int) -> int:
        """The place in the group of the process ``rank``; -1 if this process is not a member.

        Raises:
            ArgumentError: ``rank`` is not a member.
        """
        if not self.is_member():
            return -1
        if rank not in self._ranks:
            raise ArgumentError(f"get_group_rank: rank {rank} is not a member: the group has {self._ranks}")
        return self._ranks.index(rank)

    def __repr__(self) -> str:
        members = ", ".join(map(str, self._ranks))
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {members}; name: {self.name}"


def init_parallel_env() -> Group | None:
    """Join the other processes of the job; every process calls it before it exchanges values.

    Returns the group of all processes. With one process it warns and returns None.

    Differs from Paddle: ``PADDLE_CURRENT_ENDPOINT`` is not needed: MPI knows where the processes are.

    Raises:
        DeviceError: the extra ``distributed`` is not installed.
        ModeError: the processes were not started by mpiexec.
    """
    env = ParallelEnv()
    if env.world_size < 2:
        warn_at_user(
            "Currently not a parallel execution environment, `paddle.distributed.init_parallel_env` will not "
            "do anything.",
            UserWarning,
        )
        return None
    if 0 not in _GROUPS:
        # A communicator of its own: a script that uses mpi4py itself does not meet the engine's messages.
        comm = watched(mpi.world(env.rank, env.world_size)).Dup()
        _GROUPS[0] = Group(env.rank, 0, range(env.world_size), comm, "_default_pg")
    return _GROUPS[0]


def is_available() -> bool:
    """Whether the engine has this module: True, also where the extra ``distributed`` is not installed."""
    return True


def is_initialized() -> bool:
    """Whether ``init_parallel_env`` has joined this process to others."""
    return 0 in _GROUPS


def get_rank(group: Group | None = None) -> int:
    """The rank of this process among all or in ``group``; -1 if it is not a member of that."""
    return group.rank if group is not None else ParallelEnv().rank


def get_world_size(group: Group | None = None) -> int:
    """The number of all processes or of the members of ``group``."""
    return group.nranks if group is not None else ParallelEnv().world_size


def get_backend(group: Group | None = None) -> str:
    """What carries the values of ``group``: ``MPI``.

    Differs from Paddle: it is neither GLOO nor NCCL.
    """
    if group is not None and not group.is_member():
        raise ModeError(f"get_backend: this process is not a member of {group}")
    return group_of(group, "get_backend").backend


def new_group(
    ranks: Sequence[int] | None = None,
    backend: str | None = None,
    timeout: datetime.timedelta = datetime.timedelta(seconds=1800),
) -> Group:
    """A group of the processes ``ranks``, by default all; every process calls it, members or not.

    Differs from Paddle: ``backend`` and ``timeout`` have no effect: MPI carries all values and waits.

    Raises:
        ModeError: several processes, and ``init_parallel_env`` was not called.
        ArgumentError: a rank that does not exist, or twice the same.
    """
    global _made
    everyone = group_of(None, "new_group")
    members = everyone.ranks if ranks is None else sorted(ranks)
    if len(set(members)) != len(members) or not set(members) <= set(everyone.ranks):
        raise ArgumentError(
            f"new_group: ranks must be different ones of the {everyone.nranks} processes: got {members}"
        )
    rank, comm = -1, None
    if everyone.process_group is not None:
        # Every process takes part in the split; those outside get MPI's null communicator.
        inside = everyone.rank in members and len(members) > 1
        color = 0 if inside else mpi.library().UNDEFINED
        comm = everyone.process_group.Split(color, everyone.rank)
        rank, comm = (members.index(everyone.rank), watched(comm)) if inside else (-1, None)
    _made += 1
    number = _FIRST_ID + _made - 1
    _GROUPS[number] = Group(rank, number, members, comm, f"_default_pg{number}")
    return _GROUPS[number]


def get_group(id: int = 0) -> Group | None:
    """The group with that number; None, with a warning, where there is none."""
    if id not in _GROUPS:
        warn_at_user(f"Group {id} is not initialized.", UserWarning)
    return _GROUPS.get(id)


def destroy_process_group(group: Group | None = None) -> None:
    """Forget ``group``; by default all groups, and that this process was joined to others.

    Every member calls it.
    """
    group = _GROUPS.get(0) if group is None else group
    if group is None or _GROUPS.get(group.id) is not group:
        raise ConditionError(f"destroy_process_group: there is no such group: got {group}")
    gone = list(_GROUPS.values()) if group.id == 0 else [group]
    for each in gone:
        del _GROUPS[each.id]
        if each.process_group is not None:
            each.process_group.Free()


def group_of(group: Group | None, where: str) -> Group:
    """``group``, else that of all processes; a process alone is a group of itself.

    Raises:
        ModeError: several processes that were not joined yet.
    """
    if group is not None:
        return group
    if 0 in _GROUPS:
        return _GROUPS[0]
    env = ParallelEnv()
    if env.world_size > 1:
        raise ModeError(
            f"{where}: the global group is not initialized: {env.world_size} processes; call "
            "paddle.distributed.init_parallel_env() first"
        )
    return alone()


def alone() -> Group:
    """A process alone, as a group of itself."""
    return Group(0, 0, [0], None, "_default_pg")


def known_groups() -> dict[int, Group]:
    """The groups that this process has joined or made, by number."""
    return _GROUPS


def place_of(rank: int, group: Group, where: str) -> int:
    """The place in ``group`` of the process ``rank``, which must be a member."""
    if rank not in group.ranks:
        raise ConditionError(f"{where}: rank {rank} is not in the group: it has the ranks {group.ranks}")
    return group.ranks.index(rank)


def outside(group: Group | None) -> bool:
    """Whether this process is not a member of ``group``, with a warning."""
    if group is None or group.is_member():
        return False
    warn_at_user(f"Current global rank {get_rank()} is not in group {group.name}", UserWarning)
    return True
