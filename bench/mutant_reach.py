"""Which tests reach which lines, and how each test ended: what `bench.mutants` records in processes of tests.

`watch` runs at the start of every Python process of the tests (a ``sitecustomize`` calls it), also in child
processes, which inherit the name of the running test from pytest. It follows code objects that have wanted
lines only (`sys.monitoring`, Python 3.12), so tests keep their speed. As a plugin of pytest (``-p``) the
module writes the outcome and the seconds of each test, and runs only the tests of a list, in its order.

It is imported before pytest starts: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import json
import os
import sys
from types import CodeType
from typing import Any

WANTED = "MUTANT_WANTED"  # a JSON file: {path: {"lines": {line: [site]}, "any": [site]}}
REACHED = "MUTANT_REACHED"  # the file that gets a line [site, test] for each test that reaches a site
TESTS = "MUTANT_TESTS"  # a JSON file: the node ids to run
OUTCOMES = "MUTANT_OUTCOMES"  # the file that gets a line [test, outcome, seconds] for each test

_TOOL = 4  # an id that sys.monitoring reserves for nothing

# Tests replace these functions, and remove the variables.
_open, _write, _close = os.open, os.write, os.close


def append(path: str, row: list[Any]) -> None:
    """One more line of JSON; processes may write at the same time."""
    handle = _open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        _write(handle, (json.dumps(row) + "\n").encode())
    finally:
        _close(handle)


class Reach:
    """Records each pair of a wanted site and a test once."""

    def __init__(self, wanted: dict[str, dict[str, Any]], path: str) -> None:
        self._path = path
        self._lines = {
            file: {int(line): sites for line, sites in each["lines"].items()} for file, each in wanted.items()
        }
        self._any = {file: each["any"] for file, each in wanted.items() if each["any"]}
        self._known: set[tuple[int, str]] = set()

    def start(self) -> None:
        monitoring = sys.monitoring
        monitoring.use_tool_id(_TOOL, "mutants")
        monitoring.register_callback(_TOOL, monitoring.events.PY_START, self._begun)
        monitoring.register_callback(_TOOL, monitoring.events.LINE, self._line)
        monitoring.set_events(_TOOL, monitoring.events.PY_START)

    def _begun(self, code: CodeType, offset: int) -> Any:
        file = code.co_filename
        lines = self._lines.get(file)
        if lines is None:
            return sys.monitoring.DISABLE
        if any(line in lines for *_, line in code.co_lines()):
            sys.monitoring.set_local_events(_TOOL, code, sys.monitoring.events.LINE)
        if file not in self._any:
            return sys.monitoring.DISABLE
        if code.co_name != "<module>":
            self._record(self._any[file])
        return None

    def _line(self, code: CodeType, line: int) -> Any:
        sites = self._lines[code.co_filename].get(line)
        if sites is None:
            return sys.monitoring.DISABLE
        self._record(sites)
        return None

    def _record(self, sites: list[int]) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST")
        if test is None:
            return
        test = test.rpartition(" (")[0]
        for site in sites:
            if (site, test) not in self._known:
                self._known.add((site, test))
                append(self._path, [site, test])


def watch() -> None:
    """Start to record, where the environment asks for it."""
    if WANTED in os.environ:
        with open(os.environ[WANTED], encoding="utf-8") as file:
            Reach(json.load(file), os.environ[REACHED]).start()


# ----- the plugin of pytest -----


def pytest_collection_modifyitems(items: list[Any]) -> None:
    if TESTS not in os.environ:
        return
    with open(os.environ[TESTS], encoding="utf-8") as file:
        order = {name: n for n, name in enumerate(json.load(file))}
    items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


def pytest_collectreport(report: Any) -> None:
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        append(os.environ[OUTCOMES], [f"import of {report.nodeid}", "failed", 0.0])


def pytest_runtest_logreport(report: Any) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        return  # the process that started the workers gets the report too
    if report.when == "call" or not report.passed:
        append(os.environ[OUTCOMES], [report.nodeid, report.outcome, report.duration])
