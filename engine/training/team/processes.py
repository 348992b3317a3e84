"""A training on several processes, seen from the process that started them: mpiexec, orders, events, end."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from engine.core.errors import KilledWorkerError, LimitError, WorkerError
from engine.core.models.local_imports import AGREED
from engine.distributed import mpi
from engine.distributed.launch.leftovers import remove_shared_memory
from engine.distributed.launch.memory import available
from engine.distributed.processes.starting import mpi_command, rank_environment
from engine.files.checkpoint import list_checkpoints
from engine.kernels.cpu.cores import cores
from engine.kernels.cpu.threads import USERS_WORD, users_count
from engine.training.config import TrainingConfig
from engine.training.control import Control
from engine.training.events import failed_event, preparing_event
from engine.training.folder.run_folder import RunFolder
from engine.training.problem import Problem, as_error, describe_problem
from engine.training.result import RunResult
from engine.training.setup import build_network
from engine.training.team.channel import Reception
from engine.training.team.rank_messages import result_of
from resources.scratch import make_scratch
from resources.training_events import LAST_KINDS, TrainingEvent

if TYPE_CHECKING:
    from engine.nn import Layer

RANK_MEGABYTES = 150  # measured with LeNet and the built-in digits
_PROCESSES = -1  # stands where a rank's number stands
_ORDER = -2
_START_SECONDS = 10.0  # for rank 0 to connect, where the training is to end
_GRACE_SECONDS = 2.0  # for rank 0 to write down what another rank has failed of
_END_SECONDS = 5.0
_AT_ONCE = 0.2  # seconds within which mpiexec ends the others
_LAST_LINES = 200


class Processes:
    """Starts the ranks, passes orders to rank 0, and passes on the messages of the ranks.

    Args:
        resume: as of a TrainingRun.
        publish: takes each event of the training.

    ``weights`` has the network's state after a training that ended by itself.
    """

    def __init__(
        self,
        config: TrainingConfig,
        resume: bool | str | Path,
        control: Control,
        publish: Callable[[TrainingEvent], None],
    ) -> None:
        self._config, self._resume = config, resume
        self._control, self._publish = control, publish
        self._inbox: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self._pids: dict[int, int] = {}
        self._left: list[tuple[int, float]] = []  # ranks, and when their connections ended, in that order
        self._ended = ""
        self._step, self._checkpoint = 0, ""
        self.weights: dict[str, Any] | None = None
        self._network: Layer | None = None

    def run(self) -> RunResult:
        """Train to the end; raises what a TrainingRun raises.

        Raises:
            DeviceError: the extra ``distributed`` is not installed. LimitError: so many find no memory.
            KilledWorkerError: a signal killed a process. WorkerError: one ended in another way.
        """
        mpi.require()
        count = self._config.workers
        _require_memory(count)
        self._publish(preparing_event(f"Starting {count} processes"))
        try:
            with _Job(self._config, self._resume, self._inbox) as job:
                self._control.redirect(lambda command: self._inbox.put((_ORDER, command)))
                return self._follow(job)
        except BaseException as error:
            if not self._ended:
                self._fail(describe_problem(error))
            raise

    @property
    def config(self) -> TrainingConfig:
        """The settings, fitted to the data once the run has begun."""
        return self._config

    def network(self) -> Layer:
        """A network of the run, with the weights that the ranks have trained once they have ended."""
        network = self._network
        if network is None:
            source = RunFolder(self._config.out).source_path if self._resume else None
            network, _ = build_network(self._config, source)
            self._network = network
        if self.weights is not None:
            network.set_state_dict(self.weights)
        return network

    def _follow(self, job: _Job) -> RunResult:
        orders: list[str] = []
        result: RunResult | None = None
        problems: dict[int, dict[str, Any]] = {}
        until: float | None = None
        terminated = False
        while True:
            try:
                who, said = self._inbox.get(
                    timeout=None if until is None else max(0.0, until - time.monotonic())
                )
            except Empty:
                job.terminate(at_once=terminated)
                terminated, until = True, time.monotonic() + _END_SECONDS
                continue
            if who == _PROCESSES:
                break
            if who == _ORDER:
                orders.append(said)
            elif said is None:
                self._left.append((who, time.monotonic()))
            elif "pid" in said:
                self._pids[who] = said["pid"]
            elif "stream" in said:
                _print(who, said)
            elif "event" in said:
                self._take(said["event"])
            elif "result" in said:
                result, self.weights = result_of(said), said["weights"]
            elif "problem" in said:
                problems[who] = said
                until = time.monotonic() + _GRACE_SECONDS
            while orders and job.order(orders[0]):
                del orders[0]
                if not problems:
                    until = None
            if until is None and {"interrupt", "cancel"}.intersection(orders):
                until = time.monotonic() + _START_SECONDS
        if result is not None:
            return result
        raise self._error(problems, job)

    def _take(self, event: Any) -> None:
        self._step = event.get("step", self._step)
        if event["event"] == "started":
            self._config = TrainingConfig.from_dict(event["config"])
        elif event["event"] == "checkpoint":
            self._checkpoint = event["path"]
        elif event["event"] in LAST_KINDS:
            self._ended = event["event"]
        self._publish(event)

    def _error(self, problems: dict[int, dict[str, Any]], job: _Job) -> Exception:
        """What ended the ranks: what one of them failed of, the first in their order; else a kill."""
        if problems:
            rank, said = min(problems.items())
            problem = Problem(**said["problem"])
            if rank and not self._ended:
                self._write_down(problem)
            return as_error(problem, said["ours"])
        return self._death(job)

    def _write_down(self, problem: Problem) -> None:
        """Rank 0 was waiting for the rank that failed, and could not report it."""
        event = self._fail(problem)
        if self._config.out:
            folder = RunFolder(self._config.out)
            with suppress(OSError):
                folder.append(event)

    def _fail(self, problem: Problem) -> TrainingEvent:
        event = failed_event(problem, self._step, self._checkpoint)
        self._ended = "failed"
        self._publish(event)
        return event

    def _death(self, job: _Job) -> WorkerError:
        count, said = self._config.workers, "\n".join(job.last_lines)
        # Of several that have ended mpiexec names one, not always the first; the order of those that ended
        # at once says nothing.
        begin = self._left[0][1] if self._left else 0.0
        first = [rank for rank, when in self._left if when - begin < _AT_ONCE]
        rank = first[0] if first else None
        if len(first) != 1 and (found := re.search(r"PID (\d+) RUNNING AT", said)):  # MPICH's mpiexec
            named = {pid: rank for rank, pid in self._pids.items()}.get(int(found[1]))
            rank = named if rank is None or named in first else rank
        killed = re.search(r"\(signal (\d+)\)", said)
        if killed:
            cause = f"signal {_signal_name(int(killed[1]))}"
        elif job.status < 0:
            cause = f"mpiexec ended by signal {_signal_name(-job.status)}"
        else:
            cause = f"exit status {job.status}"
        if not self._pids:
            lines = [line for line in job.last_lines if line.strip()]
            cause += f": {lines[-1].strip()}" if lines else ""
            return WorkerError(
                f"workers: the {count} processes did not start: {cause}; train with --workers 1"
            )
        self._checkpoint = self._checkpoint or self._earlier_checkpoint()
        do = "resume from the last checkpoint" if self._checkpoint else "start again"
        which = f"rank {rank} of {count}" if rank is not None else f"one of the {count} ranks"
        if killed or job.status < 0:
            return KilledWorkerError(
                f"workers: {which} was killed from outside: {cause}; the others ended with it; {do}"
            )
        return WorkerError(f"workers: {which} exited too early: {cause}; the others ended with it; {do}")

    def _earlier_checkpoint(self) -> str:
        """The last checkpoint of a resumed run that has not written another, empty for none."""
        if not (self._resume and self._config.out):
            return ""
        found = list_checkpoints(RunFolder(self._config.out).checkpoints_path)
        return str(found[-1].path) if found else ""


class _Job:
    """mpiexec and the ranks below it, from the start to the end."""

    def __init__(self, config: TrainingConfig, resume: bool | str | Path, inbox: SimpleQueue[Any]) -> None:
        self.status = 0
        self.last_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._inbox = inbox
        self._scratch = make_scratch()
        with ExitStack() as undo:
            undo.callback(self._scratch.remove)
            self._reception = Reception(self._scratch.path, config.workers, inbox)
            undo.callback(self._reception.close)
            ticket = self._scratch.path / "ticket.json"
            again = resume if isinstance(resume, bool) else str(resume)
            self._reception.write_ticket(
                ticket, {"config": config.as_dict(), "resume": again, "agreed": AGREED.get()}
            )
            self._began = time.time()
            rank = [sys.executable, "-P", "-m", "engine.training.team.rank", str(ticket)]
            self._process = subprocess.Popen(
                mpi_command(config.workers, rank),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=rank_environment(config.workers, _threads(config.threads, config.workers)),
                start_new_session=True,
            )
            undo.pop_all()
        self._watcher = threading.Thread(target=self._watch, name="mpiexec", daemon=True)
        self._watcher.start()

    def __enter__(self) -> _Job:
        return self

    def __exit__(self, *_: object) -> None:
        self.terminate()
        self._watcher.join(_END_SECONDS)
        if self._watcher.is_alive():
            self._process.kill()
            self._watcher.join()
        self._scratch.remove()

    def order(self, command: str) -> bool:
        """Pass an order to rank 0; False if it has not started yet."""
        return self._reception.send(0, {"command": command})

    def terminate(self, at_once: bool = False) -> None:
        """End all ranks, ``at_once`` without time for mpiexec; nothing where they have ended."""
        with suppress(OSError):
            if at_once:
                self._process.kill()
            else:
                self._process.terminate()

    def _watch(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self.last_lines.append(line.decode("utf-8", "replace").rstrip())
        self.status = self._process.wait()
        if self.status:
            remove_shared_memory(self._began)
        self._reception.close()
        self._inbox.put((_PROCESSES, None))


def _print(rank: int, said: dict[str, Any]) -> None:
    """Print what a rank has printed; lines of others than rank 0 say whose they are."""
    mark = f"rank {rank}: " if rank else ""
    text = "\n".join(mark + line for line in said["text"].split("\n"))
    print(text, file=sys.stderr if said["stream"] == "stderr" else sys.stdout, flush=True)


def _require_memory(count: int) -> None:
    room, wanted = available(), count * RANK_MEGABYTES
    if room is not None and wanted > room / 1e6:
        raise LimitError(
            f"workers: memory: {count} processes of at least {RANK_MEGABYTES} MB take {wanted} MB, "
            f"{room / 1e6:.0f} MB are available; give fewer --workers"
        )


def _threads(count: int, ranks: int) -> dict[str, str]:
    """So many threads for each rank (0: its share of the cores) unless the user's environment says."""
    if users_count() is not None:
        return {}
    return dict.fromkeys(USERS_WORD, str(count or max(1, cores() // ranks)))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
