"""What the README and the guide show exists: commands and options, Python names, links, marked commands."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from pathlib import Path

import pytest
import typer

from studio import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def _fenced(page: Path, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"))


def _commands() -> list[str]:
    lines = [line for page in PAGES for block in _fenced(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("model-studio ")]


@pytest.mark.parametrize("line", _commands())
def test_commands_and_options_exist(line: str) -> None:
    commands = typer.main.get_command(cli.app).commands
    _, name, *words = shlex.split(line)
    assert name in commands
    known = {option for taken in commands[name].params for option in (*taken.opts, *taken.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known


def test_python_examples_use_names_that_exist() -> None:
    # The recipes of CONTRIBUTING.md make new modules: they are carried out in tests/docs/test_recipes.py.
    pages = [page for page in PAGES if page.name != "CONTRIBUTING.md"]
    blocks = [block for page in pages for block in _fenced(page, "python")]
    seen = 0
    for block in blocks:
        aliases = {"paddle": "engine"}
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Import):
                aliases.update({alias.asname or alias.name: alias.name for alias in node.names})
            elif isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module or "")
                assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)
            elif isinstance(node, ast.Attribute):
                first, *path = ast.unparse(node).split(".")
                if first not in aliases or not all(part.isidentifier() for part in path):
                    continue
                found = importlib.import_module(aliases[first])
                for part in path:
                    found = getattr(found, part)
                    seen += 1
    assert seen > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


def test_the_readme_marks_its_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, must in {"system-libraries": "sudo apt install ", "test-command": "python3 -m venv "}.items():
        block = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0].strip().splitlines()
        assert (block[0], block[-1], len(block)) == ("```sh", "```", 3)
        assert block[1].startswith(must)
