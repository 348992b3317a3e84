"""The scheduler of pytest-xdist for this suite: every other worker takes its tests from the end.

The tests of the engine come first and those of windows last. A worker that runs only one of the two needs a
fifth less memory, because it never loads the compiler of kernels or never draws a window, and a fixture, an
import or a compiled kernel that serves many tests of a folder is made in one worker, not in each.
"""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadScheduling
from xdist.workermanage import WorkerController

from tests.compiling import begins_at_the_end

# Tests that load another large library are moved to the end, so that both need about as much memory.
MOVED = ("tests/engine/onnx/",)


def ordered(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests in the order from whose ends the workers take them."""
    return sorted(items, key=lambda item: item.nodeid.startswith(MOVED))


class BothEnds(LoadScheduling):
    """Sends each worker the next tests of its end, in their order."""

    def _send_tests(self, node: WorkerController, num: int) -> None:
        if begins_at_the_end(node.gateway.id):
            self.pending[:] = self.pending[-num:] + self.pending[:-num]
        super()._send_tests(node, num)
