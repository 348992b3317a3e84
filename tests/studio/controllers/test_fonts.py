"""Fonts for Chinese: which one is taken, and what is said once where there is none."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtGui import QFont, QFontInfo
from PySide6.QtWidgets import QApplication

from resources import words
from studio.controllers import fonts
from tests.studio.windows.conftest import _look, stage  # noqa: F401


@pytest.fixture
def no_font(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_families", lambda: [])


@pytest.mark.parametrize(
    ("values", "command"),
    [
        ({"ID": "debian"}, "sudo apt install fonts-noto-cjk"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "sudo apt install fonts-noto-cjk"),
        ({"ID": "fedora"}, "sudo dnf install google-noto-sans-cjk-fonts"),
        ({"ID": "arch"}, "sudo pacman -S noto-fonts-cjk"),
        ({"ID": "opensuse-leap"}, "sudo zypper install google-noto-sans-cjk-fonts"),
    ],
)
def test_a_missing_font_names_the_package_of_the_system(
    no_font: None, monkeypatch: pytest.MonkeyPatch, values: dict[str, str], command: str
) -> None:
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: values)
    monkeypatch.setattr("sys.platform", "linux")
    expected = f"No font on this computer has Chinese characters. Install one: {command}, then start again."
    assert fonts.missing_font("zh_CN") == expected
    assert fonts.missing_font("en") == ""


def test_on_another_system_the_font_is_named(no_font: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> dict[str, str]:
        raise OSError("no os-release")

    for values in (lambda: {"ID": "unknown"}, dict, absent):
        monkeypatch.setattr("platform.freedesktop_os_release", values)
        assert fonts.missing_font("zh_CN").endswith("Install one, such as Noto Sans CJK, then start again.")


def test_the_window_says_once_that_a_font_is_missing(
    no_font: None,
    stage: Any,  # noqa: F811
    qtbot: Any,
) -> None:
    said: list[str] = []
    stage.studio.actions.refused.connect(said.append)
    try:
        for language in ("zh_CN", "en", "zh_CN"):
            stage.studio.frame.language.use(language)
            qtbot.wait(1)
    finally:
        words.use_language("en")
    assert len(said) == 1
    assert said[0].startswith("No font on this computer has Chinese characters.")


def test_chinese_forms_are_preferred_and_latin_letters_stay(qapp: QApplication) -> None:
    before = QFont(qapp.font())
    present = set(fonts._families()) & set(fonts.CHINESE)
    try:
        fonts.prefer_chinese_forms(qapp)
        once = qapp.font().families()
        fonts.prefer_chinese_forms(qapp)
        assert qapp.font().families() == once
        assert QFontInfo(qapp.font()).family() == QFontInfo(before).family()
        assert bool(present) == (once[-1] in present)
    finally:
        qapp.setFont(before)
