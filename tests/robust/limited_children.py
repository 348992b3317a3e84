"""Cases that run in forked processes with little memory and little processor time.

A process that is killed counts as the failure of the case that it ran, and another continues behind that
case.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
SECONDS, MEMORY = 5, 512 << 20


def in_limited_children(
    todo: Sequence[T], attempt: Callable[[T], dict[str, str]]
) -> Iterator[tuple[T, dict[str, str]]]:
    """Each case with what ``attempt`` gives for it, and the seconds of processor time."""
    start = 0
    while start < len(todo):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reader)
                _child(todo[start:], attempt, writer)
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as pipe:
            for line in pipe:
                yield todo[start], json.loads(line)
                start += 1
        _, status = os.waitpid(pid, 0)
        if start < len(todo) and status:
            name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else str(status)
            how = "hang" if name in ("SIGPROF", "SIGALRM") else f"killed by {name}"
            yield todo[start], {"kind": how, "said": ""}
            start += 1


def _child(todo: Sequence[T], attempt: Callable[[T], dict[str, str]], writer: int) -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for case in todo:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(12 * SECONDS)
        begun = time.process_time()
        answer = attempt(case)
        answer["seconds"] = f"{time.process_time() - begun:.3f}"
        os.write(writer, (json.dumps(answer) + "\n").encode())
