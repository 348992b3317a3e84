"""The guide in two languages: translations, their age, links and sections."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from resources import help_pages
from resources.help_pages import page_text, section_in, stamp, translation


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A guide of two pages, one of which is translated."""
    folder = tmp_path / "guide"
    (folder / "zh_CN").mkdir(parents=True)
    monkeypatch.setattr(help_pages, "guide_folder", lambda: folder)
    (tmp_path / "settings.md").write_text("# Settings\n", "utf-8")
    (folder / "other.md").write_text("# Other\n", "utf-8")
    (folder / "README.md").write_text(
        "# Guide\n\n- [Runs](runs.md): a list.\n- [Settings](../settings.md): all.\n", "utf-8"
    )
    (folder / "runs.md").write_text(
        "# Runs\n\n## Names\n\n```sh\n# no heading\n```\n\n## Tags, notes\n", "utf-8"
    )
    for file, text in (
        (
            "runs.md",
            "# 训练记录\n\n[a](../other.md) [b](../../settings.md) ![c](../../images/c.png) net[0](x)\n\n"
            "## 名称\n\n```sh\n# no heading\n```\n\n## 标签、备注\n",
        ),
        ("README.md", "# 指南\n\n- [训练记录](runs.md)：列表。\n- [设置](../../settings.md)：全部。\n"),
    ):
        (folder / "zh_CN" / file).write_text(f"{stamp(file)}\n{text}", "utf-8")
    return folder


def test_a_page_is_shown_in_its_language_and_in_english_where_there_is_none(guide: Path) -> None:
    assert page_text("runs.md", "zh_CN").startswith("# 训练记录\n\n[a]")
    assert page_text("runs.md").startswith("# Runs")
    assert page_text("en/runs.md", "zh_CN") == page_text("runs.md", "de") == page_text("runs.md")
    assert page_text("other.md", "zh_CN") == "# Other\n"
    with pytest.raises(FileNotFoundError, match="no such page"):
        page_text("zh_CN/../../../x.md", "zh_CN")


def test_links_of_a_translation_are_those_of_an_english_page(guide: Path) -> None:
    assert "[a](other.md) [b](../settings.md) ![c](../images/c.png)" in page_text("runs.md", "zh_CN")
    shutil.copy(guide.parent / "settings.md", guide / "zh_CN" / "settings.md")
    assert page_text("../settings.md", "zh_CN") == "# Settings\n"  # without a stamp it translates nothing
    (guide / "zh_CN" / "settings.md").write_text(stamp("../settings.md") + "\n# 设置\n", "utf-8")
    assert page_text("../settings.md", "zh_CN") == "# 设置\n"
    assert help_pages.named("settings.md", "zh_CN") == "../settings.md"


def test_an_older_translation_says_so_and_links_to_the_english_page(guide: Path) -> None:
    (guide / "runs.md").write_text("# Runs\n\nNew.\n", "utf-8")
    heading, _, note = page_text("runs.md", "zh_CN").splitlines()[:3]
    assert heading == "# 训练记录"
    assert note.startswith("> The English page is newer")
    assert note.endswith("(en/runs.md)")
    assert page_text("en/runs.md", "zh_CN") == "# Runs\n\nNew.\n"


def test_the_list_has_titles_of_the_language_under_the_english_names(guide: Path) -> None:
    found = [(page.title, page.file, page.about) for page in help_pages.help_pages("zh_CN")]
    assert found == [
        ("指南", "README.md", ""),
        ("训练记录", "runs.md", "列表。"),
        ("设置", "../settings.md", "全部。"),
    ]
    translation("README.md", "zh_CN").unlink()
    assert [page.title for page in help_pages.help_pages("zh_CN")] == ["Guide", "Runs", "Settings"]


def test_an_english_section_is_found_in_the_translation(guide: Path) -> None:
    assert section_in("runs.md", "tags-notes", "zh_CN") == "标签备注"
    assert section_in("runs.md", "标签备注", "zh_CN") == "标签备注"
    assert (
        section_in("runs.md", "tags-notes") == section_in("en/runs.md", "tags-notes", "zh_CN") == "tags-notes"
    )
    assert section_in("runs.md", "no-such", "zh_CN") == "no-such"
