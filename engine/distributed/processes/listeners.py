"""Limits the ports of a job on one machine to the loopback device, so that no other machine reaches them."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

LOOPBACK = "lo"
_OPEN = Path("/proc/self/fd")
_EVERYWHERE = ("0.0.0.0", "::")


def confine_listeners(folder: Path = _OPEN) -> list[int]:
    """Bind the sockets that listen on all addresses to the loopback device; returns their ports.

    ``mpiexec`` of MPICH always listens on all addresses, and each process of the job inherits the socket. An
    option that one process sets applies to all. Linux only; before 5.7 it needs more rights than a user has,
    then nothing changes.
    """
    if not hasattr(socket, "SO_BINDTODEVICE") or not folder.is_dir():
        return []
    found = []
    for name in os.listdir(folder):
        try:
            inherited = socket.socket(fileno=int(name))
        except (OSError, ValueError):  # another kind of file, or the listing itself
            continue
        try:
            if _listens_everywhere(inherited):
                device = LOOPBACK.encode() + b"\0"
                with suppress(OSError):
                    inherited.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device)
                    found.append(inherited.getsockname()[1])
        finally:
            inherited.detach()
    return found


def _listens_everywhere(found: socket.socket) -> bool:
    if found.family not in (socket.AF_INET, socket.AF_INET6) or found.type != socket.SOCK_STREAM:
        return False
    listens = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    return bool(listens) and found.getsockname()[0] in _EVERYWHERE
