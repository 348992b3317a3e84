"""Carries out numbered kills and counts them: ``python -m tests.robust.kill_counts trainings --kills 1000``.

Each number stands for one case, drawn from the seed and the number alone, so that a long count can be stopped
and continued with ``--first``, and a failure be repeated with ``--first N --kills 1``. Of trainings every
second case is a kill at a random moment (up to three in a row), the others are aimed at one file operation.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.robust.killed_saves import SAVES
from tests.robust.killed_trainings import CANCELLED, KINDS, Training
from tests.robust.killing import Failure, Killer, Subject

EVERY = 25  # cases between two lines of the record


@contextmanager
def own_place() -> Iterator[Path]:
    """A folder for the kills, with the home of a person in it; both go afterwards."""
    place = Path(tempfile.mkdtemp(prefix="kills-"))
    for name in ("CONFIG", "DATA", "STATE"):
        (place / name).mkdir()
        os.environ[f"XDG_{name}_HOME"] = str(place / name)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def subjects(what: str, place: Path) -> list[Subject]:
    """The subjects of a word of the command line, which may be the name of one of them."""
    kinds = KINDS if what == "trainings" else [kind for kind in (*KINDS, CANCELLED) if kind == what]
    if kinds:
        return [Training(kind, place / f"fixed {kind}") for kind in kinds]
    return [save() for save in SAVES if what in ("saves", save.name)]


def count(what: str, kills: int, seed: int, first: int, power: bool, record: Path | None) -> int:
    """Carry out cases until ``kills`` kills are done; returns the number of failures."""
    began, done, case, failures = time.monotonic(), 0, first, 0
    found: Counter[str] = Counter()
    with own_place() as place:
        killers = [Killer(subject, place / str(n)) for n, subject in enumerate(subjects(what, place))]
        aims = [killer.power_cuts() if power else killer.points() for killer in killers]
        while done < kills:
            killer, points = killers[case % len(killers)], aims[case % len(killers)]
            draw = random.Random(f"{seed} {what} {case}")
            try:
                if not power and (case // len(killers)) % 2 == 0:
                    number, word = killer.at_random(draw)
                else:
                    number, word = 1, killer.aimed(draw.choice(points), seed)
                done += number
                found[word] += 1
            except Failure as failure:
                done += 1
                failures += 1
                _say(record, f"FAILED seed {seed} case {case}: {failure}")
            case += 1
            if (case - first) % EVERY == 0 or done >= kills:
                words = ", ".join(f"{number} {word}" for word, number in sorted(found.items()))
                kind = "power cuts" if power else "kills"
                _say(
                    record,
                    f"{what}, seed {seed}, cases {first} to {case - 1}: {done} {kind}, {failures} failures, "
                    f"{time.monotonic() - began:.0f} s ({words})",
                )
    return failures


def enumerate_all(what: str, stride: int, offset: int, power: bool, record: Path | None) -> int:
    """Carry out every ``stride``-th kill (or power cut) of each subject; returns the number of failures."""
    failures = 0
    with own_place() as place:
        for number, subject in enumerate(subjects(what, place)):
            began = time.monotonic()
            killer = Killer(subject, place / str(number))
            points = (killer.power_cuts() if power else killer.points())[offset::stride]
            found: Counter[str] = Counter()
            for point in points:
                try:
                    found[killer.aimed(point)] += 1
                except Failure as failure:
                    failures += 1
                    _say(record, f"FAILED {failure}")
            words = ", ".join(f"{times} {word}" for word, times in sorted(found.items()))
            kind = "power cuts" if power else "kills"
            _say(
                record,
                f"{subject.name}: {len(points)} {kind} of {len(killer.operations)} operations, "
                f"{len(points) - sum(found.values())} failures, {time.monotonic() - began:.0f} s ({words})",
            )
    return failures


def _say(record: Path | None, line: str) -> None:
    print(line, flush=True)
    if record is not None:
        with record.open("a") as file:
            file.write(line + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what", help=f"trainings, saves, or one of {', '.join((*KINDS, CANCELLED))}, or the name of a save"
    )
    parser.add_argument("--kills", type=int, default=0, help="numbered cases until so many kills are done")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--stride", type=int, default=1, help="without --kills: every so many operations")
    parser.add_argument("--offset", type=int, default=0, help="without --kills: the first of them")
    parser.add_argument("--power", action="store_true", help="power cuts in place of kills")
    parser.add_argument("--record", type=Path, help="append the lines to this file too")
    given = parser.parse_args()
    if given.kills:
        failures = count(given.what, given.kills, given.seed, given.first, given.power, given.record)
    else:
        failures = enumerate_all(given.what, given.stride, given.offset, given.power, given.record)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
