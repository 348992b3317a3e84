"""Which code may run: what a person agreed to, by content, and what this installation's own runs keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from resources.local_code import CodeTooLarge, LocalCode, read_code
from studio.session.project.project_file import Preferences, read_preferences, write_preferences

_PART = "part:"
"""What an entry of ``Preferences.agreed`` begins with that agrees to nothing: the content of a file among
others that were agreed to together, by which a later question knows which of them is new."""


def not_agreed(path: Path, agreed: Collection[str]) -> LocalCode | None:
    """The code of the file ``path`` if it was not agreed to; None if it was, or can't be read: the child that
    needs it says why, and runs nothing."""
    try:
        code = read_code(path)
    except (OSError, CodeTooLarge):
        return None
    return None if code.digest in agreed else code


def agreed_digest(path: Path, agreed: Collection[str]) -> str:
    """The digest of the code of ``path`` if it was agreed to, for the child that runs it; else empty."""
    try:
        digest = read_code(path).digest
    except (OSError, CodeTooLarge):
        return ""
    return digest if digest in agreed else ""


def not_agreed_in(run: Path, agreed: Collection[str]) -> LocalCode | None:
    """The code that a run keeps if it was not agreed to; None where it may run.

    Every file there counts, since the model may import any of them. Code that this installation put there
    itself, and that is unchanged, needs no agreement. Imports the engine's files.

    Raises:
        DataError: there is a link among them, or they can't be read.
    """
    code, may_run = _code_in(run, agreed)
    return None if may_run else code


def agreed_digest_in(run: Path, agreed: Collection[str]) -> str:
    """The digest of the code that a run keeps if it may run, for what runs it; else empty.

    Raises:
        DataError: as ``not_agreed_in``.
    """
    code, may_run = _code_in(run, agreed)
    return code.digest if may_run and code.sources else ""


def _code_in(run: Path, agreed: Collection[str]) -> tuple[LocalCode, bool]:
    from engine.files.run_source import is_own, run_code

    code = run_code(run)
    return code, not code.sources or is_own(run, code.sources) or code.digest in agreed


def changed_in(code: LocalCode, agreed: Collection[str]) -> list[str]:
    """The files of ``code`` that no agreement has covered; all where each of them was covered in other
    company."""
    new = [name for name, one in code.digests.items() if one not in agreed and _PART + one not in agreed]
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
