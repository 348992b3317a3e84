"""Cases of graph."""

from __future__ import annotations

from typing import Any

from engine.files.untrusted import guarded
from tests.docs.exit_codes.place import Place, Words, case
from tests.robust.hostile_models import forge_files


@case("graph", "neither PREFIX nor `--model`, or both")
def _(place: Place) -> Words:
    return ["graph", place.prefix(), "--model", "lenet"]


@case("graph", "`--open` names no group")
def _(place: Place) -> Words:
    return ["graph", place.prefix(), "--open", "layer9"]


@case("graph", "`--by` or `--phases` has another word")
def _(place: Place) -> Words:
    return ["graph", place.prefix(), "--phases", "forward,backwards"]


@case("graph", "`--step` of a saved model, which does not train")
def _(place: Place) -> Words:
    return ["graph", place.prefix(), "--step"]


@case("graph", "the run's code was written by another installation")
def _(place: Place) -> Words:
    return ["graph", place.untrusted_run()]


@case("graph", "no such model")
def _(place: Place) -> Words:
    return ["graph", place.tmp / "nowhere"]


@case("graph", "the SVG file can't be written")
def _(place: Place) -> Words:
    return ["graph", place.prefix(), "--svg", place.tmp / "nowhere" / "bars.svg"]


@case("graph", "the Program in the file is damaged")
def _(place: Place) -> Words:
    place.patch.setattr(guarded, "check", lambda suspects: None)  # the guarded reader has its own tests

    def damage(plain: dict[str, Any]) -> None:
        plain["blocks"][0]["ops"] = 3

    forge_files(place.prefix(), damage)
    return ["graph", place.tmp / "bars"]


@case("graph", "the network of `--model` fails")
def _(place: Place) -> Words:
    return ["graph", "--model", place.model(lambda text: text.replace("784", "700")), "--data", place.data]
