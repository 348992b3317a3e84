"""Which code may run: what a person agreed to, by content, and what this installation's own runs keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from studio.session.project.project_file import file_digest, read_preferences, write_preferences


def not_agreed(path: Path, agreed: Collection[str]) -> Path | None:
    """``path`` if its content was not agreed to; None if it was, or if there is no such file."""
    try:
        return None if file_digest(path) in agreed else path
    except OSError:
        return None  # the code that needs an absent file reports it, with its name


def not_agreed_in(run: Path, agreed: Collection[str]) -> Path | None:
    """The first file of the code that a run keeps which was not agreed to; None where it may run.

    Every file there counts, since the model may import any of them. Code that this installation put there
    itself, and that is unchanged, needs no agreement. Imports the engine's files.

    Raises:
        DataError: there is a link among them, or they can't be read.
    """
    from engine.files.run_source import is_own, source_files

    files = source_files(run)
    if not files or is_own(run):
        return None
    return next((path for path in files if not_agreed(path, agreed) is not None), None)


def agree_to(run: Path) -> str:
    """Remember that the code which a run keeps may run, as the window does; says why it can't be remembered.

    Raises:
        DataError: as ``not_agreed_in``.
    """
    from engine.files.run_source import source_files

    return remember(file_digest(path) for path in source_files(run))


def remember(digests: Iterable[str]) -> str:
    """Remember that files of this content may run; says why that can't be remembered."""
    preferences, trouble = read_preferences()
    if trouble:
        return trouble
    preferences.agreed += [digest for digest in dict.fromkeys(digests) if digest not in preferences.agreed]
    try:
        write_preferences(preferences)
    except OSError as error:
        return str(error)
    return ""
