"""Cases of debug."""

from __future__ import annotations

import numpy as np

from tests.docs.exit_codes.place import Place, Words, case
from tests.robust.untrusted_models import Endless, image, saved, unsign


def _logarithm(text: str) -> str:
    return text.replace("return self.linear(", "return engine.log(0.0 * x.sum()) + self.linear(")


def _settings(place: Place, model: str = "linear") -> Words:
    return ["debug", "--data", place.data, "--model", model]


@case("debug", "the step is finite")
def _(place: Place) -> Words:
    return ["debug", place.run(), "--steps", "2"]


@case("debug", "an operator makes NaN or infinity of finite inputs")
def _(place: Place) -> Words:
    return _settings(place, place.model(_logarithm))


@case("debug", "a breakpoint or a condition is reached")
def _(place: Place) -> Words:
    return [*_settings(place, place.model()), "--break", "net.py:12"]


@case("debug", "no run and no saved model there")
def _(place: Place) -> Words:
    return ["debug", place.tmp / "nowhere"]


@case("debug", "no checkpoint of that step")
def _(place: Place) -> Words:
    return ["debug", place.run(), "--checkpoint", "3"]


@case("debug", "the training does not come to that step")
def _(place: Place) -> Words:
    return ["debug", place.run(), "--batch", "1000"]


@case("debug", "a breakpoint on a line without operators, and none after it")
def _(place: Place) -> Words:
    return [*_settings(place, place.model()), "--break", "net.py:40"]


@case("debug", "a breakpoint on what is neither a layer nor an operator")
def _(place: Place) -> Words:
    return [*_settings(place), "--break", "fc9"]


@case("debug", "`--ignore` names what is neither a layer nor an operator")
def _(place: Place) -> Words:
    return [*_settings(place), "--ignore", "fc9"]


@case("debug", "the run's code was written by another installation")
def _(place: Place) -> Words:
    return ["debug", place.untrusted_run()]


@case("debug", "an untrusted model takes more time or memory than its limits")
def _(place: Place) -> Words:
    np.save(place.tmp / "image.npy", image(1.0))
    prefix = unsign(saved(Endless(), place.tmp / "endless"))
    return ["debug", prefix, "--input", place.tmp / "image.npy", "--seconds", "0.2"]


@case("debug", "a setting that a run has itself")
def _(place: Place) -> Words:
    return ["debug", place.run(), "--optimizer", "sgd"]


@case("debug", "an option of runs or saved models for something else")
def _(place: Place) -> Words:
    return [*_settings(place), "--checkpoint", "3"]


@case("debug", "until something else than nan")
def _(place: Place) -> Words:
    return [*_settings(place), "--until", "inf"]
