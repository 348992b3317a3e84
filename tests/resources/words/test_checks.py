"""A translation is refused where it could be formatted otherwise than its source, or hides something."""

from __future__ import annotations

import pytest

from resources.words.checks import problem_of

FINE = [
    ("Open", "打开"),
    ("Saved: {0}", "已保存：{0}"),
    ("{0} of {1}", "{1} 中的 {0}"),
    ("{0} and {0}", "两次 {0}"),
    ("{name:.2f}", "{name:.2f}！"),
    ("{} and {}", "{}和{}"),
    ("a dict {{'beta1': 0.9}} of {0}", "字典 {{'beta1': 0.9}}：{0}"),
    ("100 % of {0}", "{0} 的 100 %"),
    ("<b>Bold</b> text", "<b>粗</b>体"),
    ("[bold]x[/bold] of [1, 28]", "[bold]叉[/bold]：[1, 28]"),
    ("[default: {}]", "[默认：{}]"),
    ("two\nlines", "两\n行"),
    ("&File", "文件(&F)"),
]
WRONG = [
    ("Open", "打开 {0}", "has other placeholders than its source: {0}"),
    ("Open", "{", "has other placeholders than its source: {"),
    ("Open", "打开 {0.__class__}", ""),
    ("Saved: {0}", "已保存", "has other placeholders than its source: {0}"),
    ("Saved: {0}", "{0.__class__.__mro__}", ""),
    ("Saved: {0}", "{0!r}", ""),
    ("Saved: {0}", "{0:>99999999999}", ""),
    ("Saved: {0}", "{0} {1}", "has other placeholders than its source: {1}"),
    ("Saved: {0}", "{0} {", ""),
    ("{} and {}", "{} {} {}", ""),
    ("{{x}}", "{x}", "has other braces than its source"),
    ("Open", "%s", "has other percent signs than its source"),
    ("%p%", "%v", "has other percent signs than its source"),
    ("Open", "<img src='file:///etc/passwd'>", "has other tags than its source"),
    ("Open", "<a href=x", "has other tags than its source"),
    ("Open", "[/bold]", "has other tags than its source"),
    ("Open", "[link=x]y", "has other tags than its source"),
    ("Open", "打\u202e开", "has the invisible character U+202E"),
    ("Open", "\ufffd", "has the invisible character U+FFFD"),
    ("Open", "a\x1b[31m", "has the invisible character U+001B"),
    ("Open", "a\u200b", "has the invisible character U+200B"),
    ("Open", "one\ntwo", "has a line break that its source lacks"),
    ("Open", "x" * 100_000, "is 100,000 characters long for 4"),
]


@pytest.mark.parametrize(("source", "translation"), FINE)
def test_a_translation_with_the_marks_of_its_source_is_taken(source: str, translation: str) -> None:
    assert problem_of(source, translation) == ""


@pytest.mark.parametrize(("source", "translation", "problem"), WRONG)
def test_a_translation_with_other_marks_is_refused(source: str, translation: str, problem: str) -> None:
    found = problem_of(source, translation)
    assert found
    assert found == (problem or found)


def test_a_form_of_a_plural_may_omit_the_number_but_not_have_others() -> None:
    assert problem_of("{0} files", "一个文件", may_omit=True) == ""
    assert problem_of("{0} files", "{1} 个文件", may_omit=True)
    assert problem_of("{0} files", "一个文件")
