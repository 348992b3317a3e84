"""How mpiexec reaches other machines, and how a lost one ends the job."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.distributed.launch.ending import FAILED
from engine.distributed.launch.job import Job
from engine.distributed.launch.options import parse
from engine.distributed.launch.plan import plan
from engine.distributed.launch.remote_shell import INTERVAL, TIMES, shell_variables

HOSTS = ["node1", "it's"]


def test_ssh_asks_for_answers_and_reports_which_machine_is_lost(tmp_path: Path) -> None:
    assert INTERVAL * (TIMES + 1) < 40
    assert INTERVAL * TIMES > 20
    found = shell_variables({"HYDRA_LAUNCHER_EXEC": "/opt/my ssh"}, HOSTS, str(tmp_path))
    assert found == {"HYDRA_LAUNCHER_EXEC": f"{tmp_path}/ssh"}
    script = (tmp_path / "ssh").read_text()
    assert f"'/opt/my ssh' -o ServerAliveInterval={INTERVAL} -o ServerAliveCountMax={TIMES} " in script
    assert """node1) event='{"lost": "node1"}' ;;""" in script
    assert (tmp_path / "ssh").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("variable", ["SLURM_JOB_ID", "PBS_JOBID", "HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP"])
def test_other_ways_than_ssh_stay_as_they_are(variable: str, tmp_path: Path) -> None:
    assert shell_variables({variable: "rsh"}, HOSTS, str(tmp_path)) == {}
    assert shell_variables({"HYDRA_LAUNCHER": "ssh"}, HOSTS, str(tmp_path)) != {}


def test_a_folder_without_programs_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    assert shell_variables({}, HOSTS, str(tmp_path)) == {}


def test_only_jobs_with_other_machines_need_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HYDRA_LAUNCHER_EXEC", "HYDRA_LAUNCHER", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    for words, wanted in ((["--ips=192.0.2.1,192.0.2.2"], f"{tmp_path}/ssh"), ([], None)):
        found = plan(parse([*words, "a.py"])).environment(0, str(tmp_path))
        assert found.get("HYDRA_LAUNCHER_EXEC") == wanted


def test_a_lost_machine_is_named_unless_a_process_failed() -> None:
    noise = b"ssh: connect to host 192.0.2.2 port 22: No route to host\n[mpiexec@a] main: error\n= PID 7\n"
    for event, said in (
        ({"lost": "192.0.2.2"}, "the connection to 192.0.2.2 is lost; all 2 processes have been stopped"),
        ({"lost": "192.0.2.9"}, "a process of 2 ended with exit status 255"),
    ):
        job = Job(plan(parse(["--ips=192.0.2.1,192.0.2.2", "a.py"])))
        job._note(event)
        for rank, line in job._forwarded["mpi err"].lines(noise):
            job._pass_on("mpi err", rank, line)
        ending = job._ending(255)
        first, *_, last = ending.message().splitlines()
        assert (ending.how, first.partition(", and")[0].partition("; ssh")[0]) == (FAILED, f"launch: {said}")
        assert last.startswith("    ssh: connect" if "lost" in said else "    = PID 7")
    job._pass_on("mpi err", 1, b"Abort(3) on node 1 (rank 1 in comm 0): application called MPI_Abort\n")
    job._note({"lost": "192.0.2.2"})
    assert job._ending(3).message().startswith("launch: rank 1 of 2 ended with exit status 3")
