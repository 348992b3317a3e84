"""No import circles in studio and widgets, and the script that counts them finds one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arch.import_circles import import_circles


def test_studio_and_widgets_have_no_circles() -> None:
    assert import_circles("studio", "widgets") == []


def test_a_circle_through_a_function_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "circular_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from circular_package import two\n")
    (package / "two.py").write_text("from circular_package import three\n")
    (package / "three.py").write_text("def late():\n    from circular_package import one\n")
    (package / "four.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from circular_package import one\n"
        "if TYPE_CHECKING:\n"
        "    import circular_package.four\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert import_circles("circular_package") == [
        ["circular_package.one", "circular_package.three", "circular_package.two"]
    ]
