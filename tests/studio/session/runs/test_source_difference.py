"""Two sources side by side: which lines belong together, and what differs in them."""

from __future__ import annotations

from studio.session.runs.source_difference import PairedLine, paired_lines, unified_difference

BEFORE = {"net.py": "a = 1\nb = 2\nc = 3\n", "same.py": "x\n", "old.py": "gone\n"}
AFTER = {"net.py": "a = 1\nb = 25\nnew = 0\nc = 3\n", "same.py": "x\n"}


def test_lines_that_belong_together_are_at_one_height() -> None:
    assert paired_lines(BEFORE, AFTER) == [
        PairedLine("file", left_text="net.py", right_text="net.py"),
        PairedLine("same", 1, 1, "a = 1", "a = 1"),
        PairedLine("changed", 2, 2, "b = 2", "b = 25", (), ((5, 6),)),
        PairedLine("added", right=3, right_text="new = 0"),
        PairedLine("same", 3, 4, "c = 3", "c = 3"),
        PairedLine("file", left_text="old.py"),
        PairedLine("removed", left=1, left_text="gone"),
    ]


def test_equal_sources_have_no_lines() -> None:
    assert paired_lines(BEFORE, BEFORE) == []
    assert unified_difference(BEFORE, BEFORE) == ""
    assert paired_lines({"a": "x"}, {"a": "x\n"}) == []  # the newline at the end


def test_lines_with_little_in_common_differ_as_a_whole() -> None:
    (_, line) = paired_lines({"a": "import numpy"}, {"a": "return 3 * 4 + y"})
    assert (line.kind, line.left_spans, line.right_spans) == ("changed", (), ())


def test_an_empty_file_that_is_new_is_named() -> None:
    assert paired_lines({}, {"empty.py": ""}) == [PairedLine("file", right_text="empty.py")]


def test_a_very_long_line_is_compared_as_a_whole() -> None:
    (_, line) = paired_lines({"a": "x" * 10**5}, {"a": "x" * 10**5 + "y"})
    assert line.left_spans == line.right_spans == ()
