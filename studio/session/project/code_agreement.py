"""Which code may run: what a person agreed to, by content, and what this installation's own runs keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from resources.local_code import CodeTooLarge, LocalCode, read_code
from studio.session.project.project_file import Preferences, read_preferences, write_preferences

_PART = "part:"
"""What an entry of ``Preferences.agreed`` begins with that agrees to nothing: the content of a file among
others that were agreed to together, by which a later question knows which of them is new."""


@dataclass(frozen=True)
class CodeCheck:
    """Whether code may run: ``code`` needs the user's agreement first, ``digest`` is that of code that may
    run. Both are empty where there is no code, or where it can't be read: the child that needs it says why,
    and runs nothing."""

    code: LocalCode | None = None
    digest: str = ""


def check_code(path: Path, agreed: Collection[str]) -> CodeCheck:
    """Whether the code of the file ``path`` may run."""
    try:
        code = read_code(path)
    except (OSError, CodeTooLarge):
        return CodeCheck()
    return CodeCheck(digest=code.digest) if code.digest in agreed else CodeCheck(code)


def check_run_code(run: Path, agreed: Collection[str]) -> CodeCheck:
    """Whether the code that a run keeps may run.

    Every file there counts, since the model may import any of them. Code that this installation put there
    itself, and that is unchanged, needs no agreement. Imports the engine's files.

    Raises:
        DataError: there is a link among them, or they can't be read.
    """
    from engine.files.run_source import is_own, run_code

    code = run_code(run)
    if not code.sources:
        return CodeCheck()
    may_run = is_own(run, code.sources) or code.digest in agreed
    return CodeCheck(digest=code.digest) if may_run else CodeCheck(code)


def changed_in(code: LocalCode, agreed: Collection[str]) -> list[str]:
    """The files of ``code`` that no agreement has covered, and that this installation did not put there; all
    where each of them was covered in other company."""
    from engine.files.run_source import SOURCE, unchanged_files

    ours = unchanged_files(code.folder.parent, code.sources) if code.folder.name == SOURCE else ()
    new = [
        name
        for name, one in code.digests.items()
        if name not in ours and one not in agreed and _PART + one not in agreed
    ]
    return new or list(code.sources)


def agree(preferences: Preferences, code: LocalCode) -> bool:
    """Add the agreement to ``code``; whether the preferences changed."""
    parts = [_PART + each for each in code.digests.values()] if len(code.sources) > 1 else []
    return _add(preferences, [code.digest, *parts])


def count_agreements(agreed: Collection[str]) -> int:
    """How many agreements there are."""
    return sum(not each.startswith(_PART) for each in agreed)


def remember(digests: Iterable[str]) -> str:
    """Remember that code of these digests may run; says why that can't be remembered."""
    preferences, trouble = read_preferences()
    if trouble:
        return trouble
    _add(preferences, digests)
    return _written(preferences)


def remember_code(code: LocalCode) -> str:
    """Remember that ``code`` may run, as the window does; says why that can't be remembered."""
    preferences, trouble = read_preferences()
    if trouble:
        return trouble
    agree(preferences, code)
    return _written(preferences)


def _add(preferences: Preferences, entries: Iterable[str]) -> bool:
    new = [each for each in dict.fromkeys(entries) if each not in preferences.agreed]
    preferences.agreed += new
    return bool(new)


def _written(preferences: Preferences) -> str:
    try:
        write_preferences(preferences)
    except OSError as error:
        return str(error)
    return ""


def own_code(path: Path, data: bytes) -> LocalCode:
    """What we write into the file ``path``, without anything that it would import from there."""
    path = path.expanduser().resolve()
    return LocalCode(path.parent, {path.name: data})
