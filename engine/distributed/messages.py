"""Messages from one process to another: send, receive, and both without waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ConditionError, ShapeError, UnsupportedError
from engine.core.values.bfloat import adopt
from engine.distributed import in_programs
from engine.distributed.collectives import Task, host
from engine.distributed.exchange import Array
from engine.distributed.groups import Group, group_of, outside, place_of
from engine.distributed.mpi import bytes_of, library
from engine.distributed.waiting import timed
from engine.eager.tensor import Tensor, write
from engine.tensor.tensor_like import AnyTensor


class Message(Task):
    """A message on its way: ``wait()`` returns when it has left, or has arrived in its Tensor."""

    def __init__(self, request: Any, buffer: object, finish: Callable[[Any], None] | None = None) -> None:
        self._request, self._buffer, self._finish = request, buffer, finish

    def _end(self, status: Any) -> None:
        finish, self._finish, self._buffer = self._finish, None, None
        if finish is not None:
            finish(status)

    def wait(self, timeout: object = None) -> bool:
        """Return True when the message has left or arrived; MPI waits without limit."""
        status = library().Status()
        timed("Wait", self._request.Wait, status)
        self._end(status)
        return True

    def is_completed(self) -> bool:
        """Whether the message has left or arrived."""
        status = library().Status()
        done = bool(self._request.Test(status))
        if done:
            self._end(status)
        return done

    def is_sync(self) -> bool:
        """False: the call that started it did not wait."""
        return False


# Messages of Programs that may still be on their way: MPI reads the array until it has left.
_LEAVING: list[Message] = []


def _peer(rank: Any, group: Group, where: str) -> int:
    if rank is None:
        return int(library().ANY_SOURCE)
    place = place_of(rank, group, where)
    if place == group.rank:
        raise ArgumentError(f"{where}: rank {rank} is this process: a message goes to another one")
    return place


def _started_send(tensor: AnyTensor, dst: int, group: Group | None, where: str) -> Message:
    group = group_of(group, where)
    peer = _peer(dst, group, where)
    buffer = host(tensor, where).copy()  # the Tensor may change before the message has left
    return Message(group.process_group.Isend(bytes_of(buffer), peer), buffer)


def _started_receive(tensor: AnyTensor, src: int | None, group: Group | None, where: str) -> Message:
    group = group_of(group, where)
    model = host(tensor, where)
    if group.nranks == 1:
        raise ArgumentError(f"{where}: rank {src} does not send: this process is alone")
    got = np.empty(model.shape, model.dtype)
    arrived = _arrived(got, where)

    def finish(status: Any) -> None:
        write(cast(Tensor, tensor), adopt(arrived(status)))

    return Message(group.process_group.Irecv(bytes_of(got), _peer(src, group, where)), got, finish)


def _arrived(got: Array, where: str) -> Callable[[Any], Array]:
    """A function of MPI's status that gives ``got``, or raises where the message had another size."""

    def checked(status: Any) -> Array:
        count = status.Get_count(library().BYTE)
        if count != got.nbytes:
            raise ShapeError(
                f"{where}: the message has another size than the tensor: {count} bytes for shape "
                f"{list(got.shape)} of {got.dtype} ({got.nbytes} bytes)"
            )
        return got

    return checked


def sent(array: Array, place: int, group: Group, where: str) -> None:
    """Send an array, which must not change any more, to the member at ``place``, without waiting for it.

    Two processes may send to each other before they receive.
    """
    if place == group.rank:
        raise ArgumentError(f"{where}: process {place} is this one: a message goes to another one")
    _LEAVING[:] = [message for message in _LEAVING if not message.is_completed()]
    _LEAVING.append(Message(group.process_group.Isend(bytes_of(array), place), array))


def received(got: Array, place: int, group: Group, where: str) -> Array:
    """``got``, an array, with what the member at ``place`` sends."""
    if place == group.rank:
        raise ArgumentError(f"{where}: process {place} is this one: a message comes from another one")
    status = library().Status()
    group.process_group.Recv(bytes_of(got), place, status=status)
    return _arrived(got, where)(status)


def _sent_in_program(tensor: AnyTensor, dst: int, group: Group | None, where: str) -> Task:
    group = group_of(group, where)
    in_programs.send(tensor, _peer(dst, group, where), group)
    return Task()


def _received_in_program(tensor: AnyTensor, src: int | None, group: Group | None, where: str) -> Task:
    group = group_of(group, where)
    if src is None:
        raise ArgumentError(f"{where}: a Program says who sends: got src=None; give the rank")
    in_programs.recv(tensor, _peer(src, group, where), group)
    return Task()


def send(tensor: AnyTensor, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Send ``tensor`` to the process ``dst``, which receives it with ``recv``."""
    if outside(group):
        return None
    if modes.is_static():
        return _sent_in_program(tensor, dst, group, "send")
    message = _started_send(tensor, dst, group, "send")
    if sync_op:
        message.wait()
    return message


def recv(tensor: AnyTensor, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Replace ``tensor`` in place by what the process ``src`` sends: the same shape and dtype.

    Raises:
        ShapeError: the message has fewer bytes than the Tensor.
    """
    if outside(group):
        return None
    if modes.is_static():
        return _received_in_program(tensor, src, group, "recv")
    message = _started_receive(tensor, src, group, "recv")
    if sync_op:
        message.wait()
    return message


def isend(tensor: AnyTensor, dst: int, group: Group | None = None) -> Task | None:
    """``send`` that does not wait: ``wait()`` of what it returns does."""
    if outside(group):
        return None
    start = _sent_in_program if modes.is_static() else _started_send
    return start(tensor, dst, group, "isend")


def irecv(tensor: AnyTensor, src: int | None = None, group: Group | None = None) -> Task | None:
    """``recv`` that does not wait; without ``src`` from whichever process sends first.

    ``tensor`` has the values after ``wait()`` of what it returns.
    """
    if outside(group):
        return None
    start = _received_in_program if modes.is_static() else _started_receive
    return start(tensor, src, group, "irecv")


class P2POp:
    """One message for ``batch_isend_irecv``: ``op`` is ``isend`` or ``irecv``, ``peer`` the other process."""

    def __init__(
        self, op: Callable[..., Any], tensor: AnyTensor, peer: int, group: Group | None = None
    ) -> None:
        if op not in (isend, irecv):
            raise UnsupportedError(
                f"P2POp: op must be paddle.distributed.isend or paddle.distributed.irecv: got {op!r}"
            )
        self.op, self.tensor, self.peer = op, tensor, peer
        self.group = group_of(group, "P2POp")


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Any]:
    """Start all messages of the list; returns what to ``wait()`` for."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ConditionError("batch_isend_irecv: takes a list of paddle.distributed.P2POp")
    tasks = [each.op(each.tensor, each.peer, each.group) for each in p2p_op_list]
    return [task for task in tasks if task is not None]
