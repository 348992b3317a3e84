"""The guide as the window's help: its pages in the order of the guide's own list, and where they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FIRST = "README.md"
_ITEM = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<file>[^)#]+\.md)\)(: (?P<about>.*))?$", re.MULTILINE)


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


def help_pages() -> list[HelpPage]:
    """All pages of the guide, the list itself first; empty where the guide is not installed."""
    file = guide_folder() / FIRST
    if not file.is_file():
        return []
    text = file.read_text(encoding="utf-8")
    found = [HelpPage(m["title"], m["file"], m["about"] or "") for m in _ITEM.finditer(text)]
    title = text.partition("\n")[0].lstrip("# ").strip()
    return [HelpPage(title, FIRST), *found]


def page_text(file: str) -> str:
    """The Markdown of a page that a link names, such as ``sweeps.md`` or ``../settings.md``.

    Raises:
        FileNotFoundError: there is none in the guide.
    """
    folder = guide_folder()
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.parent.resolve()) or not path.is_file():
        raise FileNotFoundError(f"help: no such page: {file!r}; the guide is in {folder}")
    return path.read_text(encoding="utf-8")
