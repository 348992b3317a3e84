"""Texts in the language of the person: English texts are the keys, the PO files here the catalogues.

Nothing here knows Qt, and importing it reads no catalogue: English needs none. ``tr`` and ``plural`` are for
texts of our own, ``marked`` is for one in a table that is translated where it is shown, ``shown`` is for
messages of engine and session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from resources.words.languages import ENGLISH, LANGUAGES, computer_languages, language_for

if TYPE_CHECKING:
    from resources.words.catalogue import Catalogue

__all__ = [
    "LANGUAGES",
    "find",
    "follow_language",
    "language",
    "marked",
    "plural",
    "prepare_languages",
    "shown",
    "tr",
    "use_catalogue",
    "use_language",
]

SYSTEM = "system"
_language = ENGLISH
_catalogue: Catalogue | None = None
_followers: list[Callable[[], object]] = []


def tr(text: str, context: str = "") -> str:
    """``text`` in the language that holds now; ``context`` only where one English text has two meanings."""
    if _catalogue is None:
        return text
    return _catalogue.find(text, context) or text


def find(text: str, context: str = "") -> str | None:
    """As ``tr``; None where the language that holds has no translation."""
    return None if _catalogue is None else _catalogue.find(text, context)


def plural(one: str, many: str, number: int, context: str = "") -> str:
    """The form of a text that fits ``number``, to be formatted: ``plural("1 file", "{0} files", n)``."""
    found = None if _catalogue is None else _catalogue.find_plural(one, many, number, context)
    return found or (one if number == 1 else many)


def marked(text: str, context: str = "") -> str:
    """``text`` as it is: marks a text of a table that ``tr`` translates where it is shown."""
    return text


def shown(message: str) -> str:
    """A message of engine, session or command in the language that holds now; an unknown one in English."""
    return message if _catalogue is None else _catalogue.message(message)


def language() -> str:
    """The language that holds now, such as ``zh_CN``; a key of ``LANGUAGES``."""
    return _language


def use_language(wanted: str, computer: Sequence[str] | None = None) -> str:
    """Let a language hold: a key of ``LANGUAGES``, or ``system`` for that of the computer; returns it.

    English holds where the language is unknown, or where its catalogue can't be read (logged).

    Args:
        computer: the languages of the computer, best first; those of the environment unless given.
    """
    if wanted == SYSTEM:
        wanted = language_for(computer_languages() if computer is None else computer)
    if wanted == _language:
        return _language
    catalogue = None
    if wanted in LANGUAGES and wanted != ENGLISH:
        from resources.words.catalogue import read_catalogue

        catalogue = read_catalogue(wanted)
    use_catalogue(ENGLISH if catalogue is None else wanted, catalogue)
    return _language


def prepare_languages() -> None:
    """Read the catalogues of all languages, so that a switch finds them; a thread may call it."""
    from resources.words.catalogue import read_catalogue

    for name in LANGUAGES:
        catalogue = None if name == ENGLISH else read_catalogue(name)
        if catalogue is not None:
            catalogue.prepare()


def use_catalogue(name: str, catalogue: Catalogue | None) -> None:
    """Let ``catalogue`` hold under a name; None for English. All followers are called."""
    global _language, _catalogue
    _language, _catalogue = name, catalogue
    for follower in list(_followers):
        follower()


def follow_language(follower: Callable[[], object]) -> Callable[[], None]:
    """Call ``follower`` after each change of the language, in the thread that changes it.

    Returns a function that ends this.
    """
    _followers.append(follower)

    def end() -> None:
        if follower in _followers:
            _followers.remove(follower)

    return end
