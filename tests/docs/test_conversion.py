"""The guide has a section for each pass, which the page Code links to."""

from __future__ import annotations

from pathlib import Path

from engine.jit.convert.passes import PASSES
from engine.program.passes.pipeline import PIPELINE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "conversion.md"


def test_each_pass_has_a_section_in_the_order_in_which_it_runs() -> None:
    found = [line[4:] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("### ")]
    over_program = list(dict.fromkeys(each.rewrite.__name__ for each in PIPELINE))
    assert found == [*(name for name, _ in PASSES), *over_program]
