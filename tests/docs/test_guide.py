"""The examples of the guide on static graphs run as they stand, one after the other."""

import re
from pathlib import Path

import pytest

import engine as paddle
from engine import static
from engine.core import names

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"


def test_the_page_on_static_graphs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (GUIDE / "static-graphs.md").read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    try:
        programs = static.program_guard(static.Program(), static.Program())
        with names.guard(), programs, static.scope_guard(static.Scope()):
            for block in blocks:
                exec(block, scope)
    finally:
        paddle.disable_static()
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.glob("*/*")) == [
        "checkpoint/lenet.pdmodel", "checkpoint/lenet.pdopt", "checkpoint/lenet.pdparams",
        "inference/lenet.pdiparams", "inference/lenet.pdiparams.info", "inference/lenet.pdmodel",
    ]  # fmt: skip
    assert len(paddle.jit.load("inference/lenet").info["classes"]) == 10
