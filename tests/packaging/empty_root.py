"""A system without Python: the packages that a Debian package depends on, copied from this system.

Programs in it run in namespaces of their own: without a network, and with an X display only where a socket is
given. It needs root and Debian's dpkg.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

# What dpkg itself needs, and a shell.
BASE = (
    "base-files",
    "bash",
    "coreutils",
    "dash",
    "diffutils",
    "dpkg",
    "findutils",
    "grep",
    "libc-bin",
    "sed",
    "tar",
)
USER = 1000
# Debian's links of the top folder, and documents that no program reads.
_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SKIPPED = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/")


def why_not() -> str:
    """Why there can be no such system here; empty where there can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "an empty root needs root's rights"
    for program in ("dpkg", "dpkg-deb", "dpkg-query", "unshare", "chroot"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    tried = subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], check=False)
    return "" if tried.returncode == 0 else "namespaces can't be made here"


@cache
def _installed() -> dict[str, tuple[str, str]]:
    """Each package of this system, and each name that one provides: the package, and what it depends on."""
    form = "${db:Status-Abbrev}\t${Package}\t${Provides}\t${Pre-Depends}, ${Depends}\n"
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", form], capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, tuple[str, str]] = {}
    provided: dict[str, tuple[str, str]] = {}
    for line in shown.splitlines():
        status, name, provides, needs = line.split("\t")
        if status.startswith("ii"):
            found[name] = name, needs
            for each in filter(None, re.split(r"[,\s]+", re.sub(r"\([^)]*\)", "", provides))):
                provided[each] = name, needs
    return provided | found


def closure(needs: str) -> list[str]:
    """The packages of this system that satisfy a list of dependencies, with what they need themselves."""
    known, found = _installed(), set[str]()
    waiting = [needs, ", ".join(BASE)]
    while waiting:
        for group in filter(None, (each.strip() for each in waiting.pop().split(","))):
            names = [re.sub(r"\(.*?\)|:\w+", "", each).strip() for each in group.split("|")]
            name = next((each for each in names if each in known), None)
            if name is None:
                raise LookupError(f"not installed here: {group}")
            package, more = known[name]
            if package not in found:
                found.add(package)
                waiting.append(more)
    return sorted(found)


class EmptyRoot:
    """The system in ``folder``: what ``needs`` (as in ``Depends:``) names, and what that needs itself."""

    def __init__(self, folder: Path, needs: str) -> None:
        self.folder = folder
        folder.chmod(0o755)  # its top folder
        self.packages = closure(needs)
        for name in _TOP:
            if (link := Path("/", name)).is_symlink():
                (folder / link.readlink()).mkdir(parents=True, exist_ok=True)
                (folder / name).symlink_to(link.readlink())
        info = folder / "var/lib/dpkg/info"
        info.mkdir(parents=True)
        status = []
        for package in self.packages:
            status.append(self._query("-s", package))
            listed = self._query("-L", package)
            for line in listed.splitlines():
                if line.startswith("/") and line != "/.":
                    self._copy(line)
            multi = "\nMulti-Arch: same\n" in status[-1]
            (info / f"{package}{':amd64' if multi else ''}.list").write_text(listed, encoding="utf-8")
        (folder / "var/lib/dpkg/status").write_text("\n".join(status), encoding="utf-8")
        for name in ("available", "diversions", "statoverride"):
            (folder / "var/lib/dpkg" / name).touch()
        for name in ("updates", "triggers", "parts", "alternatives"):
            (folder / "var/lib/dpkg" / name).mkdir(exist_ok=True)
        self._devices()

    def _query(self, option: str, package: str) -> str:
        return subprocess.run(
            ["dpkg-query", option, package], capture_output=True, text=True, check=True
        ).stdout

    def _copy(self, name: str) -> None:
        source, target = Path(name), self.folder / name[1:]
        if name.startswith(_SKIPPED) or target.exists() or target.is_symlink():
            return
        try:
            kind = source.lstat().st_mode
        except OSError:  # left out of this system, as documents often are
            return
        if stat.S_ISDIR(kind):
            target.mkdir(parents=True, exist_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(kind):
            target.symlink_to(source.readlink())
        elif stat.S_ISREG(kind):
            shutil.copy2(source, target)

    def _devices(self) -> None:
        for name in ("dev", "proc", "tmp", "run", "home/user", "dev/shm", "tmp/.X11-unix"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for name, minor in (("null", 3), ("zero", 5), ("random", 8), ("urandom", 9)):
            os.mknod(self.folder / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            (self.folder / "dev" / name).chmod(0o666)
        for name in ("tmp", "dev/shm", "tmp/.X11-unix"):
            (self.folder / name).chmod(0o1777)
        os.chown(self.folder / "home/user", USER, USER)
        etc = self.folder / "etc"
        etc.mkdir(exist_ok=True)
        (etc / "passwd").write_text(
            f"root:x:0:0:root:/root:/bin/sh\nuser:x:{USER}:{USER}::/home/user:/bin/sh\n"
        )
        (etc / "group").write_text(f"root:x:0:\nuser:x:{USER}:\n")

    @property
    def home(self) -> Path:
        """The user's folder, from outside."""
        return self.folder / "home/user"

    def command(
        self,
        words: Sequence[str],
        user: bool = True,
        variables: Mapping[str, str] | None = None,
        mounts: str = "",
        folder: str = "/home/user",
    ) -> list[str]:
        """The command that runs ``words`` inside, as a user or as root. ``mounts`` is a line of shell before,
        in which ``$R`` is the root."""
        given = {
            "HOME": "/home/user" if user else "/root",
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            **(variables or {}),
        }
        inner = [
            "env", "-i", *(f"{name}={value}" for name, value in given.items()),
            "/bin/sh", "-c", 'cd "$0" && exec "$@"', folder, *words,
        ]  # fmt: skip
        as_user = f"--userspec={USER}:{USER}" if user else "--userspec=0:0"
        script = (
            'R=$0; mount -t proc proc "$R/proc"; mount -t tmpfs -o mode=1777 shm "$R/dev/shm"; '
            'mount --bind /tmp/.X11-unix "$R/tmp/.X11-unix" 2>/dev/null; ' + mounts
        )
        return [
            "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child",
            "/bin/sh", "-c", script + f'\nexec chroot {as_user} "$R" "$@"', str(self.folder), *inner,
        ]  # fmt: skip

    def run(self, *words: str, timeout: float = 600, **how: object) -> subprocess.CompletedProcess[str]:
        """Run ``words`` inside and wait; see ``command``."""
        return subprocess.run(
            self.command(words, **how),  # type: ignore[arg-type]
            capture_output=True, text=True, check=False, timeout=timeout, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def files(self) -> set[str]:
        """All files, links and folders but those of the user, of dpkg's database and of mounted systems."""
        left_out = ("home", "var/lib/dpkg", "proc", "dev", "tmp", "var/log")
        found = set()
        for top, folders, names in os.walk(self.folder):
            here = Path(top).relative_to(self.folder).as_posix()
            folders[:] = [each for each in folders if f"{here}/{each}".removeprefix("./") not in left_out]
            found |= {f"{here}/{each}" for each in (*folders, *names)}
        return found
