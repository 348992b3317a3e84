"""ProgramSubject: batches of a static Program, whose backward and updates are operators too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.place import backend, current_place
from engine.core.values.dtype import from_numpy
from engine.core.values.spec import Spec
from engine.debugger.points import Array, Part, Point, Site
from engine.debugger.subjects.stepped import part_of, points_of, sites_of
from engine.kernels.choice import kernels
from engine.program.graph.program import Program, Variable
from engine.program.passes.pipeline import level
from engine.program.run.executor import fed, fetch_key, values_of
from engine.program.run.prepared import needs_of, prepare
from engine.program.run.scope import Scope, global_scope
from engine.program.run.stepping.plan import SteppingPlan
from engine.program.saved.serialize import to_plain
from engine.training.randomness import random_state
from resources.operator_keys import PHASES, phase_of

Feed = Mapping[str, Any]


class ProgramSubject:
    """``program`` on each of ``feeds``, as ``Executor.run`` takes them.

    Parameters begin with their values in ``scope`` (the global one by default), which stay as they are.
    ``fetch`` are Variables or names that are computed although nothing depends on them.
    """

    def __init__(
        self,
        program: Program,
        feeds: Sequence[Feed],
        fetch: Sequence[Variable | str] = (),
        scope: Scope | None = None,
        title: str = "a Program",
    ) -> None:
        if not feeds:
            raise ArgumentError("debug: a Program needs a feed for each batch: got none; give e.g. [{}]")
        self.title, self.notes = title, ["the Program as it was built, without passes"]
        self.random: dict[str, Any] = random_state()
        self._first = self._random_after = self.random
        self.batch = 1
        self._program, self._feeds, self._fetch = program, list(feeds), [fetch_key(f) for f in fetch]
        self._scope = scope or global_scope()
        for rate in program.rates:
            rate.bring(self._scope)
        self._weights: dict[str, Array] = {}
        self._begin()
        self.parts: list[Part] = self._parts()

    def _begin(self) -> None:
        """Make the plan for the feed of the batch."""
        feed = self._feeds[self.batch - 1]
        xp = backend(current_place()).xp
        with self.entered(), level.guard(0):
            prepared = prepare(self._program, feed, self._fetch)
            taken = prepared.fed
            arrays = [fed(v, feed[v.name], xp) for v in taken]
            needs = needs_of(prepared)
            specs = {v.name: Spec(a.shape, from_numpy(a.dtype)) for v, a in zip(taken, arrays, strict=True)}
            outputs = [*prepared.fetched, *needs.stored]
            self._plan = SteppingPlan(
                self._program, self._program.global_block().ops, [*taken, *needs.read], outputs, specs, xp
            )
        weights = dict(zip([v.name for v in needs.read], values_of(needs.read, self._scope, xp), strict=True))
        self._stored = [v.name for v in outputs]
        fed_now = {v.name: a for v, a in zip(taken, arrays, strict=True)}
        self._values = fed_now | weights | {n: a for n, a in self._weights.items() if n in weights}
        self._end: dict[str, Array] | None = None
        phases = [phase_of(each) for each in to_plain(self._program)["blocks"][0]["ops"]]
        self._sites: dict[int, Site] = {}
        self._begins = [
            next((n for n, p in enumerate(phases) if p in PHASES[k:]), len(phases)) for k in range(3)
        ]
        for key, site in sites_of("", self._plan).items():
            op = site.where[0][1]
            part = sum(op >= begin for begin in self._begins[1:])
            first = (site.where[0][0], op - self._begins[part])
            self._sites[key] = replace(site, part=PHASES[part], where=(first, *site.where[1:]))

    def _parts(self) -> list[Part]:
        ends = [*self._begins[1:], None]
        found = []
        for name, begin, end in zip(PHASES, self._begins, ends, strict=True):
            sites = {key: site for key, site in self._sites.items() if site.part == name}
            if sites:
                count = None if end is None else end - begin
                found.append(part_of(name, self._program, sites, begin, count))
        return found

    def initial(self) -> Mapping[str, Array]:
        return self._values

    @contextmanager
    def entered(self) -> Iterator[None]:
        with kernels.guard("numpy"):
            yield

    def begin(self, changed: Mapping[str, Array]) -> Iterator[Point]:
        values = {**self._values, **changed}
        run = self._plan.begin([values[v.name] for v in self._plan.inputs])
        yield from points_of(run, self._sites)
        self._random_after = random_state()
        results = dict(zip(self._stored, run.results, strict=True)) | dict(run.changed)
        self._end = {n: np.asarray(a) if isinstance(a, np.generic) else a for n, a in results.items()}

    def advance(self) -> bool:
        if self._end is None or self.batch >= len(self._feeds):
            return False
        self._weights |= self._end
        self.random = self._random_after
        self.batch += 1
        self._begin()
        return True

    def restart(self) -> None:
        if self.batch > 1:
            self.batch, self.random = 1, self._first
            self._weights.clear()
            self._begin()

    def close(self) -> None:
        """Nothing is held but arrays."""
