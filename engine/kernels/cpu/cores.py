"""How many cores this process may use: those that it is pinned to, within the limit of its container."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


def cores() -> int:
    """The number of cores that this process may use, at least 1: affinity and the container's quota count."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    quota = _quota(_ROOT, _OWN)
    return max(1, min(allowed, allowed if quota is None else int(quota)))


def _quota(root: Path, own: Path) -> float | None:
    """Cores that the control groups of ``own`` grant at most, or None where there is no limit.

    Both versions of control groups: ``cpu.max`` holds quota and period in microseconds, version 1 has a
    file for each. A limit of a group holds for the groups within it, so all groups above count.
    """
    found: list[float] = []
    for base, group in _groups(root, own):
        for folder in (group, *group.parents):
            place = base.joinpath(*folder.parts[1:])
            limit = _read(place / "cpu.max")
            if limit is None:
                quota, period = _read(place / "cpu.cfs_quota_us"), _read(place / "cpu.cfs_period_us")
                limit = [*quota, *period] if quota and period else None
            if limit and len(limit) == 2 and limit[0] > 0 < limit[1]:
                found.append(limit[0] / limit[1])
    return min(found, default=None)


def _groups(root: Path, own: Path) -> list[tuple[Path, PurePosixPath]]:
    """The folders of control groups with their parts, one for each hierarchy that limits the cores."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return []
    groups = []
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", "", ""][:3]
        if ".." in path:
            continue  # a group that this process may not see
        if not controllers:
            groups.append((root, PurePosixPath("/" + path.lstrip("/"))))
        elif "cpu" in controllers.split(","):
            groups.append((root / "cpu", PurePosixPath("/" + path.lstrip("/"))))
    return groups


def _read(path: Path) -> list[float] | None:
    """The numbers in a file ("max" is none: no limit), or None where there is none."""
    try:
        return [float(word) for word in path.read_text().split()]
    except (OSError, ValueError):
        return None
