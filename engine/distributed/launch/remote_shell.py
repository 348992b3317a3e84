"""How mpiexec reaches other machines: ssh that notices when one is lost, and reports it to the launcher.

mpiexec itself waits without end for a machine that does not answer any more, also when its ssh has exited.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.distributed.launch.guard import EVENTS

_EXECUTABLES = ("HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP_EXEC")
_LAUNCHERS = ("HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP")
_SCHEDULERS = ("SLURM_JOBID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "LOADL_STEP_ID", "COBALT_JOBID")
"""With one of these variables, mpiexec starts the processes by the command of a scheduler."""
INTERVAL, TIMES = 9, 3
"""ssh exits when so many messages, so many seconds apart, had no answer: 27 to 36 s after the last answer."""
CONNECT = 30
_OF_MPIEXEC = re.compile(r"\[mpiexec@|\[proxy:|=|YOUR APPLICATION|This typically|Please see|\s*$")
_FAILED = 255
"""The status of ssh where ssh itself fails; else it has that of the remote command."""


def shell_script(ssh: str, hosts: Iterable[str], folder: str) -> str:
    """A shell script that mpiexec calls as it calls ssh; an ssh that fails sends the event ``lost``."""
    cases = "\n".join(
        f"        {shlex.quote(host)}) event={shlex.quote(json.dumps({'lost': host}))} ;;" for host in hosts
    )
    options = f"-o ServerAliveInterval={INTERVAL} -o ServerAliveCountMax={TIMES} -o ConnectTimeout={CONNECT}"
    return f"""#!/bin/sh
event=
for word in "$@"; do
    case "$word" in
{cases}
    esac
    [ -z "$event" ] || break
done
# In the background, so that a signal reaches this shell at once.
{shlex.quote(ssh)} {options} "$@" <&0 &
ssh=$!
trap 'kill "$ssh" 2>/dev/null' HUP INT TERM
wait "$ssh"
status=$?
[ "$status" -ne {_FAILED} ] || printf '%s\\n' "$event" > {shlex.quote(f"{folder}/{EVENTS}")}
exit "$status"
"""


def shell_variables(environment: Mapping[str, str], hosts: Iterable[str], folder: str) -> dict[str, str]:
    """The variables with which mpiexec reaches ``hosts`` by a script in ``folder``.

    Empty where it does not use ssh, or where the folder is on a file system without programs.
    """
    launcher = next((environment[name] for name in _LAUNCHERS if environment.get(name)), "ssh")
    if launcher != "ssh" or any(name in environment for name in _SCHEDULERS):
        return {}
    ssh = next((environment[name] for name in _EXECUTABLES if environment.get(name)), "ssh")
    path = Path(folder) / "ssh"
    path.write_text(shell_script(ssh, hosts, folder), encoding="utf-8")
    path.chmod(0o700)
    return {_EXECUTABLES[0]: str(path)} if os.access(path, os.X_OK) else {}


def words_of_ssh(noise: str) -> str:
    """What ssh printed, without mpiexec's own lines."""
    return "\n".join(line for line in noise.splitlines() if not _OF_MPIEXEC.match(line))
