"""docs/guide/paddle-scripts.md says what the tests know of Paddle's scripts."""

from __future__ import annotations

from pathlib import Path

from docs import paddle_scripts
from engine.core.alias.absent import ABSENT
from tests.differential.deviations import DEVIATIONS as OF_RANDOM_CALLS
from tests.engine.fluid.deviations import DEVIATIONS as OF_FLUID
from tests.oracle.deviations import DEVIATIONS as OF_RECORDED

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def test_the_page_is_current() -> None:
    text = paddle_scripts.PAGE.read_text(encoding="utf-8")
    assert text == paddle_scripts.page(), "run: python -m docs.paddle_scripts"


def test_the_page_begins_with_how_to_run_a_script() -> None:
    written, heading, _ = paddle_scripts.page().partition(paddle_scripts.FIRST)
    assert heading
    assert "model-studio run train.py" in written.partition("##")[0]


def test_the_page_has_every_script_and_every_reason() -> None:
    text = paddle_scripts.generated().replace("\\|", "|")
    for folder in ("fluid", "tutorials", "slim"):
        for path in (SCRIPTS / folder).rglob("*.py"):
            assert f"| `{path.stem}` |" in text
    reasons = [*OF_RECORDED.values(), *(each.reason for each in (*OF_FLUID, *OF_RANDOM_CALLS))]
    reasons += [why for names in ABSENT.values() for why in names.values()]
    assert [why for why in reasons if f"| {why} |" not in text] == []


def test_refused_calls_are_listed_as_refused() -> None:
    refused = paddle_scripts.generated().partition("## What is refused\n")[2]
    assert "an index out of range is refused; Paddle reads other memory" in refused
    assert "Paddle takes an axis that does not exist for the last; the engine refuses" in refused
    assert "Paddle counts the offset in bytes, the engine in elements" not in refused


def test_a_call_is_named_as_its_function_or_its_code() -> None:
    assert paddle_scripts.label_of("arranging:as_strided/offset") == "as_strided"
    assert paddle_scripts.label_of("subscripts:get3/none") == "x[[0, 1], None, :, [1, 2]]"
    assert paddle_scripts.label_of("static_shapes:m > 0") == "m > 0"
