"""Compares the guide with its translations: ``python -m docs.guide_pages``, in the top folder.

It lists the pages that are not translated, and those whose English text has changed since; it fails if there
are any of the second kind. Once a translation is up to date, ``python -m docs.guide_pages --stamp train.md``
writes the digest of the English page into its first line. It also adapts the links, which may be written as
in the English page: they lead to a translated page, or to an image in ``docs/images/zh_CN``, where there is
one. Pages that are made of lists and tables are written from their translated texts
(``docs/listed_pages.py``).
"""

from __future__ import annotations

import argparse
import posixpath
import re
import sys

from docs import listed_pages
from resources.help_pages import LINK, guide_folder, help_pages, named, stamp, translation

LANGUAGES = ("zh_CN",)
IMAGES = "../images/"


def pages() -> list[str]:
    """The names of all pages."""
    return [page.file for page in help_pages()]


def absent(language: str) -> list[str]:
    """The pages without a translation."""
    return [file for file in pages() if not translation(file, language).is_file()]


def older(language: str) -> list[str]:
    """The pages whose translation names another English text than that of today."""
    translated = [file for file in pages() if translation(file, language).is_file()]
    return [file for file in translated if not _text(file, language).startswith(stamp(file))]


def write(file: str, language: str) -> None:
    """State in a translation that it is up to date."""
    text = re.sub(r"\A<!-- translates .*\n\s*", "", _text(file, language))
    translation(file, language).write_text(f"{stamp(file)}\n{text}", encoding="utf-8")


def write_listed(language: str) -> None:
    """Write the pages that are made of lists and tables; the other translations lead to them."""
    listed_pages.write(language)
    write_links(language)


def write_links(language: str) -> None:
    """Let the links of all translations lead to translations where there are any."""
    translated = set(pages()) - set(absent(language))
    for file in sorted(translated):
        text = LINK.sub(lambda found: link(found[0], language, translated), _text(file, language))
        translation(file, language).write_text(text, encoding="utf-8")


def link(target: str, language: str, translated: set[str]) -> str:
    """A link of a translation: to a translated page, and to an image of the window in its language, where
    there is one."""
    name = named(target, language)
    if not (guide_folder() / name).exists():
        name = target  # as in the English page
    if name.startswith(IMAGES):
        own = f"{IMAGES}{language}/{posixpath.basename(name)}"
        name = own if (guide_folder() / own).is_file() else IMAGES + posixpath.basename(name)
    return posixpath.basename(name) if name in translated else f"../{name}"


def _text(file: str, language: str) -> str:
    return translation(file, language).read_text(encoding="utf-8")


def main() -> int:
    """List what is absent or older, or stamp the pages that are named."""
    parser = argparse.ArgumentParser(prog="python -m docs.guide_pages")
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0])
    parser.add_argument("--stamp", nargs="+", choices=pages(), metavar="PAGE", default=[])
    given = parser.parse_args()
    for file in given.stamp:
        write(file, given.language)
    write_listed(given.language)
    late = older(given.language)
    print("listed pages: {} of {} texts translated".format(*listed_pages.share(given.language)))
    for word, files in (("absent", absent(given.language)), ("older", late)):
        print(f"{word}: {', '.join(files) or 'none'}")
    return bool(late)


if __name__ == "__main__":
    sys.exit(main())
