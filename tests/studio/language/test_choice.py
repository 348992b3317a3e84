"""The language of the window: chosen in the menu or the settings, at once and remembered, in all windows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QLabel, QPushButton

from resources import words
from resources.words.catalogue import Catalogue
from resources.words.po_file import Entry
from studio.controllers import language
from studio.session import commands
from studio.session.project.project_file import preferences_path
from studio.windows.preferences import PreferencesDialog
from tests.studio.windows.conftest import Stage

TEXTS = Catalogue(
    [
        Entry("Find learning rate…", ["查找学习率…"]),
        Entry("Settings", ["设置"]),
        Entry("Theme", ["主题"]),
        Entry("Open", ["打开"]),
        Entry("Open", ["开放"], context="state"),
    ]
)


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue whose texts the test knows."""
    monkeypatch.setattr("resources.words.catalogue.read_catalogue", lambda name: TEXTS)


def test_a_text_is_found_whatever_the_class_that_has_it(qapp: QApplication, chinese: None) -> None:
    language.begin_language(qapp, "zh_CN")
    label = QLabel()
    assert label.tr("Open") == QCoreApplication.translate("Anything", "Open") == "打开"
    assert label.tr("Open", "state") == "开放"
    assert label.tr("unknown {0}") == "unknown {0}"
    language.begin_language(qapp, "en")
    assert label.tr("Open") == "Open"
    assert len(qapp.findChildren(language.WindowLanguage)) == 1


def test_dialogs_of_qt_have_its_own_translations(qapp: QApplication) -> None:
    def button() -> str:
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        return box.button(QDialogButtonBox.StandardButton.Cancel).text()

    assert button() == "Cancel"
    language.begin_language(qapp, "zh_CN")
    assert button() == "取消"
    language.begin_language(qapp, "en")
    assert button() == "Cancel"


def test_the_menu_switches_at_once_and_it_is_remembered(stage: Any, chinese: None) -> None:
    find = stage.studio.settings_panel.find_rate
    english = stage.studio.actions[commands.LANGUAGES["system"]]
    assert (find.text(), english.isChecked()) == ("Find learning rate…", True)
    stage.studio.actions.trigger("language_chinese")
    assert find.text() == "查找学习率…"
    assert words.language() == "zh_CN"
    assert not english.isChecked()
    assert stage.studio.actions[commands.LANGUAGES["zh_CN"]].isChecked()
    assert stage.session.preferences.language == "zh_CN"
    stage.studio.actions.trigger("language_english")
    assert find.text() == "Find learning rate…"


@pytest.mark.parametrize("way", ["menu", "palette", "preferences"])
def test_opening_a_list_of_languages_reads_their_texts_once(
    stage: Any, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "resources.words.catalogue.read_catalogue",
        lambda name: asked.append(name) or TEXTS,  # type: ignore[func-returns-value]
    )
    for _ in range(2):
        if way == "menu":
            stage.studio.frame.menus["View"].aboutToShow.emit()
        else:
            stage.studio.actions.trigger(way)
    assert asked == ["zh_CN"]


def test_the_menu_has_each_language_by_its_own_name(stage: Any) -> None:
    titles = [stage.studio.actions[which].text() for which in commands.LANGUAGES.values()]
    assert titles == ["System language", "English", "简体中文"]


def test_the_settings_switch_and_change_their_own_texts(stage: Any, chinese: None) -> None:
    stage.studio.actions.trigger("preferences")
    dialog = stage.window.findChild(PreferencesDialog)
    assert dialog.windowTitle() == "Settings"
    dialog.languages.buttons["zh_CN"].click()
    assert dialog.windowTitle() == "设置"
    assert stage.session.preferences.language == "zh_CN"
    dialog.languages.buttons["en"].click()
    assert dialog.windowTitle() == "Settings"


def test_a_second_window_follows(stage: Any, qapp: QApplication, tmp_path: Path, chinese: None) -> None:
    other = Stage(qapp, tmp_path / "other")
    try:
        stage.studio.actions.trigger("language_chinese")
        assert other.studio.settings_panel.find_rate.text() == "查找学习率…"
        assert other.studio.actions[commands.LANGUAGES["zh_CN"]].isChecked()
        assert other.session.preferences.language == "zh_CN"  # else it would write what it had
    finally:
        other.close()


def test_a_window_begins_in_the_language_of_the_preferences(
    qapp: QApplication, tmp_path: Path, chinese: None
) -> None:
    preferences_path().parent.mkdir(parents=True, exist_ok=True)
    preferences_path().write_text(json.dumps({"version": 1, "language": "zh_CN"}))
    made = Stage(qapp, tmp_path / "runs")
    try:
        assert made.studio.settings_panel.find_rate.text() == "查找学习率…"
    finally:
        made.close()


def test_switching_back_and_forth_adds_no_translators(stage: Any, qapp: QApplication, chinese: None) -> None:
    for name in ("language_chinese", "language_english") * 3:
        stage.studio.actions.trigger(name)
    assert len(qapp.findChildren(QTranslator)) == 2


def test_the_computer_is_asked_where_the_environment_names_no_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    assert language.languages_of_computer() == []
    monkeypatch.setattr(sys, "platform", "darwin")
    assert language.languages_of_computer()
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert language.languages_of_computer() == ["zh_CN.UTF-8"]


def test_a_button_of_a_widget_that_is_not_ours_is_translated_too(qapp: QApplication, chinese: None) -> None:
    language.begin_language(qapp, "zh_CN")
    assert QPushButton().tr("Settings") == "设置"


def test_importing_the_window_reads_no_catalogue() -> None:
    code = "import sys, studio.app; print('resources.words.catalogue' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
