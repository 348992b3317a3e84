"""The order of the queue: entries moved, placed before another, and changes taken back in what waits now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from studio.session.project.project_file import ProjectError

if TYPE_CHECKING:
    from studio.session.runs.run_queue import Waiting

KEEP_ORDER = (
    "queue: the trials of a search keep their order: the settings of each are chosen after those before it "
    "have ended; move other runs"
)


def moved(waiting: list[Waiting], numbers: Sequence[int], by: int) -> list[Waiting]:
    """The entries of these numbers ``by`` places later (earlier where it is negative), next to each other."""
    chosen = [each for each in waiting if each.number in numbers]
    if not chosen:
        return waiting
    edge = waiting.index(chosen[0] if by < 0 else chosen[-1])
    others = [each for each in waiting if each not in chosen]
    ahead = sum(each not in chosen for each in waiting[:edge])
    return _put(others, chosen, max(0, ahead + by), waiting)


def placed(waiting: list[Waiting], numbers: Sequence[int], before: int) -> list[Waiting]:
    """The entries of these numbers in front of the entry ``before``, or at the end where that is 0."""
    chosen = [each for each in waiting if each.number in numbers]
    target = next((at for at, each in enumerate(waiting) if each.number == before), len(waiting))
    others = [each for each in waiting if each not in chosen]
    return _put(others, chosen, sum(each not in chosen for each in waiting[:target]), waiting)


def _put(others: list[Waiting], chosen: list[Waiting], at: int, waiting: list[Waiting]) -> list[Waiting]:
    """Raises ProjectError where only the trials of a search would change places among themselves."""
    wanted = [*others[:at], *chosen, *others[at:]]
    kept = _searches_in_order(wanted)
    if kept == waiting != wanted:
        raise ProjectError(KEEP_ORDER)
    return kept


def _searches_in_order(waiting: list[Waiting]) -> list[Waiting]:
    """Trials that a search has not chosen yet have no settings of their own: each search keeps its order."""
    trials = sorted((each for each in waiting if each.search), key=lambda each: each.number)
    of = {name: iter([each for each in trials if each.search == name]) for name in {t.search for t in trials}}
    return [next(of[each.search]) if each.search else each for each in waiting]


def reverted(now: list[Waiting], was: Sequence[Waiting], wanted: Sequence[Waiting]) -> list[Waiting]:
    """The change from ``wanted`` to ``was`` taken back in what waits ``now``.

    Entries that it added are taken out, those that it took out are put back, and the order is as wanted. What
    began meanwhile stays away, and what was queued meanwhile stays behind the entry in front of it.
    """
    back = [each for each in wanted if each not in was]
    kept = [each for each in now if each not in was or each in wanted]
    ordered = [each for each in wanted if each in kept or each in back]
    for at, each in enumerate(kept):
        if each not in ordered:
            ordered.insert(ordered.index(kept[at - 1]) + 1 if at else 0, each)
    free = max((each.number for each in ordered), default=0)
    taken: set[int] = {each.number for each in ordered if each not in back}
    for at, each in enumerate(ordered):
        if each in back and each.number in taken:  # another window has queued a run under this number
            free += 1
            ordered[at] = each.model_copy(update={"number": free})
    return ordered
