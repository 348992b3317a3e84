"""ARCHITECTURE.md names the rooms of the import contracts, in their order, and no others."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {contract["id"]: contract for contract in SETTINGS["tool"]["importlinter"]["contracts"]}


def rooms_of(contract: str) -> list[str]:
    """The rooms that a contract of layers places, highest first, with the package they stand in."""
    found = CONTRACTS[contract]
    (package,) = found.get("containers", [""])
    names = [name.strip(" ()") for layer in found["layers"] for name in layer.split("|")]
    return [f"{package}.{name}".strip(".") for name in names]


def exists(room: str) -> bool:
    path = ROOT.joinpath(*room.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def tables(heading: str) -> list[list[str]]:
    """The names in the first column of each table under a heading, a list for each sub-heading."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = [re.findall(r"^\| `([\w.]+)` \|", part, re.MULTILINE) for part in section.split("\n### ")]
    return [rooms for rooms in found if rooms]


LAYERED = [
    ("house", "Packages"),
    ("engine", "Rooms of the engine"),
    ("program", "Rooms of engine.program"),
    ("studio", "Rooms of the studio"),
]


@pytest.mark.parametrize(("contract", "heading"), LAYERED)
def test_the_tables_are_the_contracts(contract: str, heading: str) -> None:
    """All rooms, each once, and in each table in the contract's order (a section may have several tables)."""
    order = [room for room in rooms_of(contract) if exists(room)]
    found = tables(heading)
    assert sorted(room for rooms in found for room in rooms) == sorted(order)
    for rooms in found:
        assert rooms == [room for room in order if room in rooms]


def test_only_the_engine_is_shown_in_groups() -> None:
    assert [heading for _, heading in LAYERED if len(tables(heading)) > 1] == ["Rooms of the engine"]


def test_every_contract_of_layers_has_a_table() -> None:
    layered = [name for name, contract in CONTRACTS.items() if contract["type"] == "layers"]
    assert sorted(layered) == sorted(contract for contract, _ in LAYERED)


def test_rooms_to_come_are_said_to_be_absent() -> None:
    said = " ".join(re.findall(r"rooms? that (?:are|is) not there yet: (.*?)\.\n", PAGE))
    absent = [room for contract, _ in LAYERED for room in rooms_of(contract) if not exists(room)]
    assert [f"engine.{name}" for name in re.findall(r"`(\w+)`", said)] == absent


def test_facades_and_files_that_are_named_exist() -> None:
    paths = re.findall(r"`((?:engine|studio|widgets|tests|docs)(?:/[\w.]+)+)`", PAGE)
    assert len(paths) >= 4
    assert [path for path in paths if not (ROOT / path).exists()] == []
    modules = re.findall(r"`((?:engine|studio)(?:\.\w+)+)`", PAGE)
    missing = [name for name in modules if not exists(name)]
    assert [name for name in missing if importlib.util.find_spec(name.rpartition(".")[0]) is None] == []


def test_forbidden_imports_are_listed() -> None:
    for contract in CONTRACTS.values():
        if contract["type"] == "forbidden":
            assert any(module in PAGE for module in contract["forbidden_modules"]), contract["id"]
