"""No other machine reaches a port of a job whose processes are all on this one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and Linux can bind to a device")

SECONDS = 60.0
LISTENS = "0A"
SCRIPT = """
import time
import paddle.distributed as dist
dist.init_parallel_env()
dist.barrier()
print("ready", flush=True)
time.sleep(600)
"""


@dataclass(frozen=True)
class Port:
    """A port that a process listens on, and the address as /proc/net writes it."""

    address: str
    number: int

    @property
    def is_loopback(self) -> bool:
        """Whether the address is one of the loopback device."""
        return (
            self.address.endswith("7F") and len(self.address) == 8
        ) or self.address == f"{'0' * 24}01000000"


def below(root: int) -> list[int]:
    """The process ``root`` and all that it started."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:  # it has exited
            continue
        children.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    found = [root]
    for each in found:
        found += children.get(each, [])
    return found


def listening(root: int) -> set[Port]:
    """The ports of TCP that the processes below ``root`` listen on."""
    inodes = set()
    for pid in below(root):
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                inodes.add(os.readlink(link))
            except OSError:  # closed meanwhile
                continue
    found = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for line in table.read_text().splitlines()[1:] if table.exists() else ():
            _, local, _, state, *rest = line.split()
            if state == LISTENS and f"socket:[{rest[5]}]" in inodes:
                address, _, number = local.partition(":")
                found.add(Port(address, int(number, 16)))
    return found


def own_address() -> str:
    """An address of this machine that others can reach."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no address but those of the loopback device")
        address = str(probe.getsockname()[0])
    if address.startswith("127."):
        pytest.skip("this machine has no address but those of the loopback device")
    return address


def reached(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), SECONDS).close()
    except ConnectionRefusedError:
        return False
    return True


@contextmanager
def started(words: list[str], line: str) -> Iterator[int]:
    """The process of ``words``, which has printed ``line`` on its standard output."""
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    with process:
        try:
            assert process.stdout is not None
            assert any(line in read for read in process.stdout)
            yield process.pid
        finally:
            process.terminate()
            process.communicate(timeout=SECONDS)


@pytest.mark.parametrize("command", ["launch", "train"])
def test_ports_of_a_job_on_one_machine_are_refused_to_others(
    command: str, few: Path, model: str, tmp_path: Path
) -> None:
    address = own_address()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    if command == "launch":
        words, line = ["launch", "--nproc_per_node=2", "--print_config=no", str(script)], "ready"
    else:
        words = ["train", "--data", str(few), "--model", model, "--workers=2", "--epochs=100000", "--json"]
        line = '"event":"step"'
    with started([sys.executable, "-m", "studio", *words], line) as pid:
        ports = listening(pid)
        assert ports  # those of mpiexec at least
        everywhere = [port.number for port in ports if not port.is_loopback]
        assert [port for port in everywhere if reached(address, port)] == []
        assert len(everywhere) <= 1  # of mpiexec, which has no option for where to listen
        assert all(reached("127.0.0.1", port) for port in everywhere)
