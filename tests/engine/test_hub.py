"""``paddle.hub``: entry points of a folder's hubconf.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import engine as paddle
from engine.core.errors import ArgumentError, HubError

CONFIGURATION = '''
import engine as paddle
from sizes_of_hub_test import WIDTH

dependencies = ["numpy"]


def line(inputs=2):
    """A layer of WIDTH outputs."""
    return paddle.nn.Linear(inputs, WIDTH)


def _hidden():
    return None
'''


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    (tmp_path / "hubconf.py").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "sizes_of_hub_test.py").write_text("WIDTH = 5\n", encoding="utf-8")
    yield str(tmp_path)
    sys.modules.pop("sizes_of_hub_test", None)


def test_list_help_load(folder: str) -> None:
    before = sys.path.copy()
    assert paddle.hub.list(folder, source="local") == ["line"]
    assert paddle.hub.help(folder, "line", source="local") == "A layer of WIDTH outputs."
    assert paddle.hub.load(folder, "line", source="local").weight.shape == [2, 5]
    assert paddle.hub.load(folder, "line", source="local", inputs=3).weight.shape == [3, 5]
    assert sys.path == before
    assert "hubconf" not in sys.modules


def test_refusals(folder: str, tmp_path: Path) -> None:
    with pytest.raises(HubError, match="has no function '_no'"):
        paddle.hub.load(folder, "_no", source="local")
    with pytest.raises(ArgumentError, match="model is the name of an entry point: got 3"):
        paddle.hub.help(folder, 3, source="local")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="source 'svn' is not one of github, gitee, local"):
        paddle.hub.list(folder, source="svn")
    with pytest.raises(HubError, match=r"nothing is downloaded here: got 'a/b' of github; clone it"):
        paddle.hub.list("a/b")
    with pytest.raises(HubError, match=r"hubconf\.py does not exist") as caught:
        paddle.hub.list(str(tmp_path / "none"), source="local")
    assert isinstance(caught.value, RuntimeError)
    configuration = tmp_path / "hubconf.py"
    configuration.write_text("dependencies = ['no_such_package']\ndef f(): return 1\n", encoding="utf-8")
    with pytest.raises(HubError, match="packages are missing: no_such_package"):
        paddle.hub.load(folder, "f", source="local")
    configuration.write_text("import no_such_package\n", encoding="utf-8")
    with pytest.raises(HubError, match="can't be imported: No module named 'no_such_package'"):
        paddle.hub.list(folder, source="local")
