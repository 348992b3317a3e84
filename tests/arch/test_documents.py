"""What the pages show exists: commands, options, Python names, modules, files, links, marked commands."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pydoc
import re
import shlex
from functools import cache
from pathlib import Path

import pytest
import typer

from engine.core.alias import real_name
from studio import cli
from tests.docs.recipes import recipes

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(
        ROOT / name
        for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]
# The code of a translation is that of its English page: tests/docs/test_guide_pages.py.
WITH_CODE = [page for page in PAGES if page.parent.parent.name != "guide"]


def _fenced(page: Path, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"))


def _commands() -> list[str]:
    lines = [line for page in WITH_CODE for block in _fenced(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("model-studio ")]


@pytest.mark.parametrize("line", _commands())
def test_commands_and_options_exist(line: str) -> None:
    commands = typer.main.get_command(cli.app).commands
    _, name, *words = shlex.split(line)
    assert name in commands
    known = {option for taken in commands[name].params for option in (*taken.opts, *taken.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known


def test_python_examples_use_names_that_exist() -> None:
    # The recipes make new modules: they are carried out in tests/docs/test_recipes.py.
    pages = [page for page in WITH_CODE if page.parent.name != "recipes"]
    blocks = [block for page in pages for block in _fenced(page, "python")]
    seen = 0
    for block in blocks:
        aliases = {"paddle": "engine"}
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Import):
                aliases.update({alias.asname or alias.name: alias.name for alias in node.names})
            elif isinstance(node, ast.ImportFrom):
                module = importlib.import_module(real_name(node.module or ""))
                assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)
            elif isinstance(node, ast.Attribute):
                first, *path = ast.unparse(node).split(".")
                if first not in aliases or not all(part.isidentifier() for part in path):
                    continue
                found = importlib.import_module(real_name(aliases[first]))
                for part in path:
                    found = getattr(found, part)
                    seen += 1
    assert seen > 20


each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
TOPS = "engine|studio|widgets|resources|tests|docs|bench|packaging"
# Names in capital letters stand for any: tests/TEST_NAME.py, engine.X.
PLACEHOLDER = re.compile(r"\b(?:X|[A-Z]{4,})\b")


@cache
def _files() -> frozenset[str]:
    """Every file and folder of the repository, without what Python and tools leave there."""
    found = (path.relative_to(ROOT) for top in TOPS.split("|") for path in (ROOT / top).rglob("*"))
    return frozenset(
        {path.as_posix() for path in found if "__pycache__" not in path.parts} | {*TOPS.split("|")}
    )


@each_page
def test_files_that_are_named_exist(page: Path) -> None:
    """In full from the top, or by the end of the path (``backward/walk.py``)."""
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(rf"`((?:{TOPS})/[\w./-]+|[\w-]+(?:/[\w-]+)*/[\w-]+\.py)`", text))
    made = {step.path for steps in recipes().values() for step in steps}  # by the recipes
    named = {path.rstrip("/") for path in named if not PLACEHOLDER.search(path)} - made
    assert [path for path in sorted(named) if not any(f"/{f}".endswith(f"/{path}") for f in _files())] == []


def _is_there(name: str) -> bool:
    """Whether ``name`` is a module (which need not be importable here), or an attribute of one."""
    outer, _, last = name.rpartition(".")
    if not outer or not _is_there(outer):
        return not outer
    try:
        if importlib.util.find_spec(name) is not None:
            return True
    except ModuleNotFoundError:  # the outer one is not a package
        pass
    return hasattr(pydoc.locate(outer), last)


def test_modules_that_are_named_exist() -> None:
    contracts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    missing = []
    for page in PAGES:
        for name in re.findall(rf"`((?:{TOPS})(?:\.\w+)+)`", page.read_text(encoding="utf-8")):
            to_come = f'"({name.rpartition(".")[2]})"' in contracts  # a room that only its contract knows yet
            if not (PLACEHOLDER.search(name) or to_come or name.endswith(".py") or _is_there(name)):
                missing.append(f"{page.relative_to(ROOT)}: {name}")
    assert missing == []


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


DECISIONS = ROOT / "docs" / "decisions"
MENTIONED = re.compile(r"\b[Dd]ecisions?[ \n](?:# )?(\d{1,4}(?:(?:, and |, | and )\d{1,4})*)\b")


def _sections() -> dict[str, tuple[str, str]]:
    """The page and the heading of each number that has an anchor."""
    found = {}
    for page in sorted(DECISIONS.glob("*.md")):
        for anchors, heading in re.findall(
            r"(?m)^((?:<a id=\"\d{4}\"></a>)+)\n## (.*)$", page.read_text(encoding="utf-8")
        ):
            for number in re.findall(r"\d{4}", anchors):
                assert number not in found, f"decision {number} has two sections"
                found[number] = (page.name, heading)
    return found


def test_the_index_of_decisions_has_each_section_and_no_other() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\[(\d{4})\]\(([\w-]+\.md)#(\d{4})\)", index)
    assert all(number == anchor for number, _, anchor in links)
    sections = _sections()
    assert {number: page for number, page, _ in links} == {n: page for n, (page, _) in sections.items()}
    for number, (_, heading) in sections.items():
        title = heading.partition(" · ")[2]
        (line,) = [line for line in index.splitlines() if f"[{number}](" in line]
        assert line.endswith(f": {title}"), number


def test_decisions_that_are_mentioned_exist() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    known = {int(number) for number in (*_sections(), *re.findall(r"(?m)^- (\d{4}): ", index))}
    assert known == set(range(1, max(known) + 1))  # none is lost
    files = [*PAGES, ROOT / "pyproject.toml", *(ROOT / name for name in _files() if name.endswith(".py"))]
    mentioned = {
        (int(number), path.relative_to(ROOT).as_posix())
        for path in files
        for group in MENTIONED.findall(path.read_text(encoding="utf-8"))
        for number in re.findall(r"\d+", group)
    }
    assert len(mentioned) > 20
    assert sorted((number, path) for number, path in mentioned if number not in known) == []


@each_page
def test_links_to_sections_lead_somewhere(page: Path) -> None:
    """Links with ``#``: to the anchor of a decision, or to a heading."""
    missing = []
    for file, anchor in re.findall(r"\]\(([^):#]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        target = (page.parent / file) if file else page
        text = target.read_text(encoding="utf-8")
        headings = {
            re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"(?m)^#+ (.*)$", text)
        }
        if f'<a id="{anchor}">' not in text and anchor not in headings:
            missing.append(f"{file}#{anchor}")
    assert missing == []


def test_the_readme_marks_its_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, must in {"system-libraries": "sudo apt install ", "test-command": "python3 -m venv "}.items():
        block = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0].strip().splitlines()
        assert (block[0], block[-1], len(block)) == ("```sh", "```", 3)
        assert block[1].startswith(must)
