"""The command palette: what it begins with, and how it ranks what matches."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from studio.session.project.project_file import read_preferences
from studio.windows.palette import Entry
from studio.windows.palette_ranking import ranked


def opened(stage: Any) -> list[str]:
    """The titles that the palette begins with."""
    stage.studio.actions.trigger("palette")
    titles: list[str] = stage.studio.frame.palette.titles()
    return titles


def test_the_palette_begins_with_what_was_used_and_what_the_page_offers(stage: Any) -> None:
    palette = stage.studio.frame.palette
    assert opened(stage)[:2] == ["Start", "Add to queue"]
    palette.reject()
    stage.studio.frame.show_page("predict")
    assert opened(stage)[0] == "Load model…"
    QTest.keyClicks(palette.box, "dark")
    QTest.keyClick(palette.box, Qt.Key.Key_Return)
    opened(stage)
    QTest.keyClicks(palette.box, "help: threads")
    QTest.keyClick(palette.box, Qt.Key.Key_Return)
    assert opened(stage)[:3] == ["Help: Threads", "Dark", "Load model…"]
    assert read_preferences()[0].recent_commands[:2] == ["help:threads.md", "theme_dark"]
    # What is not possible now comes after everything that is.
    reasons = [bool(palette.list.item(row).data(Qt.ItemDataRole.UserRole).why_not) for row in range(90)]
    commands = reasons[: reasons.index(True)]
    assert len(commands) > 20
    palette.reject()


ENTRIES = [
    Entry("new_project", "New project", "Ctrl+N", "Begin a project."),
    Entry("find_rate", "Find learning rate", "", "Try rates in a few steps."),
    Entry("change_rate", "Change learning rate", "", "Train with another.", "No training is running."),
    Entry("checkpoint_now", "Checkpoint now", "", "Write a checkpoint."),
    Entry("setting:learning_rate", "Setting: Learning rate", "", "How far a step goes."),
    Entry("start", "Start", "F5", "Start a training with the settings shown."),
]


@pytest.mark.parametrize(
    ("text", "recent", "first"),
    [
        ("", (), ["new_project", "find_rate"]),
        ("", ("start",), ["start", "new_project"]),
        ("", ("change_rate",), ["new_project"]),  # not possible now
        ("rate", (), ["find_rate", "setting:learning_rate", "change_rate"]),
        ("learn find", (), ["find_rate"]),
        ("cn", (), ["checkpoint_now"]),
        ("check", (), ["checkpoint_now"]),
        ("lerning", (), ["find_rate"]),
        ("npr", (), ["new_project"]),
        ("training", (), ["start"]),
        ("zzz", (), []),
    ],
)
def test_entries_are_ranked(text: str, recent: tuple[str, ...], first: list[str]) -> None:
    found = [entry.id for entry in ranked(ENTRIES, text, recent)]
    assert found[: len(first)] == first
    assert bool(found) == bool(first)


@pytest.mark.parametrize("text", ["exp", "导", "EXPORT"])
def test_an_entry_of_a_chinese_window_is_found_by_its_english_title_too(text: str) -> None:
    entries = [
        Entry("stop", "停止", "", "", english="Stop"),
        Entry("export", "导出", "", "", english="Export"),
    ]
    assert [entry.id for entry in ranked(entries, text)] == ["export"]
