"""Mutants of a small tree: which tests reach them, their order, what finds a mutant, and what is counted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import mutants
from bench.mutants import Bench, Results, distance, in_order, reach_of
from bench.mutation_sites import Site, sites_of_tree

SOURCES = {
    "engine/__init__.py": "",
    "engine/sums.py": (
        "LEAST = 5\n\n\ndef larger(a, b):\n    return a > b\n\n\ndef unused(a):\n    return a + 1\n"
    ),
    "engine/users.py": (
        "import subprocess\nimport sys\n\nfrom engine.sums import LEAST, larger\n\n\ndef use(a):\n"
        "    return larger(a, LEAST)\n\n\ndef child():\n"
        "    code = 'from engine.sums import larger; print(larger(2, 2))'\n"
        "    return subprocess.check_output([sys.executable, '-c', code], text=True).strip()\n"
    ),
    "tests/engine/test_sums.py": (
        "from engine.sums import larger\n\n\ndef test_larger():\n    assert larger(2, 1)\n\n\n"
        "def test_wrong():\n    assert not larger(2, 1)\n"
    ),
    "tests/engine/test_users.py": (
        "from engine.users import child, use\n\n\ndef test_use():\n    assert use(6)\n\n\n"
        "def test_child():\n    assert child() == 'False'\n"
    ),
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    for name, text in SOURCES.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Bench(sys.executable, tmp_path, 1)


def sites(bench: Bench) -> dict[str, Site]:
    return {f"{site.old} -> {site.new}": site for site in sites_of_tree(bench.tree, ("engine",))}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in Python 3.12")
def test_those_tests_run_that_reach_the_line(bench: Bench) -> None:
    drawn = [sites(bench)[name] for name in ("5 -> 6", "a > b -> a >= b", "a + 1 -> a - 1")]
    constant, compared, unused = bench.map("plain", drawn, [])
    assert set(constant) == {
        "tests/engine/test_sums.py::test_larger",
        "tests/engine/test_users.py::test_use",
        "tests/engine/test_users.py::test_child",
    }
    assert set(compared) == set(constant)
    assert unused == {}


NAMES = (
    "tests/engine/test_sums.py::test_larger",
    "tests/engine/test_users.py::test_use",
    "tests/engine/test_users.py::test_child",
)
TESTS = {name: float(n) for n, name in enumerate(NAMES)}


@pytest.mark.parametrize(
    ("change", "by"),
    [
        ("a > b -> a >= b", "tests/engine/test_users.py::test_child"),
        ("return a > b -> return None", "tests/engine/test_sums.py::test_larger"),
        ("5 -> 6", "tests/engine/test_users.py::test_use"),
        ("a + 1 -> a - 1", ""),
    ],
)
def test_a_mutant_is_found_by_the_first_test_that_fails(bench: Bench, change: str, by: str) -> None:
    outcome = bench.outcome(sites(bench)[change], TESTS, 60)
    assert (outcome.found, outcome.by, outcome.tests) == (bool(by), by, 3)
    assert (bench.tree / "engine/sums.py").read_text(encoding="utf-8") == SOURCES["engine/sums.py"]


def test_a_test_that_always_fails_finds_nothing(bench: Bench) -> None:
    with pytest.raises(RuntimeError, match="test_wrong fails without a mutant too"):
        bench.outcome(sites(bench)["a + 1 -> a - 1"], {"tests/engine/test_sums.py::test_wrong": 0.1}, 60)


def test_a_module_that_cannot_be_imported_is_found(bench: Bench) -> None:
    site = Site("engine/sums.py", 1, 0, 1, 9, "LEAST = 5", "pass", (1, 1), True)
    outcome = bench.outcome(site, {"tests/engine/test_users.py::test_use": 0.1}, 60)
    assert (outcome.found, outcome.by) == (True, "import of tests/engine/test_users.py")


def test_only_what_passes_reaches_a_line() -> None:
    outcomes = [["a", "passed", 0.5], ["b", "passed", 0.1], ["b", "failed", 0.2], ["c", "skipped", 0.0]]
    reached = [[0, "a"], [0, "b"], [0, "c"], [0, "gone"], [2, "a"]]
    assert reach_of(reached, outcomes, 3) == [{"a": 0.5}, {}, {"a": 0.5}]


def test_the_fastest_run_first_and_of_many_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site("engine/nn/layer/conv.py", 1, 0, 1, 1, "1", "2", (1, 1), False)
    near, neighbour, room, far = (
        f"tests/engine/{name}.py::test"
        for name in ("nn/layer/test_conv_shapes", "nn/layer/test_norm", "nn/test_all", "ops/test_conv")
    )
    assert [distance(site, test) for test in (near, neighbour, room, far)] == [0, 1, 2, 3]
    tests = {far: 0.1, neighbour: 0.3, near: 0.4, room: 0.2}
    assert in_order(site, tests, 1) == [far, room, neighbour, near]
    monkeypatch.setattr(mutants, "MANY", 3)
    assert in_order(site, tests, 1)[:2] == [neighbour, near]
    assert sorted(in_order(site, tests, 1)[2:]) == sorted([far, room])


def test_results_resume_and_count_killable_mutants_only(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    first = Results(path, {"seed": 3})
    first.mutants += [
        {"tier": "plain"},
        {"tier": "deep"},
        {"tier": None},
        {"tier": None, "not_killable": "same"},
    ]
    first.write()
    assert json.loads(path.read_text(encoding="utf-8"))["seed"] == 3
    assert (
        Results(path, {"seed": 3}).summary()
        == "3 mutants: all tests find 2, the plain tier 1 of them, 50.0 %"
    )
    with pytest.raises(SystemExit, match="drawn with the seed 3, not 4"):
        Results(path, {"seed": 4})
