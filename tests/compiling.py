"""Workers of pytest-xdist share the work of a first run: each test file is compiled by one of them.

All workers collect the same files in the same order, so where no bytecode is there yet each would parse,
rewrite and compile every file at the same moment. Every other worker imports the files of a folder from the
last to the first before it collects them: where two meet, each finds the bytecode that the other has written.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import Any

import pytest


def begins_at_the_end(worker: str) -> bool:
    """Whether a worker, ``gw0`` and so on, is one of every other that take files and tests from the end."""
    return int(worker.removeprefix("gw")) % 2 == 1


class SharedCompiling:
    """A plugin of pytest for every other worker."""

    @staticmethod
    def helps(config: pytest.Config) -> bool:
        """Whether this process is a worker that begins at the end."""
        worker: str = getattr(config, "workerinput", {}).get("workerid", "gw0")
        return begins_at_the_end(worker)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Directory):
            for node in reversed(report.result or ()):
                if isinstance(node, pytest.Module):
                    # What a file raises is reported when it is collected.
                    with suppress(Exception, pytest.skip.Exception):
                        _: Any = node.obj
        return report
