"""One lookup for all texts, the language that holds, and what follows a change of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources import words
from resources.words.catalogue import Catalogue, catalogue_of, read_catalogue
from resources.words.languages import LANGUAGES, computer_languages, language_for
from resources.words.po_file import Entry, read_po

TEXTS = Catalogue(
    [
        Entry("Open", ["打开"]),
        Entry("Open", ["开放"], context="state"),
        Entry("1 file", ["{0} 个文件"], plural="{0} files"),
    ]
)


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    words.use_language("en")


def test_english_is_as_written() -> None:
    assert words.language() == "en"
    assert (words.tr("Open"), words.tr("Open", "state"), words.shown("Open")) == ("Open",) * 3
    assert [words.plural("1 file", "{0} files", number) for number in (0, 1, 2)] == [
        "{0} files",
        "1 file",
        "{0} files",
    ]


def test_a_text_is_found_in_its_context_and_without_one() -> None:
    words.use_catalogue("zh_CN", TEXTS)
    assert words.language() == "zh_CN"
    assert words.tr("Open") == "打开"
    assert words.tr("Open", "state") == "开放"
    assert words.tr("Open", "another") == "打开"
    assert words.tr("Close") == "Close"
    assert words.marked("Open") == "Open"
    assert [words.plural("1 file", "{0} files", number) for number in (1, 2)] == ["{0} 个文件"] * 2


def test_plural_forms_are_chosen_by_the_rule_of_the_file() -> None:
    rule = (
        "nplurals=3;"
        " plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
    )
    entry = (
        'msgid "1 file"\nmsgid_plural "{0} files"\nmsgstr[0] "{0} a"\nmsgstr[1] "{0} b"\nmsgstr[2] "{0} c"\n'
    )
    texts = catalogue_of(read_po(f'msgid ""\nmsgstr "Plural-Forms: {rule}\\n"\n\n{entry}'))
    found = [texts.find_plural("1 file", "{0} files", number) for number in (1, 2, 5, 11, 21, 22, -1)]
    assert found == ["{0} a", "{0} b", "{0} c", "{0} c", "{0} a", "{0} b", "{0} a"]


@pytest.mark.logs
@pytest.mark.parametrize("rule", ["__import__('os')", "n%", "n%0", "(" * 900 + "n" + ")" * 900, "7"])
def test_a_wrong_plural_rule_leaves_a_text(rule: str) -> None:
    entry = 'msgid "1 file"\nmsgid_plural "{0} files"\nmsgstr[0] "{0} a"\n'
    texts = catalogue_of(
        read_po(f'msgid ""\nmsgstr "Plural-Forms: nplurals=1; plural={rule};\\n"\n\n{entry}')
    )
    words.use_catalogue("zh_CN", texts)
    assert words.plural("1 file", "{0} files", 2) in ("{0} a", "{0} files")


def test_followers_are_called_at_a_change_until_they_end_that() -> None:
    seen = []
    end = words.follow_language(lambda: seen.append(words.language()))
    words.use_catalogue("zh_CN", TEXTS)
    words.use_language("en")
    words.use_language("en")
    end()
    end()
    words.use_catalogue("zh_CN", TEXTS)
    assert seen == ["zh_CN", "en"]


def test_the_language_of_the_computer_or_an_unknown_one() -> None:
    assert words.use_language("system", ["zh_CN.UTF-8"]) == "zh_CN"
    assert words.use_language("system", ["tlh"]) == "en"
    assert words.use_language("zh_CN") == "zh_CN"
    assert words.use_language("tlh") == "en"
    assert words.use_language("../../etc/passwd") == "en"


def test_names_of_the_system_lead_to_our_languages() -> None:
    chinese = ["zh_CN", "zh_CN.UTF-8", "zh-Hans-CN", "zh_Hans", "zh", "zh_SG.UTF-8", "zh_CN@pinyin"]
    assert {language_for([name]) for name in chinese} == {"zh_CN"}
    english = ["en_GB", "de_DE.UTF-8", "zh_TW", "zh-Hant-HK", "", "C", "_"]
    assert {language_for([name]) for name in english} == {"en"}
    assert language_for(["de_DE", "zh_CN"]) == "zh_CN"
    assert language_for(["en_US", "zh_CN"]) == "en"


def test_the_environment_is_read_as_gettext_does() -> None:
    assert computer_languages({}) == []
    assert computer_languages({"LANG": "C.UTF-8", "LANGUAGE": "zh_CN"}) == []
    assert computer_languages({"LANG": "de_DE.UTF-8", "LANGUAGE": "zh_CN:en"}) == [
        "zh_CN",
        "en",
        "de_DE.UTF-8",
    ]
    assert computer_languages({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}) == []
    assert computer_languages({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN"}) == ["zh_CN"]


@pytest.mark.parametrize("name", [each for each in LANGUAGES if each != "en"])
def test_the_catalogue_of_each_language_has_no_fault(name: str, caplog: pytest.LogCaptureFixture) -> None:
    assert read_catalogue(name) is not None
    assert caplog.messages == []


def test_a_hostile_file_gives_english_and_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faulty = {
        "Saved: {0}": "{0.__class__}",
        "Open": "\u202e",
        "Close": "x" * 100_000,
        "Fine": "好",
        "Field": "{",
    }
    text = "\n\n".join(f'msgid "{source}"\nmsgstr "{target}"' for source, target in faulty.items())
    (tmp_path / "zh_CN.po").write_bytes(text.encode() + b'\n\nmsgid "Byte"\nmsgstr "\xff\xfe"\n\nrubbish\n')
    texts = read_catalogue("zh_CN", tmp_path)
    assert texts is not None
    assert {each: texts.find(each) for each in (*faulty, "Byte")} == dict.fromkeys((*faulty, "Byte")) | {
        "Fine": "好"
    }
    assert caplog.messages == [
        "zh_CN.po: 6 faults; English is shown for them;"
        " line 19: neither a keyword with its text nor a comment"
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "zh_CN.po: it has no translation: English is shown"),
        (
            'msgid "Open {0}"\nmsgstr "{1}"\n',
            "zh_CN.po: 1 fault; English is shown for them; line 1: the translation has other placeholders",
        ),
    ],
)
def test_an_empty_file_and_a_single_fault_are_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, line: str
) -> None:
    (tmp_path / "zh_CN.po").write_text(text)
    assert read_catalogue("zh_CN", tmp_path) is not None
    assert [message[: len(line)] for message in caplog.messages] == [line]


def test_a_catalogue_is_read_once_and_again_after_a_change(tmp_path: Path) -> None:
    path = tmp_path / "zh_CN.po"
    path.write_text('msgid "Open"\nmsgstr "打开"\n', encoding="utf-8")
    first = read_catalogue("zh_CN", tmp_path)
    assert read_catalogue("zh_CN", tmp_path) is first
    path.write_text('msgid "Open"\nmsgstr "打开文件"\n', encoding="utf-8")
    again = read_catalogue("zh_CN", tmp_path)
    assert again is not None
    assert again.find("Open") == "打开文件"


def test_a_missing_or_far_too_long_file_gives_english_and_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert read_catalogue("zh_CN", tmp_path) is None
    with (tmp_path / "zh_CN.po").open("wb") as file:
        file.truncate(10**9)
    assert read_catalogue("zh_CN", tmp_path) is None
    assert len(caplog.messages) == 2
    assert "zh_CN.po: no translations: " in caplog.messages[1]
    assert "at most 8,000,000 are read" in caplog.messages[1]


def test_english_reads_no_catalogue() -> None:
    code = (
        "import sys; from resources import words; words.tr('a'); words.shown('b'); words.use_language('en');"
        "print([name for name in sys.modules if name.startswith('resources.words.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['resources.words.languages']"
