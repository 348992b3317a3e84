"""The channel between a training's ranks and the process that started them: JSON and arrays, no pickles."""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from engine.core.errors import EngineError, WorkerError
from engine.distributed.objects import packed, unpacked
from engine.training.problem import describe_problem
from engine.training.team.rank_messages import checked_message

_OF_RANKS = ("stream", "event", "result", "problem")
NO_RANK = -3
"""The sender of problems that are not a rank's."""

SHORTAGE_SECONDS = 5.0
"""How long a shortage of descriptors or memory may last while ranks connect."""

_SHORTAGE_NAP = 0.05
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_LONGEST_PATH = 100  # of a socket in a folder; the system's limit is 104 to 108 bytes


class Channel:
    """One end of a connection; several threads may send."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    @classmethod
    def connect(cls, ticket: dict[str, Any]) -> Channel:
        """Connect to the process that wrote ``ticket``."""
        address = ticket["address"]
        place = tuple(address) if isinstance(address, list) else address
        return cls(Client(place, authkey=bytes.fromhex(ticket["key"])))

    def send(self, message: dict[str, Any]) -> None:
        """Send None, numbers, texts, arrays, and lists and dicts of those; does nothing where the other end
        has closed."""
        data = packed(message, "training")
        with self._lock, suppress(OSError):
            self._connection.send_bytes(data.tobytes())

    def receive(self, *kinds: str) -> dict[str, Any] | None:
        """Wait for the next message, of one of ``kinds``; None where the other end is gone.

        Raises:
            FormatError: it is damaged, or none of these.
        """
        try:
            data = self._connection.recv_bytes()
        except (EOFError, OSError):
            return None
        return checked_message(unpacked(np.frombuffer(data, np.uint8)), *kinds)

    def close(self) -> None:
        """Close the connection, which the other end notices."""
        self._connection.close()


class Reception:
    """Where ranks connect to. What they say goes into ``inbox`` as (rank, message), None at their end.

    A rank's first message has its ``rank``. Where none can connect, a problem of ``NO_RANK`` follows.
    """

    def __init__(self, folder: Path, ranks: int, inbox: SimpleQueue[Any]) -> None:
        self._key = secrets.token_bytes(32)
        with ExitStack() as undo:
            self._listener = Listener(_address(folder), backlog=ranks, authkey=self._key)
            undo.callback(self._listener.close)
            self._waker = _waker(self._listener.address)
            undo.pop_all()
        self._inbox = inbox
        self._channels: dict[int, Channel] = {}
        self._readers: list[threading.Thread] = []
        self._closing = False
        self._waiter = threading.Thread(target=self._accept, args=(ranks,), name="ranks", daemon=True)
        self._waiter.start()

    def write_ticket(self, path: Path, more: dict[str, Any]) -> None:
        """Write what a rank needs to connect, and ``more``, into a file for this user alone."""
        text = json.dumps({"address": self._listener.address, "key": self._key.hex(), **more})
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)

    def send(self, rank: int, message: dict[str, Any]) -> bool:
        """Send to a rank; False where it has not connected yet."""
        channel = self._channels.get(rank)
        if channel is not None:
            channel.send(message)
        return channel is not None

    def close(self) -> None:
        """Take no more ranks, and wait until all that the others said is in the inbox. They have ended."""
        self._closing = True
        if self._waiter.is_alive():
            # What wakes a waiting accept() on every system is a connection. It needs no answer, which a
            # process without free descriptors could not give.
            with suppress(OSError, EOFError, AuthenticationError):
                if self._waker is None:
                    Client(self._listener.address, authkey=self._key).close()
                else:
                    self._waker.connect(self._listener.address)
                    self._waker.close()
        self._waiter.join()
        if self._waker is not None:
            self._waker.close()
        self._listener.close()
        for reader in self._readers:
            reader.join()
        for channel in self._channels.values():
            channel.close()

    def _accept(self, ranks: int) -> None:
        short_since: float | None = None
        while len(self._readers) < ranks:
            try:
                connection = self._listener.accept()
            except (OSError, EOFError, AuthenticationError) as error:
                if self._closing:
                    return
                if getattr(error, "errno", None) not in _SHORTAGES:
                    continue
                short_since = short_since or time.monotonic()
                if time.monotonic() - short_since >= SHORTAGE_SECONDS:
                    problem = asdict(describe_problem(error))
                    self._inbox.put((NO_RANK, {"problem": problem, "ours": True}))
                    return
                time.sleep(_SHORTAGE_NAP)
                continue
            short_since = None
            if self._closing:
                connection.close()
                return
            reader = threading.Thread(
                target=self._read, args=(Channel(connection), ranks), name="rank", daemon=True
            )
            self._readers.append(reader)
            reader.start()

    def _read(self, channel: Channel, ranks: int) -> None:
        rank = NO_RANK
        try:
            message = channel.receive("rank")
            while message is not None:
                if rank == NO_RANK:
                    rank = self._joined(message["rank"], channel, ranks)
                self._inbox.put((rank, message))
                message = channel.receive(*_OF_RANKS)
        except EngineError as error:
            self._inbox.put((rank, {"problem": asdict(describe_problem(error)), "ours": True}))
        if rank != NO_RANK:
            self._inbox.put((rank, None))

    def _joined(self, rank: int, channel: Channel, ranks: int) -> int:
        if not 0 <= rank < ranks or self._channels.setdefault(rank, channel) is not channel:
            raise WorkerError(f"workers: a process claims to be rank {rank} of {ranks}; report it")
        return rank


def _waker(address: Any) -> socket.socket | None:
    """A socket that can connect to ``address`` later; None for a named pipe of Windows."""
    if isinstance(address, tuple):
        return socket.socket(socket.AF_INET)
    return socket.socket(socket.AF_UNIX) if hasattr(socket, "AF_UNIX") else None


def _address(folder: Path) -> Any:
    path = str(folder / "ranks")
    if not hasattr(socket, "AF_UNIX"):
        return None  # a named pipe of Windows
    return path if len(os.fsencode(path)) <= _LONGEST_PATH else ("127.0.0.1", 0)
