"""Reads files that this installation did not write in a child process with limits first.

libhdf5 crashes and hangs on some damaged files, and a hash only proves that a file is as its author made it.
So a child process reads the file to the end first. The child has limits on memory, processor time and wall
time, and can't write files. The parent parses the same bytes (the child checks their SHA-256) only after the
child accepted them. An accepted file is not checked again by this process.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypedDict

from engine.core.errors import FormatError
from engine.files.native.checked import Expected
from engine.files.native.userblock import UserBlock
from engine.files.untrusted import child as children
from engine.files.untrusted.foreign import ForeignFile

CHILD = Path(__file__).with_name("guarded_child.py")
_REMEMBERED = 256
Identity: TypeAlias = tuple[bytes, str | tuple[str, ...], int]
_accepted: OrderedDict[Identity, None] = OrderedDict()
_is_child = False


class FileRequest(TypedDict):
    """A file for the child to read: its path, the name in messages, its SHA-256 and what it must be.

    ``foreign`` files are of a format of other programs, see ``engine.files.untrusted.foreign``.
    """

    path: str
    shown: str
    sha256: str
    kind: str | Sequence[str]
    max_version: int
    foreign: bool


class Request(TypedDict):
    """What the child needs: folders of NumPy and h5py, the folder of the engine, and the files."""

    folders: list[str]
    engine: str
    files: list[FileRequest]


class LimitedRequest(Request):
    """The JSON object on the child's standard input: the request and its limits."""

    memory: int
    cpu_seconds: int


@dataclass(frozen=True)
class Suspect:
    """A file to be checked: what is expected of it, its user block, and its length in bytes.

    ``stored`` is the path of the bytes if it differs from the one that messages show.
    """

    expected: Expected
    block: UserBlock
    length: int
    stored: Path | None = None

    @property
    def identity(self) -> Identity:
        """What the verdict depends on: content, kind and newest known version."""
        return self.block.digest, self.expected.kind, self.expected.max_version

    @property
    def shown(self) -> Path:
        """The path in messages."""
        return self.expected.path


@dataclass(frozen=True)
class Limits:
    """Limits of the child: bytes of memory beyond its imports, seconds of processor and of wall time."""

    memory: int
    cpu_seconds: int
    wall_seconds: float

    @classmethod
    def for_length(cls, length: int) -> Limits:
        """Limits that a sound file of ``length`` bytes stays well below, even on a slow and busy machine."""
        cpu = 10 + length // 20_000_000
        return cls(memory=512 * 1024**2 + 16 * length, cpu_seconds=cpu, wall_seconds=6.0 * cpu)


def check(suspects: Sequence[Suspect | ForeignFile]) -> None:
    """Let a child process read the files to their ends.

    Raises:
        FormatError: the child refused a file, crashed, hung or used too much memory.
    """
    if _is_child:
        return
    new = [suspect for suspect in suspects if suspect.identity not in _accepted]
    if not new:
        return
    request: Request = {
        "folders": children.import_folders("numpy", "h5py"),
        "engine": str(children.engine_folder()),
        "files": [_request(suspect) for suspect in new],
    }
    run_child(request, Limits.for_length(sum(suspect.length for suspect in new)))
    for suspect in new:
        _accept(suspect.identity)


def check_by(child: Path, packages: Sequence[str], path: Path, kind: str, digest: bytes, length: int) -> None:
    """Let another child process read a file of another format: a script, and the packages that it imports.

    ``digest`` is the SHA-256 of the file. Raises as :func:`check`.
    """
    identity = (digest, kind, 0)
    if _is_child or identity in _accepted:
        return
    request: Request = {
        "folders": children.import_folders(*packages),
        "engine": str(children.engine_folder()),
        "files": [
            {
                "path": os.path.abspath(path),
                "shown": str(path),
                "sha256": digest.hex(),
                "kind": kind,
                "max_version": 0,
                "foreign": True,
            }
        ],
    }
    run_child(request, Limits.for_length(length), child)
    _accept(identity)


def _accept(identity: Identity) -> None:
    _accepted[identity] = None
    while len(_accepted) > _REMEMBERED:
        _accepted.popitem(last=False)


def _request(suspect: Suspect | ForeignFile) -> FileRequest:
    digest, kind, version = suspect.identity
    return {
        "path": os.path.abspath(suspect.stored or suspect.shown),
        "shown": str(suspect.shown),
        "sha256": digest.hex(),
        "kind": kind,
        "max_version": version,
        "foreign": isinstance(suspect, ForeignFile),
    }


def this_is_a_child() -> None:
    """Read files in this process from here on, because it is itself a child that has limits."""
    global _is_child
    _is_child = True


def run_child(request: Request, limits: Limits, child: Path = CHILD) -> None:
    """Give ``child`` the request on its standard input. Raises FormatError unless it accepts the files."""
    names = ", ".join(file["shown"] for file in request["files"])
    limited: LimitedRequest = {**request, "memory": limits.memory, "cpu_seconds": limits.cpu_seconds}
    text = json.dumps(limited)
    try:
        done = subprocess.run(
            children.command(child),
            input=text.encode("utf-8"),
            capture_output=True,
            timeout=limits.wall_seconds,
            env=children.environment() | children.ONE_THREAD,
            cwd=str(CHILD.parent),
            check=False,
            creationflags=children.NO_WINDOW,
        )
    except subprocess.TimeoutExpired as cause:
        raise _refused(names, f"not finished after {limits.wall_seconds:.0f} s") from cause
    except OSError as cause:
        raise FormatError(
            f"{names}: not opened: the process that must check a foreign file first could not "
            f"be started: {cause}; repair the installation"
        ) from cause
    try:
        answer = json.loads(done.stdout)
    except ValueError as cause:
        raise _refused(names, _ending(done.returncode)) from cause
    if done.returncode != 0 or not isinstance(answer, dict) or set(answer) != {"refused"}:
        raise _refused(names, _ending(done.returncode))
    if answer["refused"] is not None:
        raise FormatError(str(answer["refused"]))


def _ending(code: int) -> str:
    how = children.ending(code)
    return how if code < 0 else f"{how} without a verdict"


def _refused(names: str, how: str) -> FormatError:
    return FormatError(
        f"{names}: the file made the reader crash, hang or use too much memory ({how}, in a "
        "separate process, nothing else was touched); don't use it, get it again from a "
        "source that you trust"
    )
