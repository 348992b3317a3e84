"""Every recipe is carried out in a copy of the repository, and what it adds is used there."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.recipes import INDEX, ROOT, Step, carry_out, copy_repository, python, recipes, said

RECIPES = recipes()
WINDOWS = {"A widget or a chart", "A page of the studio", "A setting of an export", "A command of the studio"}
# What uses the recipes' results, and tests that look at everything there is; -k chooses among their rows.
TESTS = (
    "tests/docs/made_by_recipes.py",
    "tests/docs/test_settings.py",
    "tests/engine/training/rules/test_rules.py",
    "tests/engine/jit/convert/passes/test_passes.py",
    "tests/engine/program/passes/test_passes.py",
    "tests/engine/program/run/stages/test_fuse.py",
    "tests/engine/ops/test_repeat.py",
    "tests/arch/test_imports.py",
    "tests/arch/test_tree.py",
)
ROWS = (
    "made_by or test_settings or test_rules or test_repeat or squares or transposed or contracts or free"
    " or transpose_becomes"
)


def test_the_index_has_every_recipe() -> None:
    assert list(RECIPES) == [
        "An op",
        "An op with sub-blocks",
        "A kernel for a backend",
        "A conversion pass",
        "A Program pass",
        "A fusion in plans",
        "A layer",
        "An optimizer",
        "A name of fluid",
        "A widget or a chart",
        "A page of the studio",
        "A job of a child process",
        "A setting of an export",
        "A command of the studio",
        "A command of the command line",
        "A file format",
    ]
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/recipes").glob("*.md")}
    index = INDEX.read_text(encoding="utf-8")
    assert {page for page in pages if f"({page})" not in index} == set()
    assert len(pages) == len(RECIPES)
    assert all(steps and all(step.path or step.kind == "sh" for step in steps) for steps in RECIPES.values())


# How many files an addition touches, where the design promises it: more means that a table has been doubled.
FILES = {"A name of fluid": 1}


@pytest.mark.parametrize("title", FILES)
def test_an_addition_touches_as_few_files_as_promised(title: str) -> None:
    assert len({step.path for step in RECIPES[title]}) == FILES[title]


def test_a_recipe_that_does_not_fit_its_file_fails(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\nfour\n")
    carry_out(Step("a.py", "diff", " one\n-two\n+three\n@@\n four\n+five\n"), tmp_path)
    assert (tmp_path / "a.py").read_text() == "one\nthree\nfour\nfive\n"
    with pytest.raises(AssertionError, match=r"a\.py has not exactly one place"):
        carry_out(Step("a.py", "diff", " one\n-two\n+three\n"), tmp_path)
    with pytest.raises(AssertionError, match="exists already"):
        carry_out(Step("a.py", "python", "one\n"), tmp_path)


def test_a_page_counts_the_files_that_it_touches() -> None:
    counted = {title: _counted(title) for title in RECIPES}
    assert counted["A layer"] is not None
    touched = {title: len({step.path for step in steps if step.path}) for title, steps in RECIPES.items()}
    assert {title: n for title, n in counted.items() if n is not None and n != touched[title]} == {}


def _counted(title: str) -> int | None:
    """How many files a recipe says that it touches."""
    for page in (ROOT / "docs/recipes").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if text.startswith(f"# {title}\n") and (found := re.search(r"^Files touched: (\d+)", text, re.M)):
            return int(found[1])
    return None


def test_new_files_say_what_they_are_for() -> None:
    made = [step for steps in RECIPES.values() for step in steps if step.kind == "python"]
    assert [step.path for step in made if not ast.get_docstring(ast.parse(step.text))] == []


def _wrong_after(root: Path, title: str) -> str:
    """Why a recipe can't be carried out; nothing where it can."""
    try:
        for step in RECIPES[title]:
            carry_out(step, root)
    except (AssertionError, OSError) as error:
        return str(error)
    return ""


def _name(title: str) -> str:
    return "test_" + title.lower().replace(" ", "_").replace("-", "_")


# One copy and one process of pytest for all recipes: starting either costs more than most recipes do.
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_recipe_does_what_it_says(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    copy_repository(root)
    wrong = {title: _wrong_after(root, title) for title in RECIPES}

    changed = sorted({step.path for each in RECIPES.values() for step in each if step.path.endswith(".py")})
    for command in (("check",), ("format", "--check", "--diff")):
        done = python(root, "-m", "ruff", *command, "--no-cache", *changed)
        wrong[f"ruff {command[0]}"] = said(done) if done.returncode else ""

    window = importlib.util.find_spec("PySide6") is not None
    more, rows = (
        (("tests/widgets/test_all.py",), f"{ROWS} or gauge or every_widget") if window else ((), ROWS)
    )
    report = root / "report.xml"
    options = ("-q", "-n", "0", "-p", "no:cacheprovider", f"--junitxml={report}", "-k", rows)
    done = python(root, "-m", "pytest", *options, *TESTS, *more)
    wrong["pytest"] = said(done) if done.returncode else ""
    if any(wrong.values()):
        pytest.fail("\n\n".join(f"{title}: {why}" for title, why in wrong.items() if why), pytrace=False)

    # What ran, so that no choice by -k leaves a recipe out.
    ran = [case for case in ElementTree.parse(report).iter("testcase") if case.find("skipped") is None]
    names = " ".join(case.attrib["name"].partition("[")[0] for case in ran).split()
    used = {title: names.count(_name(title)) for title in RECIPES if window or title not in WINDOWS}
    assert set(used.values()) == {1}, used
    files = {case.attrib["classname"].replace(".", "/") + ".py" for case in ran}
    assert {*TESTS, *more} - files == set()
