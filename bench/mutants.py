"""How many wrong programs the tests find: mutants of engine and studio, drawn by a seed, run one at a time.

``python -m bench.mutants --python PYTHON --work FOLDER`` copies the tree into the folder, draws mutants
uniformly over all sites (`bench.mutation_sites`), runs the plain tier once to learn which tests reach which
mutant (`bench.mutant_reach`), and then runs for each mutant the tests that reach it, with ``-x``, the fastest
first. What survives is run again with the deep tests that reach it. ``PYTHON`` (3.12 or newer) has all
dependencies, and an editable install of ``FOLDER/tree`` if it has one of this package.

The results are written after each mutant, and another run resumes with them. A mutant of which a person finds
that no test could tell it from the program gets ``"not_killable": "reason"`` in the results; the next one
that was drawn takes its place. A mutant counts as found by a test that fails, also by its time limit or by a
crash.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import os
import random
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import mutant_reach
from bench.arguments import positive
from bench.mutation_sites import Site, sites_of_tree

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "studio")
MANY = 300  # tests; of more, the mirrored ones run first and the others in random order


@dataclass(frozen=True)
class Outcome:
    """How the tests of one mutant ended; ``by`` is the test that found it."""

    found: bool
    by: str
    tests: int
    seconds: float


# ----- which tests reach which mutant -----


def module_name(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def importers(tree: Path, file: str) -> list[str]:
    """The sources that import the module of a file, by name."""
    name = module_name(file)
    found = []
    for path in sorted(path for room in ROOMS for path in (tree / room).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if name.rpartition(".")[2] not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Import(names=names):
                    imported = {each.name for each in names}
                case ast.ImportFrom(module=str(module), names=names):
                    imported = {module, *(f"{module}.{each.name}" for each in names)}
                case _:
                    continue
            if name in imported:
                found.append(path.relative_to(tree).as_posix())
                break
    return found


def wanted_lines(tree: Path, sites: list[Site]) -> dict[str, dict[str, Any]]:
    """What `mutant_reach` records, by absolute path; sites are numbered in their order."""
    wanted: dict[str, dict[str, Any]] = {}
    for n, site in enumerate(sites):
        files = [site.file, *importers(tree, site.file)] if site.imported else [site.file]
        for file in files:
            each = wanted.setdefault(str(tree / file), {"lines": {}, "any": []})
            if site.imported:
                each["any"].append(n)
                continue
            for line in range(site.lines[0], site.lines[1] + 1):
                each["lines"].setdefault(line, []).append(n)
    return wanted


def distance(site: Site, test: str) -> int:
    """0 for a test in the mirrored file, 1 in its folder, 2 in the same room, 3 elsewhere."""
    path = Path(test.partition("::")[0])
    mirrored = Path("tests") / site.file
    if path.parent == mirrored.parent:
        return 0 if path.stem.startswith(f"test_{mirrored.stem.lstrip('_')}") else 1
    return 2 if path.parts[:3] == mirrored.parts[:3] else 3


def in_order(site: Site, tests: dict[str, float], seed: int) -> list[str]:
    """The tests (with their seconds) in the order in which they run against a mutant."""
    by_time = sorted(tests, key=lambda test: (tests[test], test))
    if len(by_time) <= MANY:
        return by_time
    near = [test for test in by_time if distance(site, test) <= 1]
    far = [test for test in by_time if distance(site, test) > 1]
    random.Random(seed).shuffle(far)
    return near + far


class Bench:
    """The copy of the tree, and runs of pytest in it."""

    def __init__(self, python: str, work: Path, seed: int) -> None:
        self.python, self.work, self.seed = python, work.resolve(), seed
        self.tree = self.work / "tree"

    def copy(self) -> None:
        """Copy the files of this checkout (those that git would commit), once."""
        if self.tree.is_dir():
            return
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)

    def pytest(self, arguments: list[str], seconds: float | None = None, **variables: str) -> int | None:
        """The exit code of pytest in the copy; None where it had not ended in time."""
        start = self.work / "start"
        start.mkdir(exist_ok=True)
        shutil.copy2(mutant_reach.__file__, start)
        (start / "sitecustomize.py").write_text(
            "import mutant_reach\n\nmutant_reach.watch()\n", encoding="utf-8"
        )
        # Not those of a worker of pytest-xdist, which runs the tests of this module.
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        env = {**ours, **variables, "PYTHONPATH": os.pathsep.join([str(start), str(self.tree)])}
        env |= {"PYTHONDONTWRITEBYTECODE": "1"} if seconds else {}
        command = [
            self.python,
            "-m",
            "pytest",
            "-p",
            "mutant_reach",
            "-p",
            "no:cacheprovider",
            "-q",
            *arguments,
        ]
        with (self.work / "pytest.log").open("a") as log:
            run = subprocess.Popen(
                command, cwd=self.tree, env=env, stdout=log, stderr=log, start_new_session=True
            )
            try:
                return run.wait(seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                if run.poll() is None:
                    os.killpg(run.pid, 9)
                    run.wait()

    # ----- maps -----

    def map(self, tier: str, sites: list[Site], arguments: list[str]) -> list[dict[str, float]]:
        """For each site the tests of a tier that reach it and pass, with their seconds.

        An earlier run's map is used again.
        """
        reached, outcomes = self.work / f"{tier}.reached", self.work / f"{tier}.outcomes"
        wanted = self.work / f"{tier}.wanted"
        if not outcomes.is_file():
            wanted.write_text(json.dumps(wanted_lines(self.tree, sites)), encoding="utf-8")
            self.pytest(
                arguments,
                **{
                    mutant_reach.WANTED: str(wanted),
                    mutant_reach.REACHED: str(reached),
                    mutant_reach.OUTCOMES: str(outcomes),
                },
            )
        return reach_of(rows_of(reached), rows_of(outcomes), len(sites))

    # ----- one mutant -----

    def outcome(self, site: Site, tests: dict[str, float], limit: float) -> Outcome:
        """Run tests against a mutant until one fails, for ``limit`` seconds at most."""
        order = in_order(site, tests, self.seed)
        path = self.tree / site.file
        source, times = path.read_bytes(), path.stat()
        path.write_bytes(site.apply(source.decode()).encode())
        before = time.monotonic()
        try:
            by = self.first_failure(order, limit)
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        seconds = time.monotonic() - before
        if by.count("::") and self.first_failure([by], limit):
            raise RuntimeError(f"{by} fails without a mutant too: repair it first")
        return Outcome(bool(by) and by != "limit", by, len(order), round(seconds, 1))

    def first_failure(self, tests: list[str], limit: float) -> str:
        """The first test that fails, ``limit`` if none did in that time, or an empty text."""
        if not tests:
            return ""
        listed, outcomes = self.work / "tests.json", self.work / "mutant.outcomes"
        listed.write_text(json.dumps(tests), encoding="utf-8")
        outcomes.unlink(missing_ok=True)
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        variables = {mutant_reach.TESTS: str(listed), mutant_reach.OUTCOMES: str(outcomes)}
        code = self.pytest(["-x", "--timeout", "60", *files], limit, **variables)
        failed = [name for name, outcome, _ in rows_of(outcomes) if outcome == "failed"]
        if failed:
            return str(failed[0])
        if code is None:
            return "limit"
        return "" if code == 0 else f"pytest ended with {code}"


def rows_of(path: Path) -> list[list[Any]]:
    """The rows that `mutant_reach.append` wrote."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def reach_of(reached: list[list[Any]], outcomes: list[list[Any]], count: int) -> list[dict[str, float]]:
    """For each site the tests that reach it and passed, with their seconds."""
    failed = {name for name, outcome, _ in outcomes if outcome != "passed"}
    seconds = {name: duration for name, _, duration in outcomes if name not in failed}
    found: list[dict[str, float]] = [{} for _ in range(count)]
    for site, test in reached:
        if test in seconds:
            found[site][test] = seconds[test]
    return found


# ----- results -----


class Results:
    """The table that is committed: the mutants in the order in which they were drawn."""

    def __init__(self, path: Path, facts: dict[str, Any]) -> None:
        self.path = path
        self.mutants: list[dict[str, Any]] = []
        self.facts = facts
        if path.is_file():
            read = json.loads(path.read_text(encoding="utf-8"))
            self.mutants, self.facts = read.pop("mutants"), read
            if read["seed"] != facts["seed"]:
                raise SystemExit(f"{path}: drawn with the seed {read['seed']}, not {facts['seed']}")

    def killable(self) -> list[dict[str, Any]]:
        return [each for each in self.mutants if "not_killable" not in each]

    def write(self) -> None:
        text = json.dumps({**self.facts, "mutants": self.mutants}, indent=1, ensure_ascii=False)
        self.path.write_text(text + "\n", encoding="utf-8")

    def summary(self) -> str:
        """The share of what all tests find that the plain tier finds."""
        tiers = [each["tier"] for each in self.killable()]
        plain, every = tiers.count("plain"), len(tiers) - tiers.count(None)
        share = f", {100 * plain / every:.1f} %" if every else ""
        return f"{len(tiers)} mutants: all tests find {every}, the plain tier {plain} of them{share}"


def record(mutant: dict[str, Any], tier: str, outcome: Outcome) -> None:
    """Add an outcome to a mutant of the results."""
    mutant[f"{tier}_tests"] = outcome.tests
    mutant["tier"] = tier if outcome.found else None
    mutant["by"] = outcome.by or None
    mutant["seconds"] = outcome.seconds
    print(f"  {tier}: {outcome.tests} tests, {outcome.seconds} s: {outcome.by or 'survived'}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", required=True, help="interpreter that runs the tests, 3.12 or newer")
    parser.add_argument("--work", type=Path, required=True, help="folder for the copy and the maps")
    parser.add_argument("--seed", type=int, default=20261128)
    parser.add_argument("--count", type=positive, default=40, help="killable mutants")
    parser.add_argument(
        "--drawn", type=positive, default=100, help="mutants whose tests are looked up at once"
    )
    parser.add_argument("--limit", type=positive, default=120, help="seconds of the tests of one mutant")
    parser.add_argument("--workers", type=positive, default=2, help="processes that make the maps")
    parser.add_argument(
        "--deep", nargs="*", default=[], metavar="PATH", help="only these tests of the deep tier"
    )
    parser.add_argument("--plain-only", action="store_true", help="do not run the deep tests yet")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "mutants.json")
    given = parser.parse_args(arguments)

    given.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(given.python, given.work, given.seed)
    bench.copy()
    every = sites_of_tree(bench.tree, ROOMS)
    sites = random.Random(given.seed).sample(every, given.drawn)
    print(f"seed {given.seed}: {given.drawn} of {len(every)} sites are drawn", flush=True)
    facts = {"seed": given.seed, "date": f"{datetime.date.today()}", "sites": len(every)}
    results = Results(given.results, facts)
    workers = ["-n", f"{given.workers}"]
    plain = bench.map("plain", sites, workers)

    for n, site in enumerate(sites):
        if n < len(results.mutants):
            continue
        if len(results.killable()) == given.count:
            break
        print(f"{n}: {site}", flush=True)
        results.mutants.append({"where": f"{site.file}:{site.line}", "change": f"{site.old} -> {site.new}"})
        record(results.mutants[-1], "plain", bench.outcome(site, plain[n], given.limit))
        results.write()

    survived = [
        n for n, each in enumerate(results.mutants) if each["tier"] is None and "not_killable" not in each
    ]
    if not all("deep_tests" in results.mutants[n] for n in survived):
        deep = bench.map("deep", sites, [*workers, "--deep-only", *given.deep])
        for n in survived:
            if "deep_tests" not in results.mutants[n]:
                print(f"{n}: {sites[n]}", flush=True)
                record(results.mutants[n], "deep", bench.outcome(sites[n], deep[n], given.limit))
                results.write()
    print(results.summary())


if __name__ == "__main__":
    main()
