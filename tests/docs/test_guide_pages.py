"""The guide in Chinese: each translation has the headings, code, images and links of its English page."""

from __future__ import annotations

import importlib.util
import re
import shutil
import struct
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from resources import help_pages
from resources.help_pages import LINK, anchor_of, guide_folder, headings, page_text, translation
from resources.words.catalogue import FOLDER
from resources.words.po_file import read_po

LANGUAGE = "zh_CN"
ROOT = Path(__file__).resolve().parents[2]


def _load() -> ModuleType:
    file = ROOT / "docs" / "guide_pages.py"
    spec = importlib.util.spec_from_file_location("model_studio_docs_guide_pages", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = _load()
TRANSLATED = sorted(set(tool.pages()) - set(tool.absent(LANGUAGE)))
# An older page says so itself; it need not have what its English page has now.
CURRENT = sorted(set(TRANSLATED) - set(tool.older(LANGUAGE)))


def test_every_page_is_translated() -> None:
    assert tool.absent(LANGUAGE) == [], "see docs/glossary.md and python -m docs.guide_pages"


def test_each_file_translates_a_page() -> None:
    files = {path.name for path in translation("README.md", LANGUAGE).parent.iterdir()}
    assert files == {translation(file, LANGUAGE).name for file in TRANSLATED}


def test_the_wheel_has_every_page() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    outside = {f"docs/{file.removeprefix('../')}" for file in tool.pages() if file.startswith("../")}
    assert {"docs/guide", *outside} <= set(wheel["force-include"])


def test_pages_of_lists_are_written_from_their_texts() -> None:
    english = """# One

Two
lines, `code`.
- an item
  goes on
  - `x`: another

| name | what |
|---|---|
| `a\\|b` | has a \\| bar |

```sh
not a text
```
"""
    listed = tool.listed_pages
    assert listed.texts(english) == [
        "One",
        "Two lines, `code`.",
        "an item goes on",
        "`x`: another",
        "name",
        "what",
        "has a \\| bar",
    ]
    chinese = listed.translated(
        english, lambda text: {"One": "一", "an item goes on": "一项"}.get(text, text)
    )
    assert chinese.splitlines() == [
        "# 一",
        "",
        "Two lines, `code`.",
        "- 一项",
        "  - `x`: another",
        "",
        "| name | what |",
        "| --- | --- |",
        "| `a\\|b` | has a \\| bar |",
        "",
        "```sh",
        "not a text",
        "```",
    ]


@pytest.mark.parametrize("file", sorted({*tool.listed_pages.LISTED} & {*CURRENT}))
def test_pages_of_lists_are_current(file: str) -> None:
    written = translation(file, LANGUAGE).read_text("utf-8")
    linked = LINK.sub(
        lambda link: tool.link(link[0], LANGUAGE, {*TRANSLATED}), tool.listed_pages.page(file, LANGUAGE)
    )
    assert written == linked, "run: python -m docs.guide_pages"


@pytest.mark.parametrize("file", TRANSLATED)
def test_a_page_that_is_older_says_so(file: str) -> None:
    assert ("(en/" in page_text(file, LANGUAGE)) == (file not in CURRENT)
    assert page_text(file, LANGUAGE) != page_text(file)


@pytest.mark.parametrize("file", CURRENT)
def test_a_translation_has_the_structure_of_its_page(file: str) -> None:
    english, chinese = page_text(file), page_text(file, LANGUAGE)
    levels = [
        [heading.count("#", 0, heading.index(" ")) for heading in headings(t)] for t in (english, chinese)
    ]
    assert levels[0] == levels[1]
    assert _code(english) == _code(chinese)
    links = [link.replace(f"{tool.IMAGES}{LANGUAGE}/", tool.IMAGES) for link in LINK.findall(chinese)]
    assert sorted(LINK.findall(english)) == sorted(links)
    assert [_columns(line) for line in english.splitlines() if line.startswith("|")] == [
        _columns(line) for line in chinese.splitlines() if line.startswith("|")
    ]


@pytest.mark.parametrize("file", CURRENT)
def test_a_translation_names_the_same_code(file: str) -> None:
    english, chinese = (" ".join(page_text(file, each).split()) for each in ("en", LANGUAGE))
    assert [code for code in _inline(english) if code not in chinese] == []
    assert [code for code in _inline(chinese) if code not in english] == []


def _inline(text: str) -> list[str]:
    """Options, names and paths within sentences."""
    return re.findall(r"(?<!`)`([^`]+)`(?!`)", text)


@pytest.mark.parametrize("file", sorted({*TRANSLATED} - {"../settings.md"}))
def test_bold_words_are_those_of_the_window(file: str, shown_words: set[str]) -> None:
    bold = re.findall(r"(?<!\*)\*\*([^*\n]+)\*\*", "".join(_outside_code(page_text(file, LANGUAGE))))
    own = [word for word in bold if f"**{word}**" not in page_text(file)]
    assert [word for word in own if word.rstrip("…") not in shown_words] == []


@pytest.mark.parametrize("file", TRANSLATED)
def test_a_paragraph_of_a_translation_is_one_line(file: str) -> None:
    """The window shows the end of a line as a space, between Chinese characters too."""
    lines = re.sub("^```.*?^```", "", page_text(file, LANGUAGE), flags=re.MULTILINE | re.DOTALL).splitlines()
    begins = re.compile(r"\s*- |\d+\. |#|\||>|!\[|    |$")
    assert [b for a, b in pairwise(lines) if a and a[0] not in "#|" and not begins.match(b)] == []


@pytest.fixture(scope="module")
def shown_words() -> set[str]:
    """All texts of the catalogue, without the keys of menus."""
    texts = read_po((FOLDER / f"{LANGUAGE}.po").read_text("utf-8")).entries
    return {re.sub(r"\(&\w\)", "", form).rstrip("…") for each in texts for form in each.forms}


def _outside_code(text: str) -> list[str]:
    return re.split(r"^```.*?^```|`[^`]+`", text, flags=re.MULTILINE | re.DOTALL)


def _code(text: str) -> list[str]:
    """Blocks of code: fenced, and lines that are indented by four."""
    return re.findall(r"^```.*?^```|(?<=\n\n) {4}\S[^\n]*(?:\n {4}[^\n]*)*", text, re.MULTILINE | re.DOTALL)


def test_images_in_chinese_have_the_size_of_the_english_ones() -> None:
    """The window is as large in both languages; a part of it may be a few pixels higher."""
    images = sorted((guide_folder() / tool.IMAGES / LANGUAGE).glob("*"))
    linked = {name for file in TRANSLATED for name in LINK.findall(page_text(file, LANGUAGE))}
    assert {f"{tool.IMAGES}{LANGUAGE}/{path.name}" for path in images} <= linked
    for path in images:
        assert _size(path) == pytest.approx(_size(path.parents[1] / path.name), rel=0.02), path.name


def _size(path: Path) -> tuple[int, ...]:
    """The width and height that a PNG file states."""
    head = path.read_bytes()[:24]
    assert head[:4] == b"\x89PNG"
    return struct.unpack(">2I", head[16:])


def _columns(line: str) -> int:
    return len(re.findall(r"(?<!\\)\|", line))


@pytest.mark.parametrize("language", ["en", LANGUAGE])
def test_links_to_sections_lead_somewhere(language: str) -> None:
    missing = []
    for page in help_pages.help_pages():
        for file, section in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", page_text(page.file, language)):
            if not (file and file.startswith("..")):
                target = file or page.file
                anchors = [anchor_of(heading) for heading in headings(page_text(target, language))]
                if help_pages.section_in(target, section, language) not in anchors:
                    missing.append(f"{page.file}: {file}#{section}")
    assert missing == []


def test_the_tool_stamps_and_adapts_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(guide_folder(), tmp_path / "guide")
    for name in ("settings.md", "file-format.md"):
        shutil.copy(guide_folder().parent / name, tmp_path)
    shutil.rmtree(folder / LANGUAGE)
    (folder / LANGUAGE).mkdir()
    monkeypatch.setattr(help_pages, "guide_folder", lambda: folder)
    monkeypatch.setattr(tool, "guide_folder", lambda: folder)
    written = folder / LANGUAGE / "runs.md"
    written.write_text("# 训练\n\n[a](train.md) [b](../settings.md) ![c](../settings.md)\n", "utf-8")
    monkeypatch.setattr(sys, "argv", ["guide_pages"])
    assert tool.main() == 1
    assert "\nolder: runs.md\n" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["guide_pages", "--stamp", "runs.md"])
    assert tool.main() == 0
    assert written.read_text("utf-8").endswith(
        "[a](../train.md) [b](../../settings.md) ![c](../../settings.md)\n"
    )
    (folder / LANGUAGE / "train.md").write_text("# 训练\n", "utf-8")
    monkeypatch.setattr(sys, "argv", ["guide_pages", "--stamp", "train.md"])
    assert tool.main() == 0
    assert "[a](train.md)" in written.read_text("utf-8")
    (folder / "runs.md").write_text("# Runs\n", "utf-8")
    monkeypatch.setattr(sys, "argv", ["guide_pages"])
    assert tool.main() == 1
