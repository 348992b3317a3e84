"""Cases of compare."""

from __future__ import annotations

from engine import jit, nn
from engine.files.checkpoint import list_checkpoints
from engine.jit.input_spec import InputSpec
from tests.docs.exit_codes.place import Place, Words, case


@case("compare", "the numbers differ")
def _(place: Place) -> Words:
    run = place.run()
    first = list_checkpoints(run / "checkpoints")[0].step
    return ["compare", run, f"{run}@{first}"]


@case("compare", "neither B nor a pair, or several of them")
def _(place: Place) -> Words:
    return ["compare", place.run()]


@case("compare", "the inputs of the two have other shapes or dtypes")
def _(place: Place) -> Words:
    jit.save(nn.Linear(4, 2), str(place.tmp / "other"), [InputSpec([None, 4], "float32", "x")])
    return ["compare", place.prefix(), place.tmp / "other"]


@case("compare", "the two have no operator in common")
def _(place: Place) -> Words:
    for name, layer in (("one", nn.ReLU()), ("other", nn.Tanh())):
        jit.save(layer, str(place.tmp / name), [InputSpec([None, 4], "float32", "x")])
    return ["compare", place.tmp / "one", place.tmp / "other"]


@case("compare", "no run and no saved model there")
def _(place: Place) -> Words:
    return ["compare", place.prefix(), place.tmp / "nowhere"]


@case("compare", "a run and a saved model")
def _(place: Place) -> Words:
    return ["compare", place.run(), place.prefix()]


@case("compare", "a saved model, which has no code, with `--eager-static`")
def _(place: Place) -> Words:
    return ["compare", place.prefix(), "--eager-static"]


@case("compare", "no checkpoint of that step")
def _(place: Place) -> Words:
    return ["compare", place.run(), "--passes", "--checkpoint", "3"]


@case("compare", "the training does not come to that batch")
def _(place: Place) -> Words:
    return ["compare", place.run(), "--passes", "--batch", "1000"]


@case("compare", "the run's code was written by another installation")
def _(place: Place) -> Words:
    return ["compare", place.untrusted_run(), "--eager-static"]


@case("compare", "a device does not exist, or needs an extra that is not installed")
def _(place: Place) -> Words:
    return ["compare", place.run(), "--devices", "cpu,gpu"]
