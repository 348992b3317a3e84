"""Which kernels plans use on the CPU: NumPy's, or those that are compiled in the background; and whether
those on a GPU are replayed as CUDA graphs."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from engine.core.context import Setting
from engine.core.errors import ArgumentError, ModeError

_log = logging.getLogger(__name__)

# With "auto" the first runs of each plan use NumPy's kernels, and so do the first steps of a training. A
# script of a few steps never waits for the compiler, and what the clock says decides nothing: the run after
# these takes compiled kernels and waits for those that are not ready.
NUMPY_RUNS = 20
TIMEOUT = 300.0  # seconds that a training or a plan waits for the compiler
REPORTED_EVERY = 1.0  # seconds, of a training that waits
VARIABLE = "MODEL_STUDIO_KERNELS"
CHOICES = ("auto", "numpy", "fast")
# The backend under which an operator registers the update of many parameters of a GPU (``kernels/cupy``).
TOGETHER = "cupy together"

# "auto": compiled ones after NUMPY_RUNS where llvmlite is installed; "fast": compiled ones from the first run
# on, and an error where it is not.
kernels: Setting[str] = Setting("kernels", os.environ.get(VARIABLE) or "auto")

GRAPHS_VARIABLE = "MODEL_STUDIO_CUDA_GRAPHS"
GRAPHS_CHOICES = ("auto", "off")

# "auto": plans on a GPU that can be recorded are, and replayed; "off": operator by operator.
cuda_graphs: Setting[str] = Setting("cuda_graphs", os.environ.get(GRAPHS_VARIABLE) or "auto")


def wants_graphs() -> bool:
    """Whether plans on a GPU are replayed as CUDA graphs. Raises ArgumentError for a choice that does not
    exist."""
    choice = cuda_graphs.get()
    if choice not in GRAPHS_CHOICES:
        raise ArgumentError(
            f"cuda_graphs: there is no choice {choice!r}; {GRAPHS_VARIABLE} takes {', '.join(GRAPHS_CHOICES)}"
        )
    return choice == "auto"


class Waiting(Protocol):
    """A plan's kernels, as a gate sees them."""

    came: threading.Event  # set when all requested kernels are ready, or never will be
    due: bool  # the plan looks before its next run whether it takes them

    def begin(self) -> None:
        """Have them compiled in the background."""

    def names(self) -> list[str]:
        """The operators that have compiled kernels."""


class Gate:
    """Holds compiled kernels back until a known step or run, so that results can be repeated.

    Plans that are created in its context before :meth:`open` wait with NumPy's kernels; afterwards a plan
    uses them for ``runs`` runs and waits for its kernels before the next one. Compiling begins with
    :meth:`begin`, in an open gate with a plan's second run: the compiler's thread would take half of the time
    of the first step, in which plans are created.
    """

    def __init__(self, runs: int = 0) -> None:
        self.runs = runs
        self.is_open = self.asked = False  # asked: a plan wants kernels
        self.taken: set[str] = set()  # the operators whose compiled kernels plans took
        self._plans: list[Waiting] = []
        self._begun = 0
        self._waits = True

    def add(self, plan: Waiting) -> None:
        """A plan that wants kernels."""
        self._plans.append(plan)

    def begin(self) -> None:
        """Have the kernels of all plans so far compiled."""
        for plan in self._plans[self._begun :]:
            plan.begin()
        self._begun = len(self._plans)

    def open(self, waiting: Callable[[float], None] | None = None) -> None:
        """Wait for all requested kernels and let the plans take them; ``waiting`` is called with the seconds
        so far, once a second."""
        self.begin()
        self.is_open = True
        plans, self._plans, self._begun = self._plans, [], 0
        begun = time.monotonic()
        for plan in plans:
            plan.due = self.wait(plan, None if waiting is None else lambda: waiting(time.monotonic() - begun))

    def wait(self, plan: Waiting, waiting: Callable[[], None] | None = None) -> bool:
        """Wait for the kernels of ``plan``; returns whether it has any.

        If the compiler takes too long, that plan stays with NumPy's kernels, and another run may not, which
        is logged once.
        """
        end = time.monotonic() + (TIMEOUT if self._waits else 0.0)
        while not (came := plan.came.wait(min(REPORTED_EVERY, max(0.0, end - time.monotonic())))):
            if time.monotonic() >= end:
                break
            if waiting is not None:
                waiting()
        if not came and self._waits:
            self._waits = False
            _log.warning(
                "kernels: compiled ones are not ready after %g s: NumPy computes instead, and the same "
                "run at another time may differ in the last digits; choose 'numpy' for runs that repeat",
                TIMEOUT,
            )
        names = plan.names() if came else []
        self.taken.update(names)
        return bool(names)


# The gate of the training in this context; None lets each plan count its own runs.
gate: Setting[Gate | None] = Setting("kernels_gate", None)


def opened(runs: int = 0) -> Gate:
    """A gate that is open."""
    made = Gate(runs)
    made.open()
    return made


counting, at_once = opened(NUMPY_RUNS), opened()


def gate_now() -> Gate:
    """The gate of a plan that is created now: the context's, else the one of the choice of kernels."""
    return gate.get() or (at_once if kernels.get() == "fast" else counting)


@contextmanager
def settled() -> Iterator[None]:
    """Plans that are created within the block wait for their kernels, so that results never depend on when
    the compiler is done. Within a training that has a gate, that one holds."""
    if gate.get() is not None:
        yield
        return
    with gate.guard(opened()):
        yield


@contextmanager
def settled_as(choice: str) -> Iterator[None]:
    """As :func:`settled`, with the choice of a run's setting; with "auto" that of the environment.

    Raises as :func:`wants_fast` does.
    """
    with kernels.guard(kernels.get() if choice == "auto" else choice), settled():
        wants_fast()
        yield


def wants_fast() -> bool:
    """Whether a plan that is created now requests compiled kernels.

    Raises ArgumentError for a choice that does not exist, ModeError where "fast" is chosen and llvmlite is
    not installed or can't be loaded.
    """
    choice = kernels.get()
    if choice == "numpy":
        return False
    if choice not in CHOICES:
        raise ArgumentError(f"kernels: there is no choice {choice!r}; {VARIABLE} takes {', '.join(CHOICES)}")
    from engine.kernels.fast.compiler import available, load

    if choice == "fast" and (why := load()):
        raise ModeError(f"kernels: 'fast' needs compiled kernels: {why}, or choose 'auto'")
    if not available():
        return False
    from engine.kernels.fast import register

    register()
    return True
