"""The machines of a job: from a file of hosts, or from lists of addresses as Paddle's launchers take them."""

from __future__ import annotations

import ipaddress
import socket

from engine.core.errors import DataError
from resources.regular_files import read_regular_text


def read_hosts(path: str, each: int) -> list[tuple[str, int]]:
    """The machines of a file with their numbers of processes; ``each`` where a line has none.

    A line is ``HOST``, ``HOST:N`` (MPICH) or ``HOST slots=N`` (Open MPI); ``#`` begins a comment.

    Raises:
        DataError: the file can't be read, a line is none of those, or there is no machine.
    """
    try:
        lines = read_regular_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise DataError(f"launch: --hosts {path}: can't be read: {reason}; check the path") from None
    found = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        host, colon, count = words[0].partition(":")
        if len(words) == 2 and not colon and words[1].startswith("slots="):
            colon, count = "=", words[1].removeprefix("slots=")
        elif len(words) != 1:
            count, colon = "", "?"
        if not host or (colon and (not count.isdecimal() or not int(count))):
            raise DataError(
                f"launch: --hosts {path}:{number}: not a machine: {line.strip()[:80]!r}; write HOST, "
                "HOST:N or HOST slots=N"
            )
        found.append((host, int(count) if count else each))
    if not found:
        raise DataError(f"launch: --hosts {path}: it names no machine; write one on each line")
    return found


def is_here(host: str) -> bool:
    """Whether ``host`` is a name or an address of this machine."""
    if host in ("localhost", socket.gethostname()):
        return True
    try:
        family = socket.AF_INET6 if ipaddress.ip_address(host).version == 6 else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))  # possible with an address of this machine only
    except (OSError, ValueError):
        return False
    return True
