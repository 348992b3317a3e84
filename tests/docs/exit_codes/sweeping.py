"""Cases of sweep."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from typer.testing import CliRunner

from engine.training.stepper import Stepper
from studio.cli import app
from studio.session.sweep.pool import Job
from studio.session.sweep.runner import lock_sweep
from tests.docs.exit_codes.place import HANGUP, Place, Released, Words, case
from tests.studio.session.sweep.inside import InsidePool
from tests.studio.session.sweep.search.plain_pool import any_proposal


def trained_here(place: Place, end: Callable[[Job], tuple[int, str] | None] = lambda job: None) -> None:
    """Trials are trained in this process, or end as ``end`` says."""
    place.patch.setattr("studio.cli.sweep.sweep_command._pool", lambda *_: InsidePool(end))


def sweep(place: Place, *words: str | Path) -> Words:
    return ["sweep", *place.chosen()[1:], "--out", place.tmp / "sweep", *words]


def swept(place: Place, *words: str | Path) -> Path:
    """The folder of a finished sweep of one trial."""
    trained_here(place)
    done = CliRunner().invoke(app, [str(word) for word in sweep(place, "--param", "seed=1", *words)])
    assert done.exit_code == 0, done.output
    return place.tmp / "sweep"


@case("sweep", "nothing to vary")
def _(place: Place) -> Words:
    return sweep(place)


@case("sweep", "a parameter that no training has")
def _(place: Place) -> Words:
    return sweep(place, "--param", "lrate=0.1")


@case("sweep", "a value that no training takes, or an empty or invalid range: none is begun")
def _(place: Place) -> Words:
    return sweep(place, "--param", "lr=0.1..0.1")


@case("sweep", "no combination is one that a training takes: none is begun")
def _(place: Place) -> Words:
    return sweep(place, "--clip-norm", "1", "--param", "optimizer=lbfgs")


def search(place: Place, *words: str) -> Words:
    return sweep(place, "--search", "bayes", *words)


@case("sweep --search bayes", "no `--trials`, or 0")
def _(place: Place) -> Words:
    return search(place, "--trials", "0", "--param", "seed=1..9")


@case("sweep --search bayes", "`--scheduler` without `--jobs`")
def _(place: Place) -> Words:
    return search(place, "--trials", "3", "--scheduler", "tls://host:8786", "--param", "seed=1..9")


@case("sweep --search bayes", "optuna is not installed")
def _(place: Place) -> Words:
    place.patch.delitem(sys.modules, "studio.session.sweep.search.tpe", raising=False)
    place.patch.setitem(sys.modules, "optuna", None)
    return search(place, "--trials", "3", "--param", "seed=1..9")


@case("sweep --search bayes", "`--halving`")
def _(place: Place) -> Words:
    return search(place, "--trials", "3", "--halving", "--param", "seed=1..9")


@case("sweep --search bayes", "every trial is invalid")
def _(place: Place) -> Words:
    trained_here(place)
    place.patch.setattr("studio.session.sweep.making.proposer", lambda _: any_proposal)
    place.patch.setattr("studio.session.sweep.runner.proposer", lambda _: any_proposal)
    return search(place, "--trials", "2", "--clip-norm", "1", "--optimizer", "lbfgs", "--param", "seed=1..9")


@case("sweep", "no such data")
def _(place: Place) -> Words:
    return sweep(place, "--data", "nowhere", "--param", "seed=1,2")


@case("sweep", "a trial fails or is killed; the others are trained")
def _(place: Place) -> Words:
    trained_here(place, lambda job: (-9, "") if job.number == 1 else None)
    return sweep(place, "--param", "seed=1,2")


@case("sweep", "the loss of every trial is no longer a number")
def _(place: Place) -> Words:
    trained_here(place)
    place.patch.setattr(Stepper, "train", lambda *_: (float("nan"), 0.1))
    return sweep(place, "--param", "seed=1")


@case("sweep", "Ctrl+C, SIGTERM or a closed terminal")
def _(place: Place) -> Words:
    def end(job: Job) -> tuple[int, str]:
        signal.raise_signal(HANGUP)
        return 1, "stopped at step 4; ..."

    trained_here(place, end)
    return sweep(place, "--param", "seed=1,2")


@case("sweep", "`--out` holds a sweep")
def _(place: Place) -> Words:
    return ["sweep", "--out", swept(place), "--param", "seed=1"]


@case("sweep", "it continues in `--out`")
def _(place: Place) -> Words:
    lock = lock_sweep(place.tmp / "sweep")
    place.around = Released(lock)
    return sweep(place, "--param", "seed=1")


@case("sweep --scheduler", "Dask is not installed")
def _(place: Place) -> Words:
    place.patch.delitem(sys.modules, "studio.session.sweep.cluster", raising=False)
    place.patch.setitem(sys.modules, "distributed", None)
    return sweep(place, "--param", "seed=1", "--scheduler", "tls://host:8786")


@case("sweep --scheduler", "an address without encryption")
def _(place: Place) -> Words:
    return sweep(place, "--param", "seed=1", "--scheduler", "tcp://host:8786")


@case("sweep --scheduler", "a model of one's own")
def _(place: Place) -> Words:
    return sweep(place, "--model", place.model(), "--param", "seed=1", "--scheduler", "tls://host:8786")


@case("sweep --resume", "no `--out`")
def _(place: Place) -> Words:
    return ["sweep", "--resume"]


@case("sweep --resume", "a setting that would make it another sweep")
def _(place: Place) -> Words:
    return ["sweep", "--resume", "--out", swept(place), "--lr", "7"]


@case("sweep --resume", "no sweep there, or a damaged one")
def _(place: Place) -> Words:
    return ["sweep", "--resume", "--out", place.tmp / "nowhere"]


@case("sweep --resume", "the model has changed since")
def _(place: Place) -> Words:
    swept(place, "--model", place.model())
    place.model(lambda text: text + "\n")
    return ["sweep", "--resume", "--out", place.tmp / "sweep"]


@case("sweep --resume", "an untrusted sweep trains its own model")
def _(place: Place) -> Words:
    file = swept(place, "--model", place.model()) / "sweep.json"
    file.write_text(re.sub('"mark": "[0-9a-f]+"', '"mark": ""', file.read_text()))
    return ["sweep", "--resume", "--out", file.parent]
