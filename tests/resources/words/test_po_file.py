"""PO files are read as GNU gettext writes them; what is damaged is named and left out."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from resources.words.catalogue import catalogue_of
from resources.words.checks import problem_of
from resources.words.po_file import Entry, po_text, read_po

WRITTEN = r"""# Translations of a program.
msgid ""
msgstr ""
"Language: zh_CN\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#: studio/app.py
#: studio/windows/a.py studio/windows/b.py
msgid "Saved: {0}"
msgstr "已保存：{0}"

# A note.
#, fuzzy-not
#| msgid "before"
msgctxt "verb"
msgid "Open"
msgstr ""
"打"
"开"

msgid "1 file"
msgid_plural "{0} files"
msgstr[0] "一个文件"
msgstr[1] "{0} 个文件"

msgid "A \"word\"\tand\\\n"
msgstr "“词”\t和\\\n"

#~ msgid "Gone"
#~ msgstr "不在"
"""


def test_entries_have_text_context_plural_files_and_notes() -> None:
    found = read_po(WRITTEN)
    assert found.problems == []
    assert found.header == {"Language": "zh_CN", "Plural-Forms": "nplurals=2; plural=(n != 1);"}
    saved, verb, files, escaped, gone = found.entries
    assert (saved.text, saved.forms) == ("Saved: {0}", ["已保存：{0}"])
    assert saved.files == ("studio/app.py", "studio/windows/a.py", "studio/windows/b.py")
    assert (verb.text, verb.context, verb.forms) == ("Open", "verb", ["打开"])
    assert verb.notes == ("# A note.", "#, fuzzy-not")
    assert (files.text, files.plural, files.forms) == ("1 file", "{0} files", ["一个文件", "{0} 个文件"])
    assert (escaped.text, escaped.forms) == ('A "word"\tand\\\n', ["“词”\t和\\\n"])
    assert gone.unused
    assert gone.forms == ["不在"]
    assert WRITTEN.splitlines()[saved.line - 1].startswith(("#: ", "msgid"))


def test_a_written_file_reads_as_the_same_entries() -> None:
    first = read_po(WRITTEN)
    text = po_text(first.header, first.entries)
    again = read_po(text)
    assert again.problems == []
    assert again.header == first.header
    assert {each.key: each.forms for each in again.entries} == {
        each.key: each.forms for each in first.entries
    }
    assert po_text(again.header, again.entries) == text


def test_entries_are_sorted_and_parted_by_one_empty_line() -> None:
    text = po_text({}, [Entry("b", ["B"]), Entry("a"), Entry("c", ["C"], unused=True)])
    assert text.split("\n\n")[1:] == [
        'msgid "a"\nmsgstr ""',
        'msgid "b"\nmsgstr "B"',
        '#~ msgid "c"\n#~ msgstr "C"\n',
    ]


def test_line_ends_of_windows_and_entries_without_empty_lines_between_are_read() -> None:
    found = read_po('msgid "a"\r\nmsgstr "A"\r\nmsgid "b"\r\nmsgstr "B"\r\n# note\r\nmsgid "c"\r\nmsgstr "C"')
    assert [(each.text, each.forms) for each in found.entries] == [("a", ["A"]), ("b", ["B"]), ("c", ["C"])]
    assert found.problems == []


def test_a_damaged_entry_is_named_with_its_line_and_the_others_are_read() -> None:
    good = 'msgid "good {0}"\nmsgstr "gut {0}"\n\n'.format
    damaged = {
        'msgid "open\nmsgstr "x"': "line 4: neither a keyword with its text nor a comment",
        'msgid "a" b"\nmsgstr "x"': "line 4: a text that is not closed",
        "nonsense": "line 4: neither a keyword with its text nor a comment",
        '"alone"': "line 4: a text without its keyword",
        'msgid "no translation"': "line 4: an entry without msgid or msgstr",
        'msgstr "no source"': "line 4: an entry without msgid or msgstr",
        'msgid "a"\nmsgid "b"\nmsgstr "c"': "line 5: msgid twice",
        'msgid "good 1"\nmsgstr "again"': "line 4: a text for the second time",
        "\x00\x01\x02": "line 4: neither a keyword with its text nor a comment",
        'msgid "a\\': "line 4: neither a keyword with its text nor a comment",
    }
    for block, problem in damaged.items():
        found = read_po(good(1) + block + "\n\n" + good(2))
        assert [each.text for each in found.entries] == ["good 1", "good 2"], block
        assert found.problems == [problem], block


def test_a_text_of_many_characters_and_many_lines_is_read_at_once() -> None:
    long = "x" * 100_000
    found = read_po(f'msgid "a"\nmsgstr "{long}"\n\nmsgid "b"\nmsgstr ""\n' + '"y"\n' * 100_000)
    assert [each.forms for each in found.entries] == [[long], ["y" * 100_000]]
    assert read_po('"' * 100_000 + "\\" * 100_001).entries == []


def test_nothing_is_read_from_an_empty_file_or_from_other_text(tmp_path: Path) -> None:
    assert read_po("").entries == []
    found = read_po(Path(__file__).read_text(encoding="utf-8"))
    assert found.problems


@pytest.mark.logs
@pytest.mark.parametrize("seed", range(20))
def test_a_file_with_random_damage_is_read_without_an_error(seed: int) -> None:
    random = Random(seed)
    text = list(WRITTEN * 3)
    for _ in range(random.randrange(1, 40)):
        place = random.randrange(len(text))
        text[place : place + random.randrange(3)] = random.choice(
            ['"', "\\", "\n", "\n\n", "#~ ", "msgid ", "\0", "é"]
        )
    catalogue = catalogue_of(read_po("".join(text)))
    for source in ("Saved: {0}", "Open", "1 file"):
        found = catalogue.find(source)
        assert found is None or problem_of(source, found) == ""
