"""Cases of explain and activations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import engine as paddle
from engine import nn
from engine.static import InputSpec
from tests.docs.exit_codes.place import Place, Words, case
from tests.robust.untrusted_models import image


def _digits(place: Place, first: float = 0.5) -> Path:
    images = np.concatenate([image(0.5), image(0.25)])
    images[0, 0, 3, 4] = first
    np.save(place.tmp / "digits.npy", images)
    return place.tmp / "digits.npy"


def _words(place: Place) -> Words:
    network = nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(12, 2))
    paddle.jit.save(network, str(place.tmp / "words"), input_spec=[InputSpec([None, 3], "int64", "words")])
    np.save(place.tmp / "sample.npy", np.array([[1, 2, 3]]))
    return ["explain", place.tmp / "words", place.tmp / "sample.npy"]


@case("explain", "no such model")
def _(place: Place) -> Words:
    return ["explain", place.tmp / "nowhere", place.image()]


@case("explain", "the method needs gradients, and the model has none")
def _(place: Place) -> Words:
    return _words(place)


@case("explain", "NaN in the sample")
def _(place: Place) -> Words:
    return ["explain", place.prefix(), _digits(place, np.nan)]


@case("explain", "no such class")
def _(place: Place) -> Words:
    return ["explain", place.prefix(), place.image(), "--class", "10"]


@case("explain", "no such sample in the file")
def _(place: Place) -> Words:
    return ["explain", place.prefix(), _digits(place), "--sample", "2"]


@case("explain", "an image of a map that has none")
def _(place: Place) -> Words:
    return [*_words(place), "--method", "occlusion", "--out", place.tmp / "map.png"]


@case("explain", "no such method")
def _(place: Place) -> Words:
    return ["explain", place.prefix(), place.image(), "--method", "lime"]


@case("explain", "an output file of another kind")
def _(place: Place) -> Words:
    return ["explain", place.prefix(), place.image(), "--out", place.tmp / "map.jpg"]


@case("explain, activations", "a limit is too low to load the model")
def _(place: Place) -> Words:
    return ["explain", place.run(), place.image(), "--memory", "1 MB"]


@case("explain, activations", "the run's code was written by another installation")
def _(place: Place) -> Words:
    return ["activations", place.untrusted_run(), place.image()]


@case("explain, activations", "no checkpoint of that step")
def _(place: Place) -> Words:
    return ["activations", place.run(), place.image(), "--checkpoint", "3"]
