"""Two hosts on one computer: network namespaces that a cable of two ends joins, with an sshd in the second.

They share the file system and the processes; each has its own addresses, and the cable can be unplugged.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

FIRST, SECOND = "10.213.7.1", "10.213.7.2"
"""The addresses of the hosts."""
_SECONDS = 30.0
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def found(program: str) -> str | None:
    """The path of a program, also of one for administrators."""
    return shutil.which(program, path=_PATH)


def why_not() -> str:
    """Why there can't be two hosts here; empty if there can."""
    if os.name != "posix" or os.geteuid() != 0:
        return "two hosts need root, for network namespaces"
    missing = [name for name in ("ip", "ssh", "sshd", "ssh-keygen") if found(name) is None]
    if missing:
        return f"two hosts need {', '.join(missing)}"
    try:
        pwd.getpwnam("sshd")
    except KeyError:
        return "two hosts need the user sshd, which the package of sshd creates"
    name = f"probe{os.getpid()}"
    made = subprocess.run(
        [found("ip") or "ip", "netns", "add", name], capture_output=True, text=True, check=False
    )
    if made.returncode:
        return f"two hosts need network namespaces: {made.stderr.strip()}"
    subprocess.run([found("ip") or "ip", "netns", "del", name], check=True)
    return ""


class TwoHosts:
    """The hosts; ``close`` removes them and ends their processes.

    Args:
        folder: for keys and settings of ssh.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = [f"ms{os.getpid()}{end}" for end in "ab"]
        self._sshd: subprocess.Popen[bytes] | None = None
        try:
            self._join()
            self._make_keys()
            self._start_sshd()
        except BaseException:
            self.close()
            raise

    def _ip(self, *words: str) -> None:
        subprocess.run([found("ip") or "ip", *words], check=True, capture_output=True, timeout=_SECONDS)

    def _join(self) -> None:
        first, second = self._names
        for name in self._names:
            self._ip("netns", "add", name)
        self._ip(
            "link", "add", first, "netns", first, "type", "veth", "peer", "name", second, "netns", second
        )
        for name, address in zip(self._names, (FIRST, SECOND), strict=True):
            self._ip("-n", name, "addr", "add", f"{address}/24", "dev", name)
            self._ip("-n", name, "link", "set", name, "up")
            self._ip("-n", name, "link", "set", "lo", "up")

    def _make_keys(self) -> None:
        Path("/run/sshd").mkdir(exist_ok=True)  # as its service does
        for key in ("host", "user"):
            words = ["-q", "-t", "ed25519", "-N", "", "-f", str(self._folder / key)]
            subprocess.run([found("ssh-keygen") or "", *words], check=True, timeout=_SECONDS)
        shutil.copy(self._folder / "user.pub", self._folder / "authorized")
        settings = self._folder / "sshd_config"
        settings.write_text(
            f"ListenAddress {SECOND}\nHostKey {self._folder / 'host'}\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {self._folder / 'authorized'}\nStrictModes no\nPermitRootLogin yes\n"
        )
        (self._folder / "ssh_config").write_text(
            f"Host *\n  IdentityFile {self._folder / 'user'}\n  IdentitiesOnly yes\n  BatchMode yes\n"
            f"  StrictHostKeyChecking no\n  UserKnownHostsFile {self._folder / 'known'}\n  LogLevel ERROR\n"
        )

    def _start_sshd(self) -> None:
        words = [found("sshd") or "", "-D", "-e", "-f", str(self._folder / "sshd_config")]
        with (self._folder / "sshd.log").open("wb") as log:
            self._sshd = subprocess.Popen(self.on(1, words), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + _SECONDS
        while subprocess.run(
            self.on(0, [*self.ssh(), SECOND, "true"]), capture_output=True, check=False
        ).returncode:
            assert time.monotonic() < deadline, (self._folder / "sshd.log").read_text()
            time.sleep(0.2)

    def ssh(self) -> list[str]:
        """The command of ssh that reaches the second host."""
        return [found("ssh") or "ssh", "-F", str(self._folder / "ssh_config")]

    def environment(self) -> dict[str, str]:
        """The variables with which mpiexec's ssh reaches the second host."""
        return {
            **os.environ,
            "HYDRA_LAUNCHER_EXTRA_ARGS": f"-F {self._folder / 'ssh_config'}",
            "UCX_TLS": "self,tcp",  # not the memory that the hosts have in common
        }

    def on(self, host: int, words: Sequence[str]) -> list[str]:
        """The command that runs ``words`` on a host, 0 or 1."""
        return [found("ip") or "ip", "netns", "exec", self._names[host], *words]

    def unplug(self) -> None:
        """Take the cable off the second host: nothing passes, and no process is notified."""
        self._ip("-n", self._names[1], "link", "set", self._names[1], "down")

    def plug(self) -> None:
        """Put the cable back."""
        self._ip("-n", self._names[1], "link", "set", self._names[1], "up")

    def processes(self, host: int) -> list[int]:
        """The processes of a host."""
        name = self._names[host]
        listed = subprocess.run(
            [found("ip") or "ip", "netns", "pids", name], capture_output=True, text=True, check=False
        )
        return [int(pid) for pid in listed.stdout.split()]

    def runs(self, host: int, program: str) -> bool:
        """Whether a process of the host runs ``program``."""
        for pid in self.processes(host):
            with suppress(OSError):  # it has exited
                if program in Path(f"/proc/{pid}/cmdline").read_text(errors="replace"):
                    return True
        return False

    def kill(self, host: int) -> None:
        """Kill all processes of a host but the sshd that waits for connections, until none is left."""
        spared = {self._sshd.pid} if self._sshd is not None else set()
        deadline = time.monotonic() + _SECONDS
        while pids := set(self.processes(host)) - spared:
            assert time.monotonic() < deadline, pids
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def close(self) -> None:
        """End the processes of both hosts, and remove them."""
        if self._sshd is not None:
            self._sshd.kill()
            self._sshd.wait(_SECONDS)
            self._sshd = None
        for host, name in enumerate(self._names):
            self.kill(host)
            subprocess.run([found("ip") or "ip", "netns", "del", name], capture_output=True, check=False)
