"""Workers and their line protocol: a count and a job in, one JSON object out."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FIND = "import importlib.util, sys; print(*[n for n in sys.argv[1:] if importlib.util.find_spec(n)])"
CHECKOUT = "BENCH_CHECKOUT"  # for a worker: the checkout whose engine it imports
STARTED = "BENCH_STARTED"  # for a worker: when it was started, by the monotonic clock
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerError(SystemExit):
    """A worker has ended or could not do its job; the text says which and why."""


def serve(version: str, repeat: Callable[[int, str], dict[str, Any]]) -> None:
    """In a worker: announce ``version``; answer each line ``N JOB`` with ``repeat(N, JOB)``.

    The answer also holds ``seconds`` and ``cpu`` (what passed on the clock, and what all threads of this
    process computed) unless ``repeat`` measured them itself, ``peak`` (the most bytes of memory that this
    process has had), and the first answer ``first`` (see ``since_start``). An exception is an answer too,
    ``error``; its traceback goes to stderr.
    """
    print(json.dumps({"ready": version}), flush=True)
    for number, line in enumerate(sys.stdin):
        count, _, job = line.strip().partition(" ")
        start, cpu = time.perf_counter(), time.process_time()
        try:
            answer = repeat(int(count), job)
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        passed = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
        first = {} if number else {"first": since_start()}
        print(json.dumps({**passed, "peak": peak_memory(), **first, **answer}), flush=True)


def since_start() -> float | None:
    """In a worker: seconds since its process was started, imports included; None without a bench."""
    started = os.environ.get(STARTED)
    return time.monotonic() - float(started) if started else None


def imported(name: str) -> tuple[Any, str]:
    """In a worker: the library ``name`` and its version; the engine is that of the checkout in
    BENCH_CHECKOUT, where it is set."""
    checkout = os.environ.get(CHECKOUT, "") if name == "engine" else ""
    if checkout:
        sys.path.insert(0, checkout)
    library = importlib.import_module(name)
    version = described(checkout) if checkout else ""
    return library, f"{name} {version or library.__version__}"


def described(checkout: str) -> str:
    """In a worker: the commit of a checkout; empty where git does not know it."""
    done = subprocess.run(
        ["git", "-C", checkout, "describe", "--always", "--dirty"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout.strip()


def timed(step: Callable[[], Any], count: int, first: int = 1) -> dict[str, float]:
    """In a worker: ``seconds`` and ``cpu`` of ``count`` steps, after ``first`` that bring back caches."""
    for _ in range(first):
        step()
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        step()
    return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def peak_memory() -> int | None:
    """The most bytes of memory that this process has had at once; None where the system does not say."""
    try:
        with open("/proc/self/status", encoding="utf-8") as lines:
            found = [line.split() for line in lines if line.startswith("VmHWM:")]
    except OSError:
        return None
    return int(found[0][1]) * 1024 if found else None


def threads() -> int:
    """In a worker: how many threads this contender uses."""
    return int(os.environ["BENCH_THREADS"])


def cores(threads: int) -> tuple[int, ...]:
    """The cores that contenders are pinned to: the first of those this process may use; none: not pinned."""
    if not hasattr(os, "sched_getaffinity"):
        return ()
    return tuple(sorted(os.sched_getaffinity(0))[:threads])


@contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """Within the block this process, and children that it starts, run on ``cores`` alone; none: anywhere."""
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Worker:
    """A peer in its own process; ``python`` is the interpreter that has its library.

    It receives ``threads`` in BENCH_THREADS, and unless ``limit`` is False its libraries by the variables
    that they read. ``environment`` adds others; ``cores`` are those that it runs on.
    """

    def __init__(
        self,
        python: str,
        module: str,
        arguments: Sequence[str],
        threads: int,
        *,
        limit: bool = True,
        environment: Mapping[str, str] | None = None,
        cores: Sequence[int] = (),
    ) -> None:
        count = str(threads)
        own = {
            "BENCH_THREADS": count,
            STARTED: repr(time.monotonic()),
            "PYTHONPATH": str(ROOT),
            "GLOG_minloglevel": "2",
        }
        inherited = {name: value for name, value in os.environ.items() if name not in LIMITS}
        limits = dict.fromkeys(LIMITS, count) if limit else {}
        self.name = " ".join([module.rpartition(".")[2], *arguments])
        with pinned(cores):
            self._process = subprocess.Popen(
                [python, "-m", module, *arguments],
                cwd=ROOT,
                env=inherited | limits | own | dict(environment or {}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        try:
            self.version = str(self._read()["ready"])
        except WorkerError:
            self.close()
            raise

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):  # libraries greet on stdout too
                answer = dict(json.loads(line))
                if "error" in answer:
                    raise WorkerError(f"bench: {self.name}: {answer['error']}")
                return answer
        raise WorkerError(f"bench: {self.name} ended with exit code {self._process.wait()}; see above")

    def repeat(self, count: int, job: str = "") -> dict[str, Any]:
        """Let the worker do ``job`` ``count`` times; its answer, see ``serve``."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{count} {job}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; reading says how
        return self._read()

    def close(self) -> None:
        """End the worker."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def libraries(python: str, names: Sequence[str]) -> list[str]:
    """Those of ``names`` that the interpreter ``python`` has."""
    if python == sys.executable:
        return [name for name in names if importlib.util.find_spec(name)]
    done = subprocess.run([python, "-c", FIND, *names], capture_output=True, encoding="utf-8", check=True)
    return done.stdout.split()
