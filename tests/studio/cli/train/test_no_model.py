"""``model-studio train`` with a model that is none: no folder is made for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from studio.cli import app


@pytest.mark.parametrize("name", ["own.py", "own.py:", "lenet5", "absent.py:Net"])
def test_a_model_that_is_none_leaves_no_folder(bars: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "own.py").write_text("")
    out = tmp_path / "deep" / "run"
    model = str(tmp_path / name) if ".py" in name else name
    words = ["train", "--data", bars, "--model", model, "--out", out]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 1
    assert done.stderr.startswith("model: ")
    assert not out.parent.exists()
