"""No import circles, but for types of one folder where there is a reason; and the script that counts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arch.import_circles import import_circles

# By their folder: the files of each circle that imports for types close, and why they need each other.
FOR_TYPES = {
    "engine.hapi": ("dynamic model static", "a Model trains eagerly or as a Program: the ways name it"),
    "engine.onnx.writes": (
        "blocks graph",
        "a graph of a region is written within the one that it belongs to",
    ),
    "engine.optimizer": (
        "optimizer static_step together",
        "an Optimizer updates parameter by parameter, or many at once, or in a Program: both ways name it",
    ),
    "engine.program.graph": (
        "delegates program variable",
        "a Block has Variables, a Variable has its Block; delegates take both",
    ),
    "engine.program.run": (
        "cuda_graph.replay explain failures inspected plan report",
        "what a Plan says of itself, and its replay, in files of their own: they name it",
    ),
}


@pytest.mark.parametrize("packages", [("studio", "widgets"), ("engine",), ("resources",)])
def test_there_are_no_circles(packages: tuple[str, ...]) -> None:
    assert import_circles(*packages) == []


def test_types_close_circles_of_one_folder_with_a_reason_only() -> None:
    found = import_circles("engine", types=True)
    allowed = [[f"{folder}.{name}" for name in names.split()] for folder, (names, _) in FOR_TYPES.items()]
    assert sorted(found) == sorted(allowed)  # a circle that is gone leaves this list


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


def test_a_circle_of_types_is_found_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "typed_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from typed_package import two\n")
    (package / "two.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from typed_package import one\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert import_circles("typed_package") == []
    assert import_circles("typed_package", types=True) == [["typed_package.one", "typed_package.two"]]
