"""Whether the processes of a job find room in memory, before they are started."""

from __future__ import annotations

from pathlib import Path

from engine.core.errors import LimitError

_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def available(meminfo: Path = _MEMINFO, cgroup: Path = _CGROUP) -> int | None:
    """Bytes that new processes can take, by the system and by the limit of a container; None where neither
    is known (macOS, Windows)."""
    found = []
    try:
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
        limit = (cgroup / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            used = int((cgroup / "memory.current").read_text(encoding="ascii"))
            # Pages of files are given back when memory is needed.
            fields = (cgroup / "memory.stat").read_text(encoding="ascii").split()
            files = int(fields[fields.index("inactive_file") + 1])
            found.append(max(0, int(limit) - used + files))
    except (OSError, ValueError):
        pass
    return min(found, default=None)


def require_memory(processes: int, each: int, room: int | None) -> None:
    """Raise LimitError where ``processes`` of ``each`` MB do not fit into ``room`` bytes; None: unknown."""
    wanted = processes * each
    if room is not None and wanted > room / 1e6:
        raise LimitError(
            f"launch: memory: {processes} processes of about {each} MB take {wanted} MB, {room / 1e6:.0f} MB "
            "are available; start fewer, set the memory of one with --memory_per_worker MB, or continue with "
            "--force"
        )
