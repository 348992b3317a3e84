"""The guide as the window's help: its pages in the order of the guide's own list, and where they are.

A page has one name, that of its English file, whatever the language: ``train.md``, ``../settings.md``. Its
translation is ``LANGUAGE/train.md`` and names the English text that it translates by a digest in its first
line; ``en/train.md`` names the English page alone. ``docs/guide_pages.py`` lists what is absent or older.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from resources import words
from resources.words import tr
from resources.words.languages import ENGLISH

FIRST = "README.md"
_ITEM = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<file>[^)#]+\.md)\)((: |：)(?P<about>.*))?$", re.MULTILINE)
# Not those of a network's items, as in net[0](x).
LINK = re.compile(r"(?<=\]\()(?![a-z]+:)(?:[^)#\s]+\.(?:md|png)|\.\./[^)#\s]*)")
_TRANSLATES = re.compile(r"<!-- translates (?P<file>\S+) sha256:(?P<digest>[0-9a-f]{16}) -->\n\s*")


@dataclass(frozen=True)
class HelpPage:
    """One page: ``title`` and ``about`` as the guide's list has them, ``file`` as its links name it."""

    title: str
    file: str
    about: str = ""


def guide_folder() -> Path:
    """The folder of the guide: next to this file where installed, in ``docs`` in a source tree."""
    here = Path(__file__).parent
    installed = here / "guide"
    return installed if (installed / FIRST).is_file() else here.parent / "docs" / "guide"


def help_pages(language: str = "") -> list[HelpPage]:
    """All pages of the guide, the list itself first, with titles in ``language``, or the one that holds now.

    The list is empty where the guide is not installed.
    """
    if not (guide_folder() / FIRST).is_file():
        return []
    text = page_text(FIRST, language)
    translated = {page.file: page for page in _listed(text)}
    title = text.partition("\n")[0].lstrip("# ").strip()
    pages = _listed(page_text(FIRST, ENGLISH))
    return [HelpPage(title, FIRST), *(translated.get(page.file, page) for page in pages)]


def page_text(file: str, language: str = "") -> str:
    """The Markdown of a page, in English where it is not translated; links are those of an English page.

    Args:
        file: as a link names it, such as ``sweeps.md`` or ``../settings.md``.
        language: such as ``zh_CN``; the one that holds now unless given. A translation of an older English
            page begins with a line that says so.

    Raises:
        FileNotFoundError: there is none in the guide.
    """
    language = language or words.language()
    name = file.removeprefix(f"{ENGLISH}/")
    original = _english(name)
    path = translation(name, language)
    if language == ENGLISH or name != file or not path.is_file():
        return original
    text = path.read_text(encoding="utf-8")
    first = _TRANSLATES.match(text)
    if first is None or first["file"] != name:
        return original
    text = LINK.sub(lambda link: named(link[0], language), text[first.end() :])
    if first["digest"] != digest(original):
        heading, _, rest = text.partition("\n")
        note = tr("The English page is newer than this translation. [Show the English page]({0})")
        text = f"{heading}\n\n> {note.format(f'{ENGLISH}/{name}')}\n{rest}"
    return text


def translation(file: str, language: str) -> Path:
    """Where the translation of a page is, or would be."""
    return guide_folder() / language / posixpath.basename(file)


def stamp(file: str) -> str:
    """The first line of a translation of a page as it is in English now."""
    return stamp_of(file, _english(file))


def stamp_of(file: str, english: str) -> str:
    """The first line of a translation of a page with this English text."""
    return f"<!-- translates {file} sha256:{digest(english)} -->\n"


def digest(text: str) -> str:
    """What a translation names of the English text that it translates."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def named(link: str, language: str) -> str:
    """The name of a page or image that a link of a translation leads to."""
    path = posixpath.normpath(posixpath.join(language, link))
    inside = path.removeprefix(f"{language}/")
    if inside != path and not (guide_folder() / inside).is_file():
        return f"../{inside}"  # as settings.md, whose English page is not in the guide's folder
    return inside + "/" * link.endswith("/")


def section_in(file: str, section: str, language: str = "") -> str:
    """The anchor of a section in the page as it is shown in ``language``, or the one that holds now.

    The window names a section by its English heading; a translation has its headings in the same order.
    """
    english = [anchor_of(heading) for heading in headings(_english(file.removeprefix(f"{ENGLISH}/")))]
    shown = [anchor_of(heading) for heading in headings(page_text(file, language))]
    if section in shown or section not in english or len(shown) != len(english):
        return section
    return shown[english.index(section)]


def headings(text: str) -> Iterator[str]:
    """The headings of a page, with their ``#``."""
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return (line for line in outside.splitlines() if re.match("#+ ", line))


def anchor_of(heading: str) -> str:
    """The anchor of a heading, as in links: ``Passes over the source`` is ``passes-over-the-source``."""
    kept = (each for each in heading.lstrip("# ").lower() if each.isalnum() or each in " -_")
    return "".join(kept).replace(" ", "-")


def _english(name: str) -> str:
    folder = guide_folder()
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.parent.resolve()) or not path.is_file():
        raise FileNotFoundError(f"help: no such page: {name!r}; the guide is in {folder}")
    return path.read_text(encoding="utf-8")


def _listed(text: str) -> list[HelpPage]:
    return [HelpPage(m["title"], m["file"], m["about"] or "") for m in _ITEM.finditer(text)]
