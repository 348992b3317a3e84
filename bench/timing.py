"""Times contenders in alternation within one run: machines are noisy, so only ratios inside a run count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass
class Series:
    """The times of one contender, seconds for one item (a step, an op), one entry a round."""

    name: str
    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        """The shortest round: what the code costs when nothing disturbs it."""
        return min(self.seconds)

    @property
    def typical(self) -> float:
        """The median round: what one meets."""
        return median(self.seconds)


def take_turns(contenders: Mapping[str, Callable[[], float]], rounds: int) -> list[Series]:
    """Call every contender once a round, each round beginning with the next one; return their series.

    A contender does its share of work and returns seconds for one item. It has warmed up before.
    """
    if rounds < 1:
        raise ValueError(f"take_turns: rounds must be positive: {rounds}; give at least 1")
    series = {name: Series(name) for name in contenders}
    names = list(contenders)
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            series[name].seconds.append(contenders[name]())
    return list(series.values())


def paired_ratio(of: Series, to: Series) -> float:
    """Median over the rounds of ``of / to``: both felt the same disturbance in a round."""
    return median(a / b for a, b in zip(of.seconds, to.seconds, strict=True))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text as columns: the first is aligned to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
