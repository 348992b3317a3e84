"""Several files that form one save: all of them are replaced or none is, and a mixture is refused.

All carry one random save id in their user block. Writing has two steps: all files are written beside their
places as ``.NAME.ID.staged`` and synced, then each is renamed into place. A kill before the first rename
leaves the old files. A kill after it leaves every file of the new save in place or staged; the reader then
sees two ids, finds the save that is complete and finishes its renames. If no save is complete, the files are
refused.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import AbsentError, DataError, FormatError, SaveError
from engine.files.atomic import durable_file, make_folder, save_error, saving, sync_folder
from engine.files.checked import Container, Expected, read_user_block
from engine.files.container import container_parts, read_containers, write_parts

_TRIES = 5
_COUNTS = {2: ("two", "both"), 3: ("three", "all three")}


@dataclass(frozen=True)
class OneSave:
    """The files of one save by suffix: paths, kinds, the newest known version, and a noun for messages."""

    paths: Mapping[str, Path]
    kinds: Mapping[str, str]
    version: int
    noun: str  # such as "model"

    def write(self, trees: Mapping[str, object]) -> str:
        """Write a tree of plain values to each file and return the save id.

        The folder is created if absent.

        Raises:
            SaveError: the files could not be written; existing files are unchanged.
            DTypeError, ArgumentError: a tree holds a value that can't be saved.
        """
        paths = self.paths
        save_id = secrets.token_bytes(16)
        parts = {s: container_parts(self.kinds[s], self.version, trees[s], save_id) for s in paths}
        folder = make_folder(self._folder)
        for path in paths.values():
            if path.is_dir():
                raise save_error(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
        staged = {s: _staged_path(path, save_id.hex()) for s, path in paths.items()}
        with ExitStack() as undo:
            for suffix in paths:
                with saving(paths[suffix]), durable_file(staged[suffix]) as file:
                    write_parts(file, parts[suffix])
                undo.callback(_remove, staged[suffix])
            with saving(folder):
                sync_folder(folder)
            # From the first rename on the new save is the valid one, so staged files must stay.
            keep = undo.pop_all()
        first, *others = paths
        try:
            _move(paths[first], staged[first], save_id.hex())
        except BaseException:
            # Interrupted just after the rename, the save is valid: its staged files must stay.
            with suppress(DataError, FormatError):
                if _save_id(paths[first]) == save_id.hex():
                    raise
            keep.close()
            raise
        for suffix in others:
            try:
                _move(paths[suffix], staged[suffix], save_id.hex())
            except SaveError as error:
                unfinished = SaveError(
                    f"{paths[suffix]}: the {self.noun} is saved, but not all of it is in place yet: "
                    f"{error.__cause__}; close programs that hold the file, then load the {self.noun} "
                    "once: that finishes the save"
                )
                unfinished.errno, unfinished.filename = error.errno, error.filename
                raise unfinished from error
        with saving(folder):
            sync_folder(folder)
        for _, _, path in self._staged():
            with suppress(OSError):
                path.unlink()
        return save_id.hex()

    def read(self, suffixes: Iterable[str]) -> tuple[str, dict[str, Container]]:
        """The save id and the files of these suffixes; the save ids of the other files are compared too.

        Raises:
            DataError: a file is missing or can't be read; the message names it.
            FormatError: damaged, truncated, foreign, or of different saves; the message names the file.
        """
        wanted = tuple(suffixes)
        for _ in range(_TRIES):
            save_id, places = self._resolve()
            try:
                containers = read_containers(
                    [Expected(places[s], self.kinds[s], self.version) for s in wanted]
                )
            except DataError:
                if all(path.exists() for path in places.values()):
                    raise
                continue  # renamed in the meantime by a writer or another reader
            if all(container.save_id.hex() == save_id for container in containers):
                return save_id, dict(zip(wanted, containers, strict=True))
        raise DataError(
            f"{self._folder}: the files were replaced while they were read, {_TRIES} times; "
            "wait until the program that writes them is done"
        )

    @property
    def _folder(self) -> Path:
        return next(iter(self.paths.values())).parent

    def _resolve(self) -> tuple[str, dict[str, Path]]:
        """The save id to read and the path of each of its files; finishes the renames of a killed writer."""
        paths = dict(self.paths)
        visible = {suffix: _save_id(path) for suffix, path in paths.items()}
        ids = {save_id for save_id in visible.values() if save_id is not None}
        if len(ids) == 1 and None not in visible.values():
            return ids.pop(), paths
        staged: dict[str, dict[str, Path]] = {}
        for save_id, suffix, path in self._staged():
            staged.setdefault(save_id, {})[suffix] = path
        complete = [
            save_id
            for save_id in ids
            if all(visible[suffix] == save_id or suffix in staged.get(save_id, {}) for suffix in paths)
        ]
        if len(complete) != 1:
            raise self._incomplete(visible)
        save_id = complete[0]
        places = dict(paths)
        for suffix in paths:
            if visible[suffix] != save_id:
                # If this user may not rename, the staged file is read under its staged name.
                try:
                    os.replace(staged[save_id][suffix], paths[suffix])
                except OSError:
                    places[suffix] = staged[save_id][suffix]
        return save_id, places

    def _incomplete(self, visible: Mapping[str, str | None]) -> DataError | FormatError:
        paths = self.paths
        if len(paths) == 1:
            (path,) = paths.values()
            return AbsentError(f"{path}: there is no such file; check the name, or save it first")
        count, every = _COUNTS[len(paths)]
        missing = [paths[suffix].name for suffix in paths if visible[suffix] is None]
        if missing:
            there = [paths[suffix].name for suffix in paths if visible[suffix] is not None]
            seen = f"found {' and '.join(there)}" if there else f"none of the {count} files is there"
            return AbsentError(
                f"{self._folder}: missing {' and '.join(missing)}: {seen}; a {self.noun} is {count} files of "
                f"one save, copy {every} or save it again"
            )
        by_id: dict[str, list[str]] = {}
        for suffix in paths:
            by_id.setdefault(str(visible[suffix]), []).append(paths[suffix].name)
        shown = ", ".join(f"{' and '.join(n)} from save {save_id[:8]}" for save_id, n in by_id.items())
        single = [names[0] for names in by_id.values() if len(names) == 1]
        differs = f"{single[0]} differs from the other two"
        what = f"{every} differ" if len(by_id) == len(paths) else differs
        return FormatError(
            f"{self._folder}: the {count} files are not of one save: {what} ({shown}); "
            f"copy {every} from one save or save the {self.noun} again"
        )

    def _staged(self) -> list[tuple[str, str, Path]]:
        """Save id, suffix and path of every staged file."""
        suffix_of = {path.name: suffix for suffix, path in self.paths.items()}
        found = []
        with suppress(OSError):
            for name in os.listdir(self._folder):
                match = re.fullmatch(r"\.(.+)\.([0-9a-f]{32})\.staged", name)
                if match and match[1] in suffix_of:
                    found.append((match[2], suffix_of[match[1]], self._folder / name))
        return sorted(found)


def _remove(path: Path) -> None:
    """Remove a staged file where that can be done: what went wrong before is what is told."""
    with suppress(OSError):
        path.unlink()


def _move(path: Path, staged: Path, save_id: str) -> None:
    with saving(path):
        try:
            os.replace(staged, path)
        except FileNotFoundError:
            # A reader between two renames may have finished them already.
            if _save_id(path) != save_id:
                raise


def _save_id(path: Path) -> str | None:
    try:
        return read_user_block(path).save_id.hex()
    except DataError:
        if path.exists():
            raise
        return None


def _staged_path(path: Path, save_id: str) -> Path:
    return path.with_name(f".{path.name}.{save_id}.staged")
