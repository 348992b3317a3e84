"""OpenDocument: the file of the open project, as it was read or written here last."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from studio.session.project.project_file import (
    Project,
    ProjectChangedError,
    ProjectError,
    open_project,
    write_project,
)
from studio.session.project.project_folder import as_stored, as_used, conflict_path

_TRIES = 3  # another window may write again while what it wrote is joined
FIELDS = ("name", "settings", "runs", "further_runs", "export", "export_prefix", "quantize", "rate")


@dataclass(frozen=True)
class Written:
    """The project as it was written: with what another window had changed. ``new`` says that its file did not
    exist before, ``conflict`` that a conflict has begun."""

    project: Project
    new: bool = False
    conflict: bool = False


class OpenDocument:
    """Written by one thread at a time; ``saved`` and ``conflict`` may be read by others.

    ``conflict`` is the file that takes the project instead since another window has written other values,
    None where there is no conflict.

    Args:
        saved: what the file holds.
        seen: its SHA-256 when it was read here; empty for a project without a file.
        needed: whether the file is written although nothing has changed, where it does not exist.
    """

    def __init__(self, path: Path, saved: Project, seen: str, needed: bool) -> None:
        self.path, self._seen, self._needed = path, seen, needed
        self.saved = saved.model_copy(deep=True)
        self.conflict: Path | None = None

    def write(self, project: Project) -> Written:
        """Write what has changed, if anything.

        What another window has written meanwhile is joined with the changes made here; where both have
        changed the same, this window's values go to ``conflict`` and the file is left alone.

        Raises:
            OSError: it can't be written.
        """
        new, before = not self.path.exists(), self.conflict
        for _ in range(_TRIES):
            if project == self.saved and not (self._needed and not self.path.exists()):
                break
            try:
                if self.conflict is not None:
                    self._write(project, self.conflict, None)
                else:
                    self._seen = self._write(project, self.path, self._seen)
                self.saved = project.model_copy(deep=True)
            except ProjectChangedError:
                project = self._join(project)
        return Written(project, new and self.path.exists(), self.conflict is not None and before is None)

    def save(self, project: Project) -> None:
        """Write the project, changed or not.

        Raises:
            ProjectChangedError: another window has written it since. OSError: it can't be written.
        """
        self._seen = self._write(project, self.path, self._seen)
        self._settled(project)

    def keep_own(self, project: Project) -> None:
        """Write the file whatever it holds; ends a conflict. Raises OSError."""
        self._seen = self._write(project, self.path, None)
        self._settled(project)

    def read_other(self) -> Project:
        """What the file holds that another window has written. Raises ProjectError."""
        return as_used(open_project(self.path)[0], self.path.parent)

    def take_other(self) -> Project:
        """End a conflict: what the file has, which the project takes. Raises ProjectError."""
        project, self._seen = open_project(self.path)
        project = as_used(project, self.path.parent)
        self._settled(project)
        return project

    def _settled(self, project: Project) -> None:
        self.saved = project.model_copy(deep=True)
        self.forget_conflict()

    def forget_conflict(self) -> None:
        """Remove the file of a conflict, which is over."""
        conflict, self.conflict = self.conflict, None
        if conflict is not None:
            with suppress(OSError):
                conflict.unlink()

    def _write(self, project: Project, path: Path, seen: str | None) -> str:
        from engine.files.atomic import make_folder

        make_folder(path.parent)
        return write_project(path, as_stored(project, path.parent), seen)

    def _join(self, project: Project) -> Project:
        """The project with what another window wrote; a conflict begins where that can't be done."""
        try:
            theirs, seen = open_project(self.path)
        except ProjectError:
            self.conflict = conflict_path(self.path)
            return project
        theirs = as_used(theirs, self.path.parent)
        values, changed_twice = {}, False
        for name in FIELDS:
            own, other, before = (getattr(each, name) for each in (project, theirs, self.saved))
            values[name] = other if own == before else own
            changed_twice |= own not in (before, other) and other != before
        if changed_twice:
            self.conflict = conflict_path(self.path)
            return project
        self.saved, self._seen = theirs, seen
        return theirs.model_copy(update=values, deep=True)
