"""What a launch would start: devices, machines, variables, memory; and what failed jobs leave."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

import pytest

from engine.core.errors import ArgumentError, DataError, DeviceError, LimitError
from engine.core.place import REDIRECT
from engine.distributed.launch.command import launch
from engine.distributed.launch.leftovers import remove_shared_memory
from engine.distributed.launch.memory import available, require_memory
from engine.distributed.launch.options import parse
from engine.distributed.launch.plan import Plan, plan
from engine.distributed.processes.listeners import confine_listeners
from resources import processes


@pytest.fixture(autouse=True)
def _no_job(monkeypatch):
    for name in ("CUDA_VISIBLE_DEVICES", "FLAGS_selected_gpus", REDIRECT, "PADDLE_NPROC_PER_NODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)  # as where CuPy is not installed


def planned(text: str) -> Plan:
    return plan(parse([*text.split(), "a.py"]))


def test_gpus_on_the_cpu_keep_their_numbers() -> None:
    found = planned("--selected_gpus 2,5 --device cpu")
    assert found.count == 2
    assert found.variables["FLAGS_selected_gpus"] == "2,5"
    assert found.variables[REDIRECT] == "cpu"
    assert found.variables["PADDLE_DISTRI_BACKEND"] == "gloo"
    for text, gpus in (
        ("--selected_gpus 2,5 --nproc_per_node 1 --device cpu", "2,5"),
        ("--devices 0,1,2 --nproc_per_node 2 --device cpu", "0,1"),
        ("--nproc_per_node 2", None),
    ):
        assert planned(text).variables.get("FLAGS_selected_gpus") == gpus


def test_gpus_that_are_not_there() -> None:
    with pytest.raises(DeviceError) as caught:
        planned("--selected_gpus 0,1")
    assert f"on the CPU with --device cpu ({REDIRECT}=cpu)" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gpus_are_counted_among_those_that_are_visible(monkeypatch) -> None:
    class Two:
        def check(self, index: int) -> None:
            if index > 1:
                raise DeviceError(f"set_device: 'gpu:{index}' does not exist; use another")

        def count(self) -> int:
            return 2

    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", Two())
    assert planned("--devices 0,1").variables["FLAGS_selected_gpus"] == "0,1"
    assert planned("").variables["FLAGS_selected_gpus"] == "0,1"  # all
    assert planned("--nproc_per_node 1").count == 1
    with pytest.raises(DeviceError, match="GPUs 2: 'gpu:2' does not exist; start"):
        planned("--devices 2")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    assert planned("--devices 7,4").variables["FLAGS_selected_gpus"] == "1,0"
    with pytest.raises(DeviceError, match="GPU 0 is not one of CUDA_VISIBLE_DEVICES=4,7"):
        planned("--devices 0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--devices 0,0 --device cpu", "devices must be different numbers"),
        ("--devices a --device cpu", "devices must be different numbers"),
        ("--devices 0 --nproc_per_node 2 --device cpu", "2 processes need a device each: got 0"),
        ("--nnodes 2", "name them with --ips A,B or --hosts FILE"),
        ("--ips a,,b", "the machines must be different names"),
    ],
)
def test_options_that_do_not_fit(text: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        planned(text)


def test_one_process_is_the_default_and_needs_no_mpi(monkeypatch) -> None:
    monkeypatch.setattr(processes.shutil, "which", lambda *_, **__: None)
    assert planned("").command("pipes")[:1] == [sys.executable]
    with pytest.raises(DeviceError, match=r"found no mpiexec; pip install 'model-studio\[distributed\]'$"):
        planned("--nproc_per_node 2").command("pipes")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(
        DeviceError, match=r"mpi4py is not installed; pip install 'model-studio\[distributed\]'$"
    ):
        planned("--nproc_per_node 2").command("pipes")


def test_the_runner_gets_what_the_script_is_to_start_with() -> None:
    assert plan(parse(["--mode", "static", "-m", "a.b", "-x"])).words == [
        "-m",
        "engine.run",
        "--mode",
        "static",
        "-m",
        "a.b",
        "-x",
    ]


def test_an_outer_job_is_not_handed_down(monkeypatch) -> None:
    for name in ("PADDLE_TRAINER_ID", "PADDLE_TRAINER_ENDPOINTS", "PMI_RANK", "PMI_FD", "OTHER"):
        monkeypatch.setenv(name, "1")
    monkeypatch.delenv("UCX_NET_DEVICES", raising=False)
    found = planned("--nproc_per_node 2").environment(3)
    assert not {"PADDLE_TRAINER_ID", "PMI_RANK", "PMI_FD"} & set(found)
    assert (found["OTHER"], found["PADDLE_TRAINERS_NUM"], found["PADDLE_RESTART_COUNT"]) == ("1", "2", "3")
    assert found["PADDLE_TRAINER_ENDPOINTS"] == "127.0.0.1:6170,127.0.0.1:6171"


def test_mpi_of_a_job_on_one_machine_uses_the_loopback_device_only(monkeypatch) -> None:
    monkeypatch.delenv("UCX_NET_DEVICES", raising=False)
    assert planned("--nproc_per_node 2").environment(0)["UCX_NET_DEVICES"] == "lo"
    assert "UCX_NET_DEVICES" not in planned("--ips 192.0.2.1,192.0.2.2").environment(0)
    for device, other in (("lo", None), ("eth1", "eth1")):  # of an outer job, or of the user
        monkeypatch.setenv("UCX_NET_DEVICES", device)
        assert planned("--nproc_per_node 2").environment(0)["UCX_NET_DEVICES"] == device
        assert planned("--ips 192.0.2.1,192.0.2.2").environment(0).get("UCX_NET_DEVICES") == other


@pytest.mark.skipif(not hasattr(socket, "SO_BINDTODEVICE"), reason="needs Linux")
def test_inherited_sockets_that_listen_everywhere_are_limited_to_the_loopback_device(tmp_path: Path) -> None:
    def device(of: socket.socket) -> bytes:
        return of.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0")

    with (
        socket.create_server(("0.0.0.0", 0)) as everywhere,
        socket.create_server(("127.0.0.1", 0)) as here,
        socket.socket() as idle,
        (tmp_path / "text").open("w") as text,
    ):
        folder = tmp_path / "fd"
        folder.mkdir()
        for each in (everywhere, here, idle, text):
            (folder / str(each.fileno())).touch()
        assert confine_listeners(folder) == [everywhere.getsockname()[1]]
        assert [device(each) for each in (everywhere, here, idle)] == [b"lo", b"", b""]
        socket.create_connection(("127.0.0.1", everywhere.getsockname()[1]), 10).close()
    assert confine_listeners(tmp_path / "nothing") == []


def test_machines_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("# ours\nnode1\n\nnode2:3  # fast\nnode3 slots=1\n")
    found = planned(f"--hosts {tmp_path / 'hosts'} --nproc_per_node 2")
    assert found.machines == [("node1", 2), ("node2", 3), ("node3", 1)]
    assert found.endpoints[-2:] == ["node2:6172", "node3:6170"]
    assert (found.is_local, found.here, found.variables["PADDLE_NNODES"]) == (False, 0, "3")
    (tmp_path / "hosts").write_text("localhost:2\n127.0.0.5\n")
    assert planned(f"--hosts {tmp_path / 'hosts'}").is_local
    assert not planned("--ips 192.0.2.1").is_local  # an address that no host has


@pytest.mark.skipif(bool(processes.missing()), reason="needs the extra distributed")
def test_other_machines_are_named_to_mpiexec() -> None:
    command = planned("--ips node1,node2 --nproc_per_node 2 --log_dir logs").command(None)
    at = command.index("-hosts")
    assert command[at : at + 4] == ["-hosts", "node1:2,node2:2", "-n", "4"]
    assert command[-5:] == ["--log-dir", "logs", "-m", "engine.run", "a.py"]


@pytest.mark.parametrize("text", ["a:0", "a:two", ":2", "a slots=", "a b", "a:1 slots=2", "\n# none\n"])
def test_files_that_name_no_machines(tmp_path: Path, text: str) -> None:
    (tmp_path / "hosts").write_text(text)
    with pytest.raises(DataError, match=r"launch: --hosts .*hosts(:1: not a machine|: it names no machine)"):
        planned(f"--hosts {tmp_path / 'hosts'}")
    with pytest.raises(DataError, match="can't be read: a folder, not a regular file"):
        planned(f"--hosts {tmp_path}")
    (tmp_path / "hosts").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="it is not text"):
        planned(f"--hosts {tmp_path / 'hosts'}")


def test_a_machine_that_is_not_the_first_has_nothing_to_do(capsys) -> None:
    options = parse(["--ips", "10.0.0.1,10.0.0.2", "--node_ip", "10.0.0.2", "--print_config=no", "a.py"])
    assert launch(options) == 0
    assert capsys.readouterr().out == (
        "launch: 10.0.0.1 starts the processes of this machine; nothing is to be done here\n"
    )
    with pytest.raises(ArgumentError, match=r"--node_ip 10\.0\.0\.3 is not one of the machines"):
        launch(parse(["--ips", "10.0.0.1,10.0.0.2", "--node_ip", "10.0.0.3", "--print_config=no", "a.py"]))


def test_memory_is_that_of_the_system_and_of_the_container(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 4000000 kB\n")
    assert available(tmp_path / "meminfo", tmp_path) == 4_096_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert available(tmp_path / "meminfo", tmp_path) == 4_096_000_000
    (tmp_path / "memory.max").write_text("1000000000\n")
    (tmp_path / "memory.current").write_text("900000000\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 300000000\nactive_file 7\n")
    assert available(tmp_path / "meminfo", tmp_path) == 400_000_000
    assert available(tmp_path / "nothing", tmp_path / "nothing") is None


def test_too_many_processes_for_the_memory() -> None:
    require_memory(2, 256, 512_000_000)
    require_memory(1000, 256, None)
    with pytest.raises(LimitError) as caught:
        require_memory(3, 256, 512_000_000)
    assert caught.value.message == (
        "launch: memory: 3 processes of about 256 MB take 768 MB, 512 MB are available; start fewer, set "
        "the memory of one with --memory_per_worker MB, or continue with --force"
    )


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_shared_memory_that_no_process_has_open_is_removed(tmp_path: Path) -> None:
    import mmap

    for name in ("mpich_shm_used", "mpich_shm_left", "mpich_shm_old", "other"):
        (tmp_path / name).write_bytes(bytes(4096))
    began = time.time()
    os.utime(tmp_path / "mpich_shm_old", (began - 100, began - 100))
    with (tmp_path / "mpich_shm_used").open("r+b") as file, mmap.mmap(file.fileno(), 4096):
        assert remove_shared_memory(began, tmp_path) == ["mpich_shm_left"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mpich_shm_old", "mpich_shm_used", "other"]
    assert remove_shared_memory(began, tmp_path / "nothing") == []
