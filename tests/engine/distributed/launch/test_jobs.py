"""Jobs that the launcher starts: how processes begin, print, fail and are stopped, and leave nothing."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.distributed.launch.channel import LINES, LastLines
from engine.distributed.launch.command import main
from engine.distributed.launch.ending import FAILED, Ending
from engine.distributed.launch.job import Job
from engine.distributed.launch.options import parse
from engine.distributed.launch.plan import plan

pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, pipes with names and signals")

ROOT = Path(__file__).resolve().parents[4]
OURS = ("PADDLE_", "PMI_", "OMP_", "OPENBLAS_", "MKL_", "FLAGS_", "MODEL_STUDIO_DEVICE")
# Each process prints its number and that of a process of its own, which would live for a minute.
BEGIN = """
import os, signal, subprocess, sys, time
import paddle.distributed as dist
dist.init_parallel_env()
rank = dist.get_rank()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
if os.path.exists("/proc/self/maps"):
    paths = [line.partition("/dev/shm/")[2].split() for line in open("/proc/self/maps")]
    print("shared", *{path[0] for path in paths if path})
else:
    print("shared")
print("began", rank, os.getpid(), os.getppid(), child.pid)
dist.barrier()
"""


def environment() -> dict[str, str]:
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(OURS)}
    # A secret that no message may show.
    return inherited | {"PYTHONPATH": str(ROOT), "SECRET_TOKEN": "never-shown"}


class Launched:
    """A launcher in a process of its own, in a folder with a script."""

    def __init__(self, folder: Path, script: str, *words: str, ignoring: str = "") -> None:
        (folder / "train.py").write_text(script, encoding="utf-8")
        (folder / "temporary").mkdir(exist_ok=True)
        self.folder = folder
        # A shell that ignores a signal starts its programs with it ignored.
        shell = ["sh", "-c", f"trap '' {ignoring}; exec \"$@\"", "sh"] if ignoring else []
        self.process = subprocess.Popen(
            [*shell, sys.executable, "-m", "engine.distributed.launch", *words],
            cwd=folder,
            text=True,
            env=environment() | {"TMPDIR": str(folder / "temporary")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.out = self.err = ""

    def ended(self) -> int:
        out, self.err = self.process.communicate(timeout=100)
        self.out += out
        return self.process.returncode

    def until(self, line: str, times: int) -> None:
        """Read standard output until ``line`` has begun so many lines."""
        assert self.process.stdout is not None
        while times:
            read = self.process.stdout.readline()
            assert read, self.ended() or self.err
            self.out += read
            times -= read.startswith(line)

    def end(self) -> None:
        """Kill what a test that failed has left: all processes in the folder, which is its own."""
        if self.process.poll() is None:
            self.process.kill()
        killed = set()
        while left := working_in(self.folder):
            killed.update(left)
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.process.wait()
        # A process that exits gives up its working folder a moment before it is gone.
        wait_until_gone(killed)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def said(self) -> str:
        """What the launcher and its processes wrote."""
        logs = "\n".join(path.read_text() for path in self.folder.glob("logs/workerlog.*"))
        return f"{self.out}\n{logs}"

    def pids(self) -> set[int]:
        """The processes that printed their numbers."""
        lines = re.findall(r"^began \d (.*)$", self.said(), re.M)
        return {int(each) for line in lines for each in line.split()}

    def nothing_is_left(self) -> None:
        """All processes that printed their numbers are gone, so are pipes and shared memory."""
        pids = self.pids()
        assert len(pids) >= 6
        wait_until_gone(pids)
        deadline = time.monotonic() + 60
        while list((self.folder / "temporary").iterdir()):
            assert time.monotonic() < deadline
        shared = [line.split() for line in re.findall(r"^shared (.*)$", self.said(), re.M)]
        assert shared or sys.platform != "linux"
        assert not [name for names in shared for name in names if Path("/dev/shm", name).exists()]


def working_in(folder: Path) -> list[int]:
    """The processes whose working folder it is."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):  # it has ended meanwhile, or belongs to another process
            if place.readlink() == folder and alive(int(place.parent.name)):
                found.append(int(place.parent.name))
    return found


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Launched]]:
    """Starts a launcher of a script with words of its command line; nothing of it outlives the test."""
    started: list[Launched] = []

    def start(script: str, *words: str, ignoring: str = "") -> Launched:
        started.append(Launched(tmp_path, script, *words, ignoring=ignoring))
        return started[-1]

    yield start
    for each in started:
        each.end()


def alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"  # one that its parent has not asked for yet


def wait_until_gone(pids: set[int]) -> None:
    deadline = time.monotonic() + 60
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


PRINTS = (
    BEGIN
    + """
child.kill()
names = ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_LOCAL_RANK", "PADDLE_LOCAL_SIZE",
         "PADDLE_NNODES", "PADDLE_CURRENT_ENDPOINT", "PADDLE_TRAINER_ENDPOINTS", "FLAGS_selected_gpus",
         "MODEL_STUDIO_DEVICE", "PADDLE_RESTART_COUNT", "OMP_NUM_THREADS", "PADDLE_LOG_DIR")
print([os.environ[name] for name in names], sys.argv, __name__)
print("no line break", end="", file=sys.stderr)
"""
)


def test_processes_know_who_they_are_and_write_to_their_logs(
    tmp_path: Path, launch: Callable[..., Launched]
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "workerlog.7").write_text("of an earlier job")
    cores = len(os.sched_getaffinity(0))
    words = "--device cpu --selected_gpus=3,5 --log_dir logs --started_port 7000 train.py --lr 1"
    launched = launch(PRINTS, *words.split())
    assert launched.ended() == 0, launched.err
    assert launched.err == ""
    ends = "127.0.0.1:7000,127.0.0.1:7001"
    assert launched.out.splitlines()[-1] == (
        f"trainers_endpoints: {ends} , node_id: 0 , current_node_ip: 127.0.0.1 , num_nodes: 1 , "
        "node_ips: ['127.0.0.1'] , nranks: 2"
    )
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["workerlog.0", "workerlog.1"]
    for rank, gpu in enumerate("35"):
        reported = [
            str(rank),
            "2",
            str(rank),
            "2",
            "1",
            f"127.0.0.1:700{rank}",
            ends,
            gpu,
            "cpu",
            "0",
            str(max(1, cores // 2)),
            "logs",
        ]
        log = (tmp_path / "logs" / f"workerlog.{rank}").read_text()
        assert log.splitlines()[2:] == [f"{reported} ['train.py', '--lr', '1'] __main__", "no line break"]
    launched.nothing_is_left()


FAILS = (
    BEGIN
    + """
how = int(os.environ["PADDLE_RESTART_COUNT"])
if rank == how % 2:
    print("the last line of", how)
    if how == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == 1:
        raise ValueError("no such luck")
    elif how == 2:
        os._exit(4)
    else:
        sys.exit(3)
dist.barrier()
print("never")
"""
)


def test_one_that_fails_ends_all_and_all_are_started_again(launch: Callable[..., Launched]) -> None:
    launched = launch(FAILS, "--nproc_per_node=2", "--max_restart=3", "--print_config=no", "train.py")
    assert launched.ended() == 3
    messages = re.split(r"^(?=launch: rank)", launched.err, flags=re.M)[1:]
    assert len(messages) == 4, launched.err
    for how, said in enumerate(
        (
            "rank 0 of 2 was ended by signal 9 (SIGKILL), which the system also sends where memory runs out",
            "rank 1 of 2 ended with exit status 1",
            "rank 0 of 2 ended with exit status 4",
            "rank 1 of 2 ended with exit status 3",
        )
    ):
        first, *lines = messages[how].splitlines()
        assert first == f"launch: {said}, and with it the others; its last lines:"
        assert lines[1].startswith(f"    began {how % 2} ")
        assert lines[2] == f"    the last line of {how}"
        if how < 3:
            assert f"launch: all processes are started again: {how + 1} of 3" in lines
    assert "    ValueError: no such luck" in messages[1]
    assert "never" not in launched.out + launched.err  # neither the barrier's other side nor the secret
    launched.nothing_is_left()


WAITS = (
    BEGIN
    + """
if rank == 0:
    dist.recv(__import__("paddle").ones([1]), 1)  # in MPI, where no handler of Python runs
while True:
    time.sleep(1)
"""
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_launcher_that_is_stopped_leaves_nothing(
    launch: Callable[..., Launched], number: signal.Signals
) -> None:
    launched = launch(WAITS, "--nproc_per_node=2", "--print_config=no", "train.py")
    launched.until("began", 2)
    launched.process.send_signal(number)
    if number == signal.SIGKILL:
        assert launched.ended() == -number
    else:
        assert launched.ended() == 1
        said = f"stopped by signal {number:d} ({number.name}); all 2 processes have ended\n"
        assert launched.err == said
    launched.nothing_is_left()


def test_a_launcher_started_with_sigint_ignored_is_stopped_by_sigterm(
    launch: Callable[..., Launched],
) -> None:
    launched = launch(WAITS, "--nproc_per_node=2", "--print_config=no", "train.py", ignoring="INT")
    launched.until("began", 2)
    launched.process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        launched.process.wait(1)
    launched.process.send_signal(signal.SIGTERM)
    assert launched.ended() == 1
    launched.nothing_is_left()


def test_ending_a_launched_job_leaves_no_process(tmp_path: Path) -> None:
    launched = Launched(tmp_path, WAITS, "--nproc_per_node=2", "--print_config=no", "train.py")
    launched.until("began", 2)
    assert len(working_in(tmp_path)) > 6  # launcher, guard, mpiexec, two processes and a child of each
    pids = launched.pids()
    launched.end()
    assert len(pids) >= 6
    assert not [pid for pid in pids if alive(pid)]


def test_one_process_needs_no_mpiexec(tmp_path: Path, capfd, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr("resources.processes.shutil.which", lambda *_, **__: None)
    script = tmp_path / "alone.py"
    script.write_text(
        "import os, sys\nprint(os.environ['PADDLE_TRAINERS_NUM'])\nsys.exit(int(sys.argv[1]))\n"
    )
    assert main(["--print_config=no", str(script), "0"]) == 0
    assert capfd.readouterr() == ("1\n", "")
    assert main(["--print_config=no", f"--log_dir={tmp_path / 'logs'}", str(script), "5"]) == 5
    out, err = capfd.readouterr()
    log = tmp_path / "logs" / "workerlog.0"
    assert (out, err) == ("", f"launch: rank 0 ended with exit status 5; its last lines ({log}):\n    1\n")
    assert main(["--nproc_per_node=2", "--print_config=no", str(script)]) == 1
    assert capfd.readouterr().err.startswith("distributed: several processes need MPI: found no mpiexec; pip")
    (tmp_path / "file").touch()
    assert main(["--print_config=no", f"--log_dir={tmp_path / 'file'}", str(script)]) == 1
    assert (
        capfd.readouterr().err
        == f"launch: --log_dir {tmp_path / 'file'}: File exists; choose another folder\n"
    )
    assert main(["--print_config=no", str(tmp_path / "nothing.py")]) == 2
    assert "the script does not exist" in capfd.readouterr().err


def test_ranks_that_wait_for_one_that_exited_are_stopped(launch: Callable[..., Launched]) -> None:
    script = f"""{BEGIN}
import engine.distributed.waiting
engine.distributed.waiting.REPORTED = 0.5
if rank == 0:
    dist.barrier()
"""
    launched = launch(script, "--nproc_per_node=2", "--print_config=no", "--wait-timeout=2", "train.py")
    assert launched.ended() == 1
    first, *_, last = launched.err.splitlines()
    assert re.fullmatch(
        r"launch: rank 0 has waited \d s in MPI's Barrier: rank 1 exited with status 0; the job is stopped "
        r"in \d s \(--wait-timeout\)",
        first,
    )
    assert re.fullmatch(
        r"launch: rank 1 exited with status 0, and rank 0 waited \d s for it \(--wait-timeout 2\); all 2 "
        r"processes have been stopped",
        last,
    )
    launched.nothing_is_left()


def test_output_of_other_machines_is_forwarded_without_noise(capsys) -> None:
    started = Job(plan(parse(["--ips=192.0.2.1,192.0.2.2", "a.py"])))
    for rank, line in ((0, b"one\n"), (1, b"two\n"), (None, b"of no rank\n")):
        started._pass_on("mpi out", rank, line)
    assert capsys.readouterr().out == "[0] one\n[1] two\n"
    for noise, returned, rank, code in (
        (b"\x1e1\x1fAbort(3) on node 1 (rank 1 in comm 0): application called MPI_Abort\n", 3, 1, 3),
        (
            b"=   EXIT CODE: 9\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n",
            9,
            None,
            -9,
        ),
        (b"=   EXIT CODE: 4\n", 4, None, 4),
        (b"ssh: connect to host\n", 255, None, 255),
    ):
        failed = Job(plan(parse(["--ips=192.0.2.1,192.0.2.2", "a.py"])))
        failed._pass_on("mpi out", 1, b"its last\n")
        for of, line in failed._forwarded["mpi err"].lines(noise):
            failed._pass_on("mpi err", of, line)
        ending = failed._ending(returned)
        assert (ending.rank, ending.code) == (rank, code)
        assert ("its last" if rank else noise.decode().split("\n")[0]) in ending.message()


def test_a_guard_that_is_killed_is_known_by_what_mpiexec_says() -> None:
    started = Job(plan(parse(["--nproc_per_node=2", "a.py"])))
    for event in (
        {"pid": 7, "group": 6},
        {"pid": 9, "group": 8},
        {"pid": 9, "rank": 0},
        {"pid": 7, "rank": 1},
    ):
        started._note(event)
    started._noise.add(b"\n=   PID 6 RUNNING AT host\n=   EXIT CODE: 9\nEXIT STRING: Killed (signal 9)\n")
    started._lines[1].add(b"its last\n")
    assert started._ending(9).message().splitlines() == [
        "launch: rank 1 of 2 was ended by signal 9 (SIGKILL), which the system also sends where memory runs "
        "out, and with it the others; its last lines:",
        "    its last",
    ]


def test_messages_about_endings() -> None:
    assert Ending(FAILED, 1, 0, -11).message() == (
        "launch: rank 0 was ended by signal 11 (SIGSEGV); it had printed nothing"
    )
    assert Ending(FAILED, 2, 0, -11).status == 1
    lines = LastLines()
    for number in range(50):
        lines.add(f"line {number}\nbegun ".encode())
    assert lines.text().splitlines()[-2:] == ["begun line 49", "begun "]
    assert len(lines.text().splitlines()) == LINES
