"""One start of all processes: passes on what they print, sees how they end, ends them, and tidies up."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from engine.distributed.launch.channel import Channel, LastLines, event_of
from engine.distributed.launch.ending import DONE, FAILED, STOPPED, Ending
from engine.distributed.launch.forwarding import Forwarded, split_event
from engine.distributed.launch.guard import EVENTS
from engine.distributed.launch.leftovers import remove_shared_memory
from engine.distributed.launch.plan import Plan
from engine.distributed.launch.remote_shell import words_of_ssh
from engine.distributed.launch.waits import Waits
from resources.regular_files import open_regular

POLL = 0.1
GRACE = 1.0
"""Seconds that processes have to end by themselves before they are killed."""
PATIENCE = 1.0
"""Seconds that the beginning of a line waits for the rest before it is shown."""
_SIGNALS = tuple(getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n))
_ABORT = re.compile(
    rb"^Abort\((\d{1,9})\) on node \d+ \(rank (\d{1,9}) in comm 0\): application called MPI_Abort"
)
_PID = re.compile(r"PID (\d{1,9}) RUNNING")
_EXIT = re.compile(r"EXIT CODE: (\d{1,9})")
_KILLED = re.compile(r"EXIT STRING: .*\(signal (\d{1,9})\)")


class Job:
    """The processes of ``plan``, started once."""

    def __init__(self, plan: Plan, restart: int = 0) -> None:
        self._plan, self._restart = plan, restart
        self._pids: dict[int, int] = {}
        self._groups: dict[int, int] = {}
        self._waits = Waits(plan.count, plan.wait_timeout)
        self._stuck = ""
        self._lost: tuple[str, float] | None = None
        self._lines = {rank: LastLines() for rank in range(plan.count)}
        self._begun: dict[tuple[str, int], tuple[float, bytes]] = {}
        self._forwarded = {name: Forwarded() for name in ("mpi out", "mpi err")}
        self._noise = LastLines()
        self._failed: tuple[int | None, int] | None = None
        self._doubted = False
        self._stopped_by = 0
        self._stopping: float | None = None

    def run(self) -> Ending:
        """Start the processes, and wait until all have ended.

        Raises:
            DeviceError: there is no mpiexec.
            BrokenPipeError: the reader of standard output is gone; all processes have ended.
        """
        began, local = time.time(), self._plan.is_local
        channel = Channel(self._plan.count if local else 0, self._plan.log_dir is None)
        process = None
        try:
            with self._handling():
                process = subprocess.Popen(
                    self._plan.command(channel.folder if local else None),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    env=self._plan.environment(self._restart, channel.folder),
                )
                with process:
                    self._attend(process, channel)
        finally:
            channel.close()
            if process is not None and process.returncode:
                remove_shared_memory(began)
        return self._ending(process.returncode)

    def _attend(self, process: subprocess.Popen[bytes], channel: Channel) -> None:
        """Until all processes have ended and all that they printed is passed on."""
        for stream, name in ((process.stdout, "mpi out"), (process.stderr, "mpi err")):
            assert stream is not None
            channel.watch(stream, name)
        try:
            self._watch(process, channel)
        finally:
            with suppress(OSError):  # the reader of the output is gone
                self._take(channel, 0.0)  # who has just begun
            self._end(process)
        deadline = time.monotonic() + GRACE  # what a script has left running may print without end
        while self._take(channel, 0.0) and time.monotonic() < deadline:
            pass
        for name, forwarded in self._forwarded.items():
            for rank, line in forwarded.rest():
                self._pass_on(name, rank, line + b"\n")
        # What is printed next begins its own line.
        self._show_begun(0.0, b"\n" if process.returncode else b"")

    def _watch(self, process: subprocess.Popen[bytes], channel: Channel) -> None:
        while process.poll() is None:
            self._take(channel, POLL)
            self._report_waits()
            if self._stopping is None and (self._failed or self._stopped_by or self._stuck):
                self._stopping = time.monotonic()
                if self._stopped_by or self._stuck:
                    process.terminate()
            elif self._stopping is not None and time.monotonic() > self._stopping + GRACE:
                return

    def _take(self, channel: Channel, seconds: float) -> bool:
        """Pass on what has come; False where there was nothing."""
        came = channel.read(seconds)
        for name, rank, data in came:
            if name == EVENTS:
                for event in channel.events(data):
                    self._note(event)
            elif name in ("out", "err"):
                self._lines[rank].add(data)
                self._show_lines(name, rank, data)
            elif self._plan.is_local:
                self._noise.add(data)
            else:
                for of, line in self._forwarded[name].lines(data):
                    self._pass_on(name, of, line)
        self._show_begun(PATIENCE)
        return bool(came)

    def _pass_on(self, name: str, rank: int | None, line: bytes) -> None:
        """A line of a process that has no pipes, which mpiexec forwarded; None for one of mpiexec's own."""
        text, event = split_event(line)
        if rank is not None and event:
            found = event_of(event.rstrip())
            if found is not None and found.get("rank") == rank and "pid" not in found:
                self._note(found)
            if not text:
                return
            line = text + b"\n"
        if rank is None:
            self._noise.add(line)
        elif (aborted := _ABORT.match(line)) and int(aborted[2]) in self._lines:
            self._failed = self._failed or (int(aborted[2]), int(aborted[1]))
        else:
            if rank in self._lines:
                self._lines[rank].add(line)
            self._show(name.removeprefix("mpi "), b"[%d] %b" % (rank, line))

    def _show_lines(self, name: str, rank: int, data: bytes) -> None:
        """Show whole lines, so that those of several processes do not mix."""
        since, begun = self._begun.pop((name, rank), (time.monotonic(), b""))
        data = begun + data
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if data[end:]:
            self._begun[name, rank] = (time.monotonic() if end else since), data[end:]
        self._show(name, data[:end])

    def _show_begun(self, seconds: float, end: bytes = b"") -> None:
        """Show beginnings of lines that nothing has followed for so long."""
        for (name, rank), (since, rest) in list(self._begun.items()):
            if time.monotonic() >= since + seconds:
                del self._begun[name, rank]
                self._show(name, rest + end)

    def _show(self, name: str, data: bytes) -> None:
        if self._stopped_by:
            return  # tracebacks of an interrupt that was asked for
        stream = sys.stdout if name == "out" else sys.stderr
        stream.flush()
        raw = getattr(stream, "buffer", None)
        if raw is None:
            stream.write(data.decode("utf-8", "backslashreplace"))
        else:
            raw.write(data)
        stream.flush()

    def _note(self, event: dict[str, Any]) -> None:
        """A process began (pid, group), has a rank (rank, pid), waits for others (rank, waits, call), ran its
        script (rank, status), is gone (pid, code); a machine can't be reached (lost)."""
        if not 0 <= event.get("rank", 0) < self._plan.count:
            return
        if "group" in event:
            self._groups[event["pid"]] = event["group"]
            return
        if "lost" in event:
            if event["lost"] in [host for host, _ in self._plan.machines]:
                self._lost = self._lost or (event["lost"], time.monotonic())
            return
        if "waits" in event:
            self._waits.note_wait(event["rank"], event["waits"], event.get("call", ""), time.monotonic())
            return
        if "pid" in event and "rank" in event:
            self._pids[event["pid"]] = event["rank"]
            return
        rank = event["rank"] if "rank" in event else self._pids.get(event["pid"])
        code = event.get("status", event.get("code", 0))
        if code and not self._stopped_by and (self._failed is None or (self._doubted and code < 0)):
            self._failed = rank, code
            # MPI ends a rank whose partner is gone with a status: a signal that ended another one came first.
            self._doubted = code > 0 and "status" not in event
        if rank is not None and not code:
            self._waits.note_exit(rank, time.monotonic())

    def _report_waits(self) -> None:
        """Print who waits for whom, and stop the processes if no rank can end their wait."""
        if self._failed or self._stopping is not None:
            return
        now = time.monotonic()
        self._stuck = self._waits.stuck(now)
        if self._lost and now > self._lost[1] + GRACE:  # mpiexec does not end by itself
            self._stuck = f"the connection to {self._lost[0]} is lost"
        if not self._stuck and (line := self._waits.line(now)):
            print(line, file=sys.stderr, flush=True)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Let nothing be left: mpiexec, the processes and their groups."""
        if process.poll() is None:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE / 2)
        failed = self._stopping is not None or process.poll() != 0
        for pid, group in self._groups.items() if failed else ():
            with suppress(OSError):
                # The number may be another's by now: it is ours while it is in the group that it reported.
                if os.getpgid(pid) == group:
                    os.killpg(group, signal.SIGKILL)
        if process.poll() is None:
            process.kill()
            process.wait()

    def _ending(self, returned: int) -> Ending:
        count = self._plan.count
        if self._stopped_by:
            return Ending(STOPPED, count, signal=self._stopped_by)
        noise = self._noise.text()
        if self._failed is None and returned and self._lost:
            self._stuck = f"the connection to {self._lost[0]} is lost"
        if self._stuck:
            return Ending(FAILED, count, code=1, reason=self._stuck, noise=words_of_ssh(noise))
        if self._failed is None and returned == 0:
            return Ending(DONE, count)
        rank, code = self._failed or (None, _from_mpiexec(noise, returned))
        if rank is None and (guard := _PID.search(noise)):
            rank = next(
                (self._pids.get(pid) for pid, of in self._groups.items() if of == int(guard[1])), None
            )
        log = f"{self._plan.log_dir}/workerlog.{rank}" if self._plan.log_dir and rank is not None else ""
        lines = self._lines[rank].text() if rank is not None else ""
        if log:
            lines = _tail(Path(log))
        return Ending(FAILED, count, rank, code, lines, log, noise)

    @contextmanager
    def _handling(self) -> Iterator[None]:
        """Within the block a signal that ends programs is noted, and ends the processes."""

        def note(number: int, frame: FrameType | None) -> None:
            self._stopped_by = self._stopped_by or number

        before = {}
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup, or a job in the background of a script: it stays ignored
            with suppress(ValueError):  # not the main thread
                before[number] = signal.signal(number, note)
        try:
            yield
        finally:
            for number, former in before.items():
                signal.signal(number, former)


def _from_mpiexec(noise: str, returned: int) -> int:
    """The exit status of a failed rank, below 0 a signal, by what mpiexec printed and returned."""
    killed, status = _KILLED.search(noise), _EXIT.search(noise)
    if killed:
        return -int(killed[1])
    return int(status[1]) if status else returned or 1


def _tail(log: Path) -> str:
    found = LastLines()
    with suppress(OSError), open_regular(log) as file:
        file.seek(max(0, log.stat().st_size - (1 << 14)))
        found.add(file.read())
    return found.text()
