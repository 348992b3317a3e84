"""Limits that a process sets on itself: memory, processor time, no written files, no core dump."""

from __future__ import annotations

import os
import sys
import threading
import time

# The exit code of a process that found itself above its limit on memory.
TOO_MUCH_MEMORY = 77
_WATCH_SECONDS = 0.02


def limit_this_process(memory: int, cpu_seconds: int | None) -> None:
    """Limit this process to ``memory`` more bytes and ``cpu_seconds`` in total, and forbid writing files.

    Without ``cpu_seconds`` its processor time has no limit yet; ``allow_processor_time`` sets one for each
    piece of work. macOS accepts the limit on memory but does not enforce it, so that a thread watches it.
    Windows limits memory and processor time with a job object, and not files.
    """
    if sys.platform == "win32":
        _limit_by_job(memory, cpu_seconds)
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if cpu_seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    limit_memory(memory)


def limit_memory(memory: int) -> None:
    """Limit this process to ``memory`` more bytes; an allocation beyond them is a MemoryError."""
    if sys.platform == "win32":
        _limit_by_job(memory, None)
        return
    import resource

    if sys.platform == "darwin":
        watch_memory(memory)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _address_space() + memory
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))
    except (OSError, ValueError):
        if sys.platform != "darwin":  # some releases of macOS refuse any limit on the address space
            raise


def allow_processor_time(seconds: float) -> None:
    """From now on this process may compute for ``seconds``, of all processors together; then it ends.

    On Windows nothing happens: a job's limit can't begin anew, and the parent's limit on wall time remains.
    """
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(
        resource.RLIMIT_CPU, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
    )


def watch_memory(memory: int) -> None:
    """Let a thread end this process, with TOO_MUCH_MEMORY, once it holds ``memory`` more bytes than now."""
    if sys.platform == "win32":
        return
    most = _resident() + memory

    def watch() -> None:
        while _resident() <= most:
            time.sleep(_WATCH_SECONDS)
        os._exit(TOO_MUCH_MEMORY)

    threading.Thread(target=watch, name="memory", daemon=True).start()


def _resident() -> int:
    """Bytes of memory that this process holds; where the system does not say, the most it has held."""
    import resource

    try:
        # Not the most on Linux: a child begins there with its parent's.
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _address_space() -> int:
    """Bytes of address space in use by this process (libraries reserve much more than they touch)."""
    import resource

    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 4 * 1024**3


def _limit_by_job(memory: int, cpu_seconds: int | None) -> None:
    """Put this process into a Windows job object with limits on committed memory and user time."""
    import ctypes
    from ctypes import wintypes

    class BasicLimits(ctypes.Structure):
        """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

        _fields_ = (
            ("per_process_user_time", ctypes.c_int64),
            ("per_job_user_time", ctypes.c_int64),
            ("limit_flags", wintypes.DWORD),
            ("minimum_working_set", ctypes.c_size_t),
            ("maximum_working_set", ctypes.c_size_t),
            ("active_processes", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority_class", wintypes.DWORD),
            ("scheduling_class", wintypes.DWORD),
        )

    class ExtendedLimits(ctypes.Structure):
        """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

        _fields_ = (
            ("basic", BasicLimits),
            ("io_counters", ctypes.c_uint64 * 6),
            ("process_memory", ctypes.c_size_t),
            ("job_memory", ctypes.c_size_t),
            ("peak_process_memory", ctypes.c_size_t),
            ("peak_job_memory", ctypes.c_size_t),
        )

    process_time, process_memory, extended_information = 0x2, 0x100, 9
    limits = ExtendedLimits()
    limits.basic.limit_flags = process_memory
    if cpu_seconds is not None:
        limits.basic.limit_flags |= process_time
        limits.basic.per_process_user_time = cpu_seconds * 10_000_000  # in units of 100 ns
    limits.process_memory = memory + 256 * 1024**2  # includes what the imports have committed
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined, unused-ignore]
    kernel.CreateJobObjectW.restype = wintypes.HANDLE
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    kernel.SetInformationJobObject.argtypes = (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD)
    kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    job = kernel.CreateJobObjectW(None, None)
    # For a process that may not enter another job, the parent's limit on wall time and the checks on claimed
    # sizes remain.
    size = ctypes.sizeof(limits)
    if job and kernel.SetInformationJobObject(job, extended_information, ctypes.byref(limits), size):
        kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess())
