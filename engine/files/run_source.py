"""The code that a run keeps in source/: its files, and the mark by which its installation knows them.

The mark is a keyed hash of all files there, followed by one of each. Other people have another
installation's key, so no run of another installation has a mark that holds here, and a file that was changed
afterwards loses it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePath

from engine.core.errors import DataError
from engine.files.atomic import atomic_write, make_folder, saving
from engine.files.folders import put_in_place, remove_abandoned_folders, remove_folder, temporary_path
from engine.files.native.installation import installation_key
from engine.files.reading import read_error
from resources.local_code import LocalCode
from resources.regular_files import open_regular, read_regular

MAX_BYTES = 5_000_000
"""Of each file: it is compared and compiled, not searched for classes."""
SOURCE = "source"
MARK_NAME = "source.mark"
_SIZE, _MOST_MARKS = hashlib.sha256().digest_size, 1 << 14
_CONTEXT = b"model-studio source of a run 1\0"
# Whatever else a folder holds is read or written as a part of the run, too.
_PARTS = ("journal.jsonl", "run.h5", "checkpoints", "inference", MARK_NAME)


def source_files(run: Path) -> list[Path]:
    """All files in the run's ``source/``, in order; empty where there are none.

    Raises:
        DataError: the folder or something in it is a link, or can't be read. What is behind a link is not
            what was agreed to, so none is followed.
    """
    try:
        return _files_in(run / SOURCE)
    except OSError as error:  # such as a folder without permission
        raise read_error(run, error, "the run's code can't be read") from error


def _files_in(folder: Path) -> list[Path]:
    if _is_link(folder):
        raise _link(folder)
    if not folder.is_dir():
        return []

    def fail(error: OSError) -> None:
        raise DataError(
            f"{error.filename or folder}: the run's code can't be read: {error.strerror or error}; "
            "copy the run again"
        ) from error

    found = []
    for parent, folders, files in os.walk(folder, onerror=fail):
        for name in (*folders, *files):
            path = Path(parent, name)
            if _is_link(path):
                raise _link(path)
        for name in files:
            path = Path(parent, name)
            if not path.is_file():
                raise DataError(f"{path}: no ordinary file among the run's code; remove it")
            found.append(path)
    return sorted(found)


def refuse_links(run: Path) -> None:
    """Refuse a run in which something leads out of its folder: what it names is not the run's.

    Raises:
        DataError: a link in ``source/``, or another part of the run that is a link out of it; or the folder
            can't be read.
    """
    try:
        source_files(run)
        inside = run.resolve()
        checkpoints = run / "checkpoints"
        parts = [run / name for name in _PARTS]
        parts += list(checkpoints.iterdir()) if checkpoints.is_dir() else []
        for path in parts:
            if _is_link(path) and not path.resolve().is_relative_to(inside):
                raise _link(path)
    except DataError:
        raise
    except OSError as error:  # such as another user's folder
        raise read_error(run, error, "the run can't be read") from error


def source_contents(run: Path) -> dict[str, bytes]:
    """The content of each file in the run's ``source/``, by its path there. Raises DataError."""
    found = {}
    for path in source_files(run):
        try:
            data = read_regular(path, MAX_BYTES)
        except OSError as error:
            raise DataError(
                f"{path}: the run's code can't be read: {error.strerror or error}; copy the run again"
            ) from error
        found[path.relative_to(run / SOURCE).as_posix()] = data
    return found


def run_code(run: Path, first: str = "") -> LocalCode:
    """All code that a run keeps, read once, with the file ``first`` in front.

    The model may import any of it, whatever its syntax trees name. Raises DataError.
    """
    contents = source_contents(run)
    return LocalCode(run / SOURCE, dict(sorted(contents.items(), key=lambda item: item[0] != first)))


def keep_source(run: Path, files: Mapping[str, bytes]) -> None:
    """Write code into the run's ``source/`` and mark it as this installation's.

    ``files`` are what was imported, by path. Whatever interrupts this leaves no ``source/`` or all of it.
    What an earlier run of this installation left there goes; other files stay, and are not marked.

    Raises:
        DataError: as ``source_files``. SaveError: the code can't be written.
    """
    source = run / SOURCE
    with saving(source):
        remove_abandoned_folders(source)
    if is_own(run):
        remove_source(run)
    if not files:
        return
    if source.exists():
        for name, data in files.items():
            _write(source / name, data)
        return
    temporary = temporary_path(source)
    try:
        for name, data in files.items():
            _write(temporary / name, data)
        key = installation_key()
        if key is not None:
            # Before the code is there: no moment shows code of ours without its mark.
            mark = _mark(files, key) + b"".join(_mark({name: files[name]}, key) for name in sorted(files))
            atomic_write(run / MARK_NAME, lambda file: file.write(mark))
        with saving(source):
            put_in_place(temporary, source)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # nothing where it is in place


def remove_source(run: Path) -> None:
    """Remove the code that the run keeps, with its mark. Raises SaveError."""
    with saving(run / SOURCE):
        remove_folder(run / SOURCE)
        (run / MARK_NAME).unlink(missing_ok=True)


def _write(target: Path, data: bytes) -> None:
    make_folder(target.parent)
    atomic_write(target, lambda file: file.write(data))


def is_own(run: Path, contents: Mapping[str, bytes] | None = None) -> bool:
    """Whether this installation wrote the code that the run keeps, and it is unchanged. Raises DataError.

    ``contents``: what it keeps, where that has been read.
    """
    key, marks = installation_key(), _marks(run)
    if key is None or not marks:
        return False
    return hmac.compare_digest(marks[0], _mark(source_contents(run) if contents is None else contents, key))


def unchanged_files(run: Path, contents: Mapping[str, bytes]) -> set[str]:
    """Which of a run's files this installation wrote so; none where the mark is of an earlier release."""
    key, marks = installation_key(), set(_marks(run)[1:])
    if key is None or not marks:
        return set()
    return {name for name, data in contents.items() if _mark({name: data}, key) in marks}


def _marks(run: Path) -> list[bytes]:
    """The keyed hash of all files, and those of each; empty where there is no mark."""
    try:
        with open_regular(run / MARK_NAME) as file:
            mark = file.read(_SIZE * _MOST_MARKS)
    except OSError:
        return []
    return [mark[at : at + _SIZE] for at in range(0, len(mark), _SIZE)]


def _mark(contents: Mapping[str, bytes], key: bytes) -> bytes:
    """The mark of all files of a folder."""
    tag = hmac.new(key, _CONTEXT, hashlib.sha256)
    for path in sorted(PurePath(path) for path in contents):
        name = path.as_posix().encode("utf-8", "surrogateescape")
        content = hashlib.sha256(contents[path.as_posix()]).digest()
        tag.update(len(name).to_bytes(8, "big") + name + content)
    return tag.digest()


def _is_link(path: Path) -> bool:
    # is_symlink does not know junctions, Windows' links of folders; they resolve to another place.
    return path.is_symlink() or (os.name == "nt" and path.resolve() != path.parent.resolve() / path.name)


def _link(path: Path) -> DataError:
    try:
        target = os.readlink(path)
    except OSError:
        target = "another place"
    return DataError(
        f"{path}: a link, which a run must not bring along: to {target}; put the file itself there"
    )
