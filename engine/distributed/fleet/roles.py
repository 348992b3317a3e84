"""What a process of fleet is: always a worker, since parameter servers do not exist here."""

from __future__ import annotations

import os
from typing import Any

from engine.core.errors import UnsupportedError


class Role:
    """The kinds of processes that Paddle knows."""

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4
    COORDINATOR = 5


def require_worker(role: int | None) -> None:
    """Raise UnsupportedError for a process that is meant to be a server, by ``role`` or its environment."""
    asked = os.environ.get("TRAINING_ROLE", "TRAINER")
    if role not in (None, Role.WORKER, Role.ALL) or asked == "PSERVER":
        raise UnsupportedError(
            f"fleet: parameter servers do not exist here: role {role}, TRAINING_ROLE {asked!r}; train with "
            "fleet.init(is_collective=True)"
        )


class PaddleCloudRoleMaker:
    """States that environment variables define the role of this process."""

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        require_worker(kwargs.get("role"))
        self._is_collective = is_collective


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """Says what this process is.

    Differs from Paddle: ``current_id`` and ``worker_num`` have no effect: MPI counts the processes.
    """

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, **kwargs: Any) -> None:
        super().__init__(is_collective, **kwargs)
