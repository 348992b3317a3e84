"""Command-line arguments that the benches share: who takes part, for how long, with how many threads."""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path


def listed(choices: Sequence[str], former: Mapping[str, str] | None = None) -> Callable[[str], list[str]]:
    """A type of argument: some of ``choices`` with commas between them, or their ``former`` names."""

    def read(text: str) -> list[str]:
        names = [(former or {}).get(name, name) for name in text.split(",")]
        for name in names:
            if name not in choices:
                raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(choices)}")
        return names

    return read


def positive(text: str) -> int:
    """A type of argument: an integer above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer above 0")
    return int(text)


def duration(text: str) -> float:
    """A type of argument: seconds, above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def add_shared(
    parser: argparse.ArgumentParser,
    contenders: Sequence[str],
    rounds: int,
    seconds: float,
    former: Mapping[str, str] | None = None,
) -> None:
    """Add the shared arguments, with a bench's defaults for the turns and the time.

    ``former`` maps names that contenders had to those of now.
    """
    own = sys.executable if importlib.util.find_spec("torch") else None
    parser.add_argument("--contenders", type=listed(contenders, former), help=", ".join(contenders))
    parser.add_argument("--peer", metavar="PYTHON", default=own, help="interpreter that has torch")
    parser.add_argument("--paddle", metavar="PYTHON", help="interpreter that has Paddle")
    parser.add_argument("--rounds", type=positive, default=rounds, help="turns that the time is divided into")
    parser.add_argument("--seconds", type=duration, default=seconds, help="of each contender in each row")
    parser.add_argument("--threads", type=positive, default=os.cpu_count() or 1, help="of each contender")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")


def add_against(parser: argparse.ArgumentParser) -> None:
    """Add the argument for another checkout, whose engine takes part in each mode."""
    parser.add_argument(
        "--against",
        metavar="CHECKOUT",
        type=lambda text: Path(text).resolve(),
        help="another checkout, measured in alternation",
    )


def add_isa(parser: argparse.ArgumentParser) -> None:
    """Add the argument that limits all contenders to an instruction set (bench/isa.py)."""
    parser.add_argument(
        "--isa", choices=("avx2",), default="", help="limit all to it; default: what the CPU has"
    )


def measurement_names(module: str, known: Iterable[str]) -> list[str]:
    """The measurements that the command line names; none for all. Exits for ``--help`` and an unknown one."""
    known = list(known)
    made = argparse.ArgumentParser(prog=f"python -m {module}", epilog=f"measurements: {', '.join(known)}")
    made.add_argument("names", nargs="*", metavar="MEASUREMENT", help="all unless given")
    names: list[str] = made.parse_args().names
    unknown = [name for name in names if name not in known]
    if unknown:
        made.error(f"no such measurement: {unknown[0]!r}; there are {', '.join(known)}")
    return names
