"""What this machine has for trainings side by side: cores, and memory that is free."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

TRAINING_BYTES = 250_000_000  # a LeNet on the built-in digits holds 120 MB; own data comes on top


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_memory() -> int:
    """Bytes of memory that new processes can have; 0 where the system does not say."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
    with suppress(OSError, ValueError):  # a container's own limit; "max" where it has none
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
        found.append(max(1, limit - used))
    return min(found, default=0)


def jobs_that_fit() -> int:
    """How many trainings the free memory has room for, at least 1; 0 where it is not known."""
    free = free_memory()
    return max(1, free // TRAINING_BYTES) if free else 0


def default_jobs() -> int:
    """As many trainings at once as there are cores, or fewer where memory is short."""
    return min(cores(), jobs_that_fit() or cores())
