"""Attacks on saved models: their Programs, weights and information; Programs that are read are run once."""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from engine.core.operators import traits
from tests.robust.container_readers import KINDS, document_in_place, tree
from tests.robust.containers import SAVE_ID, container
from tests.robust.corpus import sample
from tests.robust.mutations import mutated, mutated_bytes
from tests.robust.reader import Reader

MODELS = ("branches", "pictures", "quantized", "words")


@functools.cache
def programs() -> list[Any]:
    """The plain Programs of the corpus, one of version 1 among them."""
    old = Path(__file__).parents[1] / "engine" / "program" / "saved" / "version_1.json"
    found = [json.loads(old.read_text())["program"]]
    for model in MODELS:
        plain = dict(tree(f"{model}.pdmodel")["program"])
        found += [plain.pop("methods")["encode"]] if "methods" in plain else []
        found.append(plain)
    return [*found, tree("training.pdmodel")["__program__"]]


def program_case(draw: random.Random) -> Any:
    """A Program whose plain form was changed anywhere."""
    return mutated(draw.choice(programs()), draw, deep=0.93)


def read_program(plain: Any, folder: Path) -> object:
    from engine.program.saved.serialize import from_plain

    return from_plain(plain, "model.pdmodel", training=True)


def model_trees(draw: random.Random) -> dict[str, Any]:
    """The trees of a model's three files, one or all of them changed."""
    model = draw.choice(MODELS)
    trees = {suffix: tree(f"{model}.{suffix}") for suffix in ("pdmodel", "pdiparams", "pdiparams.info")}
    for suffix in draw.choice((("pdmodel",), ("pdiparams",), ("pdiparams.info",), tuple(trees))):
        trees[suffix] = mutated(trees[suffix], draw, deep=0.9)
    return trees


def model_files(draw: random.Random) -> dict[str, bytes]:
    """The three files of a model with changed trees or bytes, of one save or, rarely, of two."""
    files = {}
    if draw.random() < 0.2:
        model = draw.choice(MODELS)
        files = {s: sample(f"{model}.{s}") for s in ("pdmodel", "pdiparams", "pdiparams.info")}
        suffix = draw.choice(list(files))
        files[suffix] = (
            document_in_place(draw) if draw.random() < 0.5 else mutated_bytes(files[suffix], draw, [])
        )
        return files
    kinds = {
        "pdmodel": "inference.program",
        "pdiparams": "inference.weights",
        "pdiparams.info": "inference.info",
    }
    for suffix, changed in model_trees(draw).items():
        kind = draw.choice(KINDS) if draw.random() < 0.02 else kinds[suffix]
        save_id = SAVE_ID if draw.random() < 0.98 else draw.randbytes(16)
        try:
            files[suffix] = container(kind, changed, 1 if draw.random() < 0.98 else 7, save_id)
        except (EngineError, ValueError, UnicodeError):  # no file holds such values
            files[suffix] = sample(f"pictures.{suffix}")
    return files


def read_model(files: dict[str, bytes], folder: Path) -> object:
    """All that opens a model: jit.load, what the pages and inspect show, load_inference_model, load."""
    import engine as paddle
    from engine.inference.serve import Server
    from engine.inference.wire import Message
    from studio.session.graph.program_check import checked_program
    from studio.session.predict.model_choice import ModelChoice
    from studio.session.predict.model_info import model_info
    from studio.session.predict.saved_files import describe_model

    def as_the_page_does() -> object:
        server = Server()
        said, _ = server.answer(
            Message({"do": "load", "prefix": prefix, "memory": None, "seconds": None}, [])
        )
        _, (plain, text) = server.answer(Message({"do": "program"}, []))
        shown = model_info(ModelChoice(str(prefix)), said["info"], said["save_id"], own=False)
        return shown, checked_program(json.loads(bytes(plain)), prefix), bytes(text).decode()

    for suffix, data in files.items():
        (folder / f"m.{suffix}").write_bytes(data)
    prefix = str(folder / "m")
    readers: list[Callable[[], object]] = [
        as_the_page_does,
        lambda: describe_model(prefix),
        lambda: paddle.load(prefix),
        lambda: paddle.static.load_inference_model(prefix, paddle.static.Executor()),
    ]
    first = sum(map(len, files.values())) % len(readers)
    each = readers[first:] + readers[:first]  # each is the first at times, and raises what it finds
    return [read() for read in each]


# ----- Programs that are run --------------------------------------------------------------------------------

_ATTRIBUTES: list[Any] = [
    0,
    1,
    -1,
    2,
    3,
    7,
    100,
    2**20,
    2**31 - 1,
    10**12,
    -(2**40),
    0.5,
    -1.0,
    1e30,
    True,
    False,
    None,
    "",
    "x",
    "same",
    "NCHW",
    [],
    [0],
    [1],
    [-1],
    [0, 1],
    [1, 2, 3],
    [2, 2],
    [10**6, 10**6],
    [-1, 4],
    [[0, 1]],
    {"dtype": "int64"},
    {"dtype": "float64"},
    {"dtype": "complex64"},
    ["slice", 0, 2, 1],
    [["slice", None, None, -1]],
    ["..."],
]


def run_case(draw: random.Random) -> Any:
    """The files of a model with operators changed, added, moved, or set below another block."""
    model = draw.choice(MODELS)
    files = {
        suffix: copy.deepcopy(tree(f"{model}.{suffix}"))
        for suffix in ("pdmodel", "pdiparams", "pdiparams.info")
    }
    program = files["pdmodel"]["program"]
    for _ in range(draw.choice((1, 1, 2, 3))):
        draw.choice(
            (
                _another_type,
                _another_attribute,
                _another_input,
                _another_shape,
                _moved,
                _added,
                _added,
                _added,
            )
        )(program, draw)
    return files


def _block(program: Any, draw: random.Random) -> Any:
    return draw.choice([block for block in program["blocks"] if block["ops"]])


def _another_type(program: Any, draw: random.Random) -> None:
    from engine.core.operators.opdef import OPS

    operator = draw.choice(_block(program, draw)["ops"])
    same = [name for name, found in OPS.items() if [i.slot for i in found.inputs] == list(operator["inputs"])]
    operator["type"] = draw.choice(same or list(OPS))
    known = OPS[operator["type"]].attributes
    operator["attrs"] = {name: value for name, value in operator["attrs"].items() if name in known}


def _another_attribute(program: Any, draw: random.Random) -> None:
    operators = [o for o in _block(program, draw)["ops"] if o["attrs"]]
    for operator in operators and [draw.choice(operators)]:
        operator["attrs"][draw.choice(list(operator["attrs"]))] = copy.deepcopy(draw.choice(_ATTRIBUTES))


def _another_input(program: Any, draw: random.Random) -> None:
    block = _block(program, draw)
    operator = draw.choice(block["ops"])
    for slot in operator["inputs"]:
        if draw.random() < 0.7:
            operator["inputs"][slot] = [draw.choice(block["vars"])["name"] for _ in operator["inputs"][slot]]


def _another_shape(program: Any, draw: random.Random) -> None:
    variable = draw.choice(_block(program, draw)["vars"])
    if draw.random() < 0.3:
        variable["dtype"] = draw.choice(("int64", "float64", "bool", "complex64", "bfloat16", "uint8"))
    elif variable["shape"]:
        variable["shape"][draw.randrange(len(variable["shape"]))] = draw.choice(
            (-1, 0, 1, 2, 5, 2**20, 2**31)
        )


def _moved(program: Any, draw: random.Random) -> None:
    if draw.random() < 0.3:
        block = draw.choice(program["blocks"])
        block["parent"] = draw.choice((-1, 0, 1, block["idx"], len(program["blocks"]) - 1))
        return
    operators = _block(program, draw)["ops"]
    at = draw.randrange(len(operators))
    if draw.random() < 0.5:
        operators.insert(draw.randrange(len(operators)), operators.pop(at))
    else:
        operators.insert(at, copy.deepcopy(operators[at]))


def _added(program: Any, draw: random.Random) -> None:
    """One to six operators of any type are added, whose stated shapes are right, and asked for."""
    from engine.core.operators.opdef import OPS
    from engine.core.values.spec import Spec

    block = program["blocks"][0]
    known = [v for v in block["vars"] if not v["persistable"] or draw.random() < 0.3]
    for n in range(draw.choice((1, 2, 3, 6))):
        opdef = OPS[draw.choice(list(OPS))]
        if opdef in traits.opaque or opdef.regions or opdef in traits.loops:
            continue
        picked: list[Any] = []
        for declared in opdef.inputs:
            if declared.optional:
                picked.append(None)
            else:
                each = [draw.choice(known) for _ in range(draw.choice((1, 2, 30)) if declared.is_list else 1)]
                picked.append(each if declared.is_list else each[0])
        attrs = {name: value for name, value in opdef.attributes.items() if _is_plain(value)}
        for name in opdef.attributes:
            if draw.random() < 0.35 or name not in attrs:
                attrs[name] = copy.deepcopy(draw.choice(_ATTRIBUTES))
        specs = [
            [_spec_of(v) for v in each] if isinstance(each, list) else each and _spec_of(each)
            for each in picked
        ]
        try:
            made = opdef.infer_specs(specs, opdef.with_defaults(attrs))
        except Exception:  # no such operator on such inputs
            continue
        outputs: dict[str, list[str]] = {}
        for place, spec in enumerate(made):
            if not isinstance(spec, Spec):
                continue
            name = f"added_{len(block['vars'])}_{n}"
            slot = opdef.outputs[0 if opdef.listed else place].slot
            outputs.setdefault(slot, []).append(name)
            variable = {
                "name": name,
                "shape": list(spec.shape),
                "dtype": spec.dtype.name,
                "persistable": False,
                "stop_gradient": True,
                "parameter": False,
                "data": False,
            }
            block["vars"].append(variable)
            known.append(variable)
            program["outputs"].append(name)
        inputs = {
            declared.slot: [v["name"] for v in (each if isinstance(each, list) else [each])]
            for declared, each in zip(opdef.inputs, picked, strict=True)
            if each is not None
        }
        block["ops"].append(
            {"type": opdef.name, "inputs": inputs, "outputs": outputs, "attrs": attrs, "regions": []}
        )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | list | tuple)


def _spec_of(variable: Any) -> Any:
    from engine.core.values.spec import Spec

    return Spec(variable["shape"], variable["dtype"])


def read_and_run(trees: Any, folder: Path) -> object:
    """Load the model as jit.load or what predicts does; run it once on one small input, with any error."""
    import numpy as np

    import engine as paddle
    from engine.files.inference import InferenceFiles
    from engine.jit.export import layer_of, prediction_layer

    weights = trees["pdiparams"]["weights"]
    program = trees["pdmodel"]["program"]
    load = layer_of if sum(len(block["ops"]) for block in program["blocks"]) % 2 else prediction_layer
    layer = load(InferenceFiles(program, weights, trees["pdiparams.info"]["info"], "0" * 32, folder / "m"))
    layer.eval()
    inputs = [
        np.ones([2 if n < 0 else n for n in s.shape], np.dtype(str(s.dtype).rpartition(".")[2]))
        for s in layer.input_specs()
    ]
    try:
        with paddle.no_grad(), paddle.model_limits(memory="256 MB", seconds=3):
            found = layer(*[paddle.to_tensor(x) for x in inputs])
            return [each.numpy() for each in (found if isinstance(found, list | tuple) else [found])]
    except Exception:  # the process that runs it answers with the error, whatever its class
        return None


def model_readers() -> list[Reader]:
    """The readers of saved models."""
    ours = (EngineError,)
    return [
        Reader("program", program_case, read_program, ours, 62),
        Reader("model files", model_files, read_model, ours, 4, 128),
        Reader("program, run once", run_case, read_and_run, ours, 0, 600),
    ]
