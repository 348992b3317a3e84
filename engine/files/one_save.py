"""Several files that form one save: all of them are replaced or none is, and a mixture is refused.

All carry one random save id in their user block. Writing has two steps: all files are written next to their
destinations as ``.NAME.ID.staged`` and synced, then each is renamed into place. A kill before the first
rename leaves the old files. A kill after it leaves every file of the new save in place or staged; the next
reader or writer then sees two ids, finds the save that is complete and finishes its renames. If no save is
complete, the files are refused.

The process that renames holds the lock of the prefix (:mod:`resources.locks`), so that two writers, or a
writer and a reader that finishes renames, never mix their files. What the holder of the lock finds staged has
no living writer.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from engine.core.errors import AbsentError, DataError, FormatError, InUseError, SaveError
from engine.files.atomic import make_folder, saving
from engine.files.native.checked import Container, Expected, read_user_block
from engine.files.native.container import container_parts, read_containers, write_parts
from engine.files.native.installation import installation_key
from resources.locks import Holder, wait_for
from resources.replacing import durable_file, hidden_prefix, sync_folder

_TRIES = 5
_WRITER_WAITS, _READER_WAITS = 10.0, 2.0  # seconds
_STAGED = re.compile(r"\.(.+)\.([0-9a-f]{32})\.staged", re.DOTALL)
_COUNTS = {2: ("two", "both"), 3: ("three", "all three")}


@dataclass(frozen=True)
class _State:
    """The save ids of the files in place, the save that is complete (None: none is), and those of its files
    that are still staged."""

    visible: Mapping[str, str | None]
    save_id: str | None
    staged: Mapping[str, Path]


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
            InUseError: another process has been saving under this prefix for long.
            DTypeError, ArgumentError: a tree holds a value that can't be saved.
        """
        save_id = secrets.token_bytes(16)
        parts = {s: container_parts(self.kinds[s], self.version, trees[s], save_id) for s in self.paths}

        def stage(suffix: str, staged: Path) -> None:
            with durable_file(staged) as file:
                write_parts(file, parts[suffix])

        self._replace(save_id.hex(), stage)
        return save_id.hex()

    def take_over(self, source: OneSave) -> None:
        """Put the files of ``source``, which lie on the same disk, in place of these; they are moved.

        Raises as :meth:`write` and :meth:`read`.
        """
        save_id, _ = source.read(())
        self._replace(save_id, lambda suffix, staged: os.rename(source.paths[suffix], staged))

    def _replace(self, save_id: str, stage: Callable[[str, Path], None]) -> None:
        """Stage each file with ``stage(suffix, path)``, then rename all into place."""
        folder = make_folder(self._folder)
        for path in self.paths.values():
            with saving(path):
                if path.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with self._alone(_WRITER_WAITS):
            self._clear()
            staged = {s: _staged_path(path, save_id) for s, path in self.paths.items()}
            with ExitStack() as undo:
                for suffix, path in self.paths.items():
                    with saving(path):
                        undo.callback(_remove, staged[suffix])
                        stage(suffix, staged[suffix])
                with saving(folder):
                    sync_folder(folder)
                # From the first rename on the new save is the valid one, so staged files must stay.
                keep = undo.pop_all()
            self._move_all(staged, save_id, keep)
            with saving(folder):
                sync_folder(folder)

    def _move_all(self, staged: Mapping[str, Path], save_id: str, undo: ExitStack) -> None:
        """Rename the staged files into place; ``undo`` removes them where not even the first can be."""
        first, *others = self.paths
        try:
            _move(self.paths[first], staged[first], save_id)
        except BaseException:
            # Interrupted just after the rename, the save is valid: its staged files must stay.
            with suppress(DataError, FormatError):
                if _save_id(self.paths[first]) == save_id:
                    raise
            undo.close()
            raise
        for suffix in others:
            try:
                _move(self.paths[suffix], staged[suffix], save_id)
            except SaveError as error:
                unfinished = SaveError(
                    f"{self.paths[suffix]}: the {self.noun} is saved, but not all of it is in place yet: "
                    f"{error.__cause__}; close programs that hold the file, then load the {self.noun} "
                    "once: that finishes the save"
                )
                unfinished.errno, unfinished.filename = error.errno, error.filename
                raise unfinished from error

    def _clear(self) -> None:
        """Finish or remove what a killed writer left staged. Under the lock."""
        finished: Mapping[str, Path] = {}
        # Files that can't be read are about to be replaced.
        with suppress(DataError, FormatError):
            finished = self._repaired().staged
        for _, _, path in self._staged():
            if path not in finished.values():
                _remove(path)

    def read(self, suffixes: Iterable[str]) -> tuple[str, dict[str, Container]]:
        """The save id and the files of these suffixes; the save ids of the other files are compared too.

        Raises:
            DataError: a file is missing or can't be read; the message names it.
            FormatError: damaged, truncated, foreign, or of different saves; the message names the file.
        """
        wanted = tuple(suffixes)
        for _ in range(_TRIES):
            state = self._settled()
            found = None if state is None else self._read_from(state, wanted)
            if found is not None:
                return found
        # The writers are faster than this reader: keep them out once.
        with suppress(SaveError, InUseError), self._alone(_READER_WAITS):
            found = self._read_from(self._repaired(), wanted)
            if found is not None:
                return found
        raise self._restless()

    def is_own(self) -> bool:
        """Whether this installation signed all of the files; only their user blocks are read.

        Raises as :meth:`read`.
        """
        key = installation_key()
        for _ in range(_TRIES):
            state = self._settled()
            if state is None:
                continue
            if state.save_id is None:
                raise self._incomplete(state.visible)
            try:
                blocks = [read_user_block(path) for path in {**self.paths, **state.staged}.values()]
            except AbsentError:  # renamed in the meantime by a writer or another reader
                continue
            return all(block.is_signed_with(key) for block in blocks)
        raise self._restless()

    def _read_from(self, state: _State, wanted: tuple[str, ...]) -> tuple[str, dict[str, Container]] | None:
        """The files of a state, None where they are no longer those. Raises as :meth:`read`."""
        if state.save_id is None:
            raise self._incomplete(state.visible)
        places = {**self.paths, **state.staged}
        try:
            containers = read_containers([Expected(places[s], self.kinds[s], self.version) for s in wanted])
        except AbsentError:
            return None  # renamed in the meantime by a writer or another reader
        if all(container.save_id.hex() == state.save_id for container in containers):
            return state.save_id, dict(zip(wanted, containers, strict=True))
        return None

    @contextmanager
    def _alone(self, seconds: float) -> Iterator[None]:
        """Keep other writers out, and readers that finish a killed writer's renames.

        Raises:
            InUseError: another writer takes longer. SaveError: the lock can't be made.
        """
        path = next(iter(self.paths.values()))
        with saving(path):
            taken = wait_for(self._lock_path, seconds)
        if isinstance(taken, Holder):
            raise InUseError(
                f"{path}: the {self.noun} is being saved by {taken}; wait until that has ended, or save "
                "under another name"
            )
        try:
            yield
        finally:
            taken.release()

    @property
    def _lock_path(self) -> Path:
        """One for all kinds of saves under a prefix: they share files."""
        suffix, path = next(iter(self.paths.items()))
        return path.with_name(f".{hidden_prefix(path.name.removesuffix(f'.{suffix}'))}.lock")

    @property
    def _folder(self) -> Path:
        return next(iter(self.paths.values())).parent

    def _settled(self) -> _State | None:
        """What can be read now, with a killed writer's renames finished; a living writer finishes its own.

        None where that changes just now.
        """
        state = self._state()
        if not state.staged and (state.save_id or not any(state.visible.values())):
            return state
        # A mixture: of a killed writer, of people who copied files, or of this very moment.
        try:
            taken = wait_for(self._lock_path, 0 if state.save_id else _READER_WAITS)
        except OSError:
            for _ in range(_TRIES):  # where this user can't write, two looks that agree have to do
                before, state = state, self._state()
                if before == state:
                    return state
            return None
        if isinstance(taken, Holder):
            return state if state.save_id else None
        try:
            return self._repaired()
        finally:
            taken.release()

    def _repaired(self) -> _State:
        """What can be read after all renames of a killed writer that can be finished. Under the lock."""
        state = self._state()
        left = {}
        for suffix, staged in state.staged.items():
            try:
                os.replace(staged, self.paths[suffix])
            except OSError:  # it is read where it lies
                left[suffix] = staged
        return replace(state, staged=left)

    def _state(self) -> _State:
        visible = {suffix: _save_id(path) for suffix, path in self.paths.items()}
        ids = {save_id for save_id in visible.values() if save_id is not None}
        if len(ids) == 1 and None not in visible.values():
            return _State(visible, ids.pop(), {})
        staged: dict[str, dict[str, Path]] = {}
        for save_id, suffix, path in self._staged():
            staged.setdefault(save_id, {})[suffix] = path
        complete = [
            save_id
            for save_id in ids
            if all(visible[suffix] == save_id or suffix in staged.get(save_id, {}) for suffix in self.paths)
        ]
        if len(complete) != 1:
            return _State(visible, None, {})
        (save_id,) = complete
        missing = {s: staged[save_id][s] for s in self.paths if visible[s] != save_id}
        return _State(visible, save_id, missing)

    def _restless(self) -> DataError:
        return DataError(
            f"{self._folder}: the files were replaced while they were read, {_TRIES} times; "
            "wait until the program that writes them is done"
        )

    def _incomplete(self, visible: Mapping[str, str | None]) -> DataError | FormatError:
        paths = self.paths
        if len(paths) == 1:
            (path,) = paths.values()
            return AbsentError(f"{path}: there is no such file; check the name, or save it first")
        count, every = _COUNTS[len(paths)]
        missing = [paths[suffix].name for suffix in paths if visible[suffix] is None]
        if missing:
            there = [paths[suffix].name for suffix in paths if visible[suffix] is not None]
            seen = f"found {' and '.join(there)}" if there else f"none of the {count} files exists"
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
        suffix_of = {hidden_prefix(path.name): suffix for suffix, path in self.paths.items()}
        found = []
        with suppress(OSError):
            for name in os.listdir(self._folder):
                match = _STAGED.fullmatch(name)
                if match and match[1] in suffix_of:
                    found.append((match[2], suffix_of[match[1]], self._folder / name))
        return sorted(found)


def _remove(path: Path) -> None:
    """Remove a staged file where that can be done: the earlier error is the one reported."""
    with suppress(OSError):
        path.unlink()


def _move(path: Path, staged: Path, save_id: str) -> None:
    with saving(path):
        try:
            os.replace(staged, path)
        except FileNotFoundError:
            # A reader may have finished it where the file system has no locks.
            if _save_id(path) != save_id:
                raise


def _save_id(path: Path) -> str | None:
    try:
        return read_user_block(path).save_id.hex()
    except AbsentError:
        return None


def _staged_path(path: Path, save_id: str) -> Path:
    return path.with_name(f".{hidden_prefix(path.name)}.{save_id}.staged")
