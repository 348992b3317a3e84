"""Jobs and sweeps on two hosts: their sums and lines, a cable that is unplugged for a while or for good.

ssh asks for answers every second here; ``--long`` does the same at the product's own interval (two minutes).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.distributed.launch.remote_shell import INTERVAL, TIMES
from tests.robust.two_hosts import FIRST, SECOND, TwoHosts, found, why_not

pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120.0
LAUNCH = """
import sys
from engine.distributed.launch import remote_shell
remote_shell.INTERVAL = int(sys.argv[1])
from engine.distributed.launch.command import main
sys.exit(main(sys.argv[2:]))
"""
SCRIPT = """
import sys, time
import paddle
import paddle.distributed as dist
dist.init_parallel_env()
rank = dist.get_rank()
total = paddle.ones([3]) * (rank + 1)
dist.all_reduce(total)
print(rank, "of", dist.get_world_size(), total.numpy().tolist())
for step in range(int(sys.argv[1])):
    dist.barrier()
    print("step", step)
    time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoHosts]:
    reason = why_not()
    if reason:
        pytest.skip(reason)
    made = TwoHosts(tmp_path_factory.mktemp("hosts"))
    yield made
    made.close()


class Launched:
    """A job of a process on each host, whose lines are read as they come."""

    def __init__(
        self, hosts: TwoHosts, folder: Path, steps: int, interval: int, text: str = SCRIPT, *more: str
    ) -> None:
        script = folder / "script.py"
        script.write_text(text)
        words = [sys.executable, "-c", LAUNCH, str(interval), "--ips", f"{FIRST},{SECOND}", *more]
        self.process = subprocess.Popen(
            hosts.on(0, [*words, "--nproc_per_node=1", "--print_config=no", str(script), str(steps)]),
            env={**hosts.environment(), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self.err = ""
        self._readers = [threading.Thread(target=self._read_lines), threading.Thread(target=self._read_err)]
        for reader in self._readers:
            reader.start()

    def _read_lines(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                self.lines.append(line)

    def _read_err(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as output:
            self.err = output.read()

    def until_more_steps(self) -> None:
        """Wait until both processes have done ten more steps."""
        wanted = len(self.lines) + 20
        deadline = time.monotonic() + SECONDS
        while len(self.lines) < wanted:
            assert self.process.poll() is None, self.err
            assert time.monotonic() < deadline, self.lines[-3:]
            time.sleep(0.02)

    def ended(self, seconds: float) -> int:
        """The exit status; fails if it takes longer."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(SECONDS)
            pytest.fail(f"the job did not end within {seconds} s")
        for reader in self._readers:
            reader.join(SECONDS)
        return code


def test_two_hosts_compute_sums_and_print_whole_lines(hosts: TwoHosts, tmp_path: Path) -> None:
    job = Launched(hosts, tmp_path, 3, INTERVAL)
    assert job.ended(SECONDS) == 0, job.err
    assert sorted(job.lines) == sorted(
        line
        for rank in (0, 1)
        for line in (
            f"[{rank}] {rank} of 2 [3.0, 3.0, 3.0]\n",
            *(f"[{rank}] step {step}\n" for step in range(3)),
        )
    )
    assert job.err == ""


def test_a_rank_that_waits_for_one_of_another_host_that_exited_is_reported(
    hosts: TwoHosts, tmp_path: Path
) -> None:
    stuck = "from engine.distributed import waiting; waiting.REPORTED = 0.5\nif dist.get_rank(): sys.exit()\n"
    begin, loop, rest = SCRIPT.partition("for step")
    job = Launched(hosts, tmp_path, 1, INTERVAL, begin + stuck + loop + rest, "--wait-timeout=2")
    assert job.ended(SECONDS) == 1
    assert job.err.startswith("launch: rank 0 has waited "), job.err
    assert re.search(r"^launch: rank 1 exited with status 0, and rank 0 waited \d s for it", job.err, re.M)


def test_a_host_that_is_unplugged_for_a_while_only_is_waited_for(
    hosts: TwoHosts, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    interval, outage = (INTERVAL, 20.0) if request.config.getoption("--long") else (1, 2.0)
    job = Launched(hosts, tmp_path, 1_000_000, interval)
    job.until_more_steps()
    hosts.unplug()
    try:
        time.sleep(outage)
        hosts.plug()
        job.until_more_steps()
        hosts.unplug()
        began = time.monotonic()
        assert job.ended(SECONDS) == 1
        took = time.monotonic() - began
    finally:
        hosts.plug()
    print(f"unplugged: ended after {took:.1f} s, answers asked for every {interval} s")
    assert took < interval * (TIMES + 1) + 4
    assert job.err == f"launch: the connection to {SECOND} is lost; all 2 processes have been stopped\n"


def test_a_host_whose_processes_are_killed_is_named(hosts: TwoHosts, tmp_path: Path) -> None:
    job = Launched(hosts, tmp_path, 1_000_000, INTERVAL)
    job.until_more_steps()
    hosts.kill(1)
    assert job.ended(10.0) == 1
    assert re.match(rf"launch: the connection to {re.escape(SECOND)} is lost; all 2 processes", job.err), (
        job.err
    )


def tls(folder: Path) -> dict[str, str]:
    """The variables of a cluster of Dask whose members have one certificate."""
    key, certificate = str(folder / "key.pem"), str(folder / "certificate.pem")
    words = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=hosts"]
    made = ["openssl", "req", "-x509", *words, "-keyout", key, "-out", certificate]
    subprocess.run(made, check=True, capture_output=True, timeout=SECONDS)
    begin = "DASK_DISTRIBUTED__COMM__"
    variables = {f"{begin}TLS__CA_FILE": certificate, f"{begin}TIMEOUTS__TCP": "12s"}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        variables |= {f"{begin}TLS__{role}__CERT": certificate, f"{begin}TLS__{role}__KEY": key}
    return variables


def test_a_sweep_goes_on_where_a_host_with_a_dask_worker_vanishes(
    hosts: TwoHosts, few: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed", reason="the extra sweep (Dask) is not installed")
    if found("openssl") is None:
        pytest.skip("certificates need openssl")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **tls(tmp_path)}
    address = f"tls://{FIRST}:8786"
    started: list[subprocess.Popen[bytes]] = []

    def start(host: int, *words: str) -> subprocess.Popen[bytes]:
        command = hosts.on(host, [sys.executable, "-m", *words])
        with (tmp_path / f"log{len(started)}").open("wb") as log:
            started.append(
                subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            )
        return started[-1]

    dask = ("--no-dashboard", "--protocol", "tls", "--host")
    start(0, "distributed.cli.dask_scheduler", *dask, FIRST, "--port", "8786")
    for host, own in enumerate((FIRST, SECOND)):
        folder = ("--local-directory", str(tmp_path / f"worker{host}"))
        start(host, "distributed.cli.dask_worker", address, *dask, own, "--nthreads=1", "--no-nanny", *folder)
    try:
        wait_for(lambda: (tmp_path / "log0").read_text().count("Register worker") == 2, tmp_path / "log0")
        words = ["--data", str(few), "--model", "linear", "--workers=2", "--epochs=150", "--json"]
        words += ["--param", "lr=0.01,0.02", "--scheduler", address, "--out", str(tmp_path / "sweep")]
        sweep = start(0, "studio", "sweep", *words)
        wait_for(lambda: hosts.runs(1, "mpiexec"), tmp_path / "log3")
        hosts.unplug()
        assert sweep.wait(SECONDS) == 0, (tmp_path / "log3").read_text()
    finally:
        hosts.plug()
        for process in reversed(started):
            process.kill()
            process.wait(SECONDS)
        hosts.kill(0)
        hosts.kill(1)
    states = re.findall(r'"event":"trial_ended".*?"state":"(\w+)"', (tmp_path / "log3").read_text())
    assert states == ["done", "done"]


def wait_for(true: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
