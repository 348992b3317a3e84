"""The catalogues have all texts that the sources have, and no others; see ``python -m docs.words``."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from docs.words.collecting import Collected, collect_source, collected
from docs.words.updating import catalogue_files, read, take, text_of, updated
from resources.families import FAMILIES
from resources.settings import RUN_SETTINGS
from resources.words.catalogue import entry_problem
from resources.words.po_file import Entry, PoFile


@pytest.fixture(scope="module")
def found() -> Collected:
    return collected()


def test_no_text_is_joined_from_pieces(found: Collected) -> None:
    assert found.faults == []


@pytest.mark.parametrize("language", catalogue_files())
def test_a_catalogue_has_the_texts_of_the_sources(found: Collected, language: str) -> None:
    path = catalogue_files()[language]
    file = read(path)
    assert file.problems == []
    # test_messages.py looks into the engine.
    plain = [each for each in file.entries if not (each.context or each.plural or each.unused)]
    messages = {each.text: each.files for each in plain}
    change = updated(file, found.texts, messages)
    assert change.absent == [], "run python -m docs.words"
    assert change.unused == [], "run python -m docs.words"
    assert path.read_text(encoding="utf-8") == text_of(file, language), "run python -m docs.words"


@pytest.mark.parametrize("language", catalogue_files())
def test_each_translation_has_the_placeholders_of_its_source(language: str) -> None:
    entries = read(catalogue_files()[language]).entries
    wrong = {entry.text: problem for entry in entries if (problem := entry_problem(entry))}
    assert wrong == {}


@pytest.mark.parametrize("language", catalogue_files())
def test_each_text_of_window_commands_and_settings_is_translated(language: str) -> None:
    """The help of the command line may be in English; messages of engine and session, too."""
    entries = read(catalogue_files()[language]).entries
    assert [entry.text for entry in entries if _is_of_window(entry) and not entry.translated] == []


def _is_of_window(entry: Entry) -> bool:
    return any(not file.startswith("studio/cli/") for file in entry.files)


def test_known_texts_of_each_kind_are_collected(found: Collected) -> None:
    texts = {key[0]: files for key, files in found.texts.items()}
    for text, file in {
        "Saved: {0}": "studio/app.py",
        "Open project…": "studio/session/commands.py",
        "Keep it": "studio/controllers/code/code_controller.py",
        "Best weights": "resources/settings/export.py",
        "Decay rate of the running means.": "resources/settings/rules.json",
        "Exporting {0}": "studio/session/export/export_job.py",
        "Print JSON, one object a line, and nothing else.": "studio/cli/options.py",
        "inputs and outputs": "studio/session/export/model_differences.py",
    }.items():
        assert file in texts[text]
    assert "Studio" not in texts  # a context of Qt's


SOURCE = """
from PySide6.QtCore import QCoreApplication
from resources.words import marked, plural
NAMES = {"a": "Name A", "b": "Name B"}
HEAD = "Head"

class Page:
    def show(self, other, kind):
        tr = self.tr
        tr("Plain" " text")
        self.tr("Open", "a state")
        other.tr("One" if kind else "Two")
        tr(NAMES[kind])
        self.tr(HEAD)
        QCoreApplication.translate("Context", "Translated")
        plural("1 file", "{0} files", kind)
        marked("Later")

def words():
    tr = QCoreApplication.translate
    tr("Context", "In an alias")

def with_parameter(tr):
    tr("Of a parameter")
"""


def test_texts_are_found_where_they_are_written() -> None:
    found = Collected()
    collect_source(SOURCE, "studio/page.py", found)
    plain = "Plain text|One|Two|Name A|Name B|Head|Translated|Later|In an alias|Of a parameter"
    expected = {(text, "", "") for text in plain.split("|")}
    expected |= {("Open", "", "a state"), ("1 file", "{0} files", "")}
    assert set(found.texts) == expected
    assert found.faults == []


@pytest.mark.parametrize(
    "call",
    ['tr(f"a {x}")', 'tr("a" + x)', 'tr("a {0}".format(x))', 'tr("a" if x else f"{x}")', 'tr("a %s" % x)'],
)
def test_a_text_that_is_joined_from_pieces_is_a_fault(call: str) -> None:
    found = Collected()
    ast.parse(call)
    collect_source(f"x = 1\n{call}\n", "studio/page.py", found)
    assert [fault.partition(": joined")[0] for fault in found.faults] == ["studio/page.py:2"]


def test_an_update_adds_marks_and_revives() -> None:
    file = PoFile(entries=[Entry("gone", ["weg"]), Entry("never done"), Entry("back", ["da"], unused=True)])
    change = updated(file, {("new", "", ""): {"b.py", "a.py"}, ("back", "", ""): {"c.py"}}, {})
    assert (change.absent, change.unused) == (["new", "back"], ["gone", "never done"])
    assert {entry.text: entry.unused for entry in file.entries} == {"gone": True, "back": False, "new": False}
    assert [entry.files for entry in file.entries if entry.text == "new"] == [("a.py", "b.py")]
    assert text_of(file, "zh_CN").endswith('#~ msgid "gone"\n#~ msgstr "weg"\n')


def test_both_sides_of_a_conflict_are_read(tmp_path: Path) -> None:
    path = tmp_path / "zh_CN.po"
    theirs = 'msgstr "甲"\n\nmsgid "b"\nmsgstr "乙"\n>>>>>>> theirs\n'
    sides = f'msgid "a"\n<<<<<<< ours\nmsgstr ""\n{{}}=======\n{theirs}'
    for common in ("", '||||||| base\nmsgstr ""\n'):
        path.write_text(sides.replace("{}", common) + '\nmsgid "c"\nmsgstr "丙"\n', encoding="utf-8")
        file = read(path)
        assert file.problems == []
        assert {entry.text: entry.forms for entry in file.entries} == {"a": ["甲"], "b": ["乙"], "c": ["丙"]}


def test_taken_translations_are_checked() -> None:
    file = PoFile(entries=[Entry("Saved: {0}"), Entry("Open", context="state"), Entry("a|b")])
    new = {"Saved: {0}": "好 {1}", "state|Open": "开放", "a|b": "甲|乙", "unknown": "x", "m {0}": "{0} 个"}
    problems = take(file, new, {"m {0}": {"engine/a.py"}})
    assert [each.partition(":")[0] for each in problems] == [
        "has other placeholders than its source",
        "no such text",
    ]
    assert [entry.forms for entry in file.entries] == [[], ["开放"], ["甲|乙"], ["{0} 个"]]


def test_the_help_of_the_model_names_the_built_in_networks() -> None:
    # Written out there: a text that is joined has no translation.
    assert f"; {', '.join(FAMILIES)}; " in RUN_SETTINGS["model"].help


def test_the_catalogues_are_in_the_package() -> None:
    for path in catalogue_files().values():
        assert path.is_file()
        assert path.parent == Path(__file__).resolve().parents[2] / "resources" / "words"
