"""Attacks on models that Paddle saved: bytes of both files, and Programs whose parts were changed."""

from __future__ import annotations

import copy
import functools
import json
import random
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from engine.core.program_desc import Attr, AttrType, OpDesc, ProgramDesc
from engine.files.paddle.program_desc import parse_program, program_bytes
from tests.robust.mutations import mutated, mutated_bytes
from tests.robust.reader import Reader

RECORDED = Path(__file__).parents[1] / "engine/jit/paddle/recorded"
_EMPTY = {AttrType.STRINGS: "", AttrType.VARS: "", AttrType.FLOATS: 0.0, AttrType.FLOAT64S: 0.0}
Files = dict[str, bytes]
_NUMBERS = (0, 1, -1, 2, 3, 7, -2, 1 << 16, (1 << 31) - 1, -(1 << 31), (1 << 63) - 1, 1 << 40)
_FLOATS = (0.0, -0.0, 1.0, 1e-5, -1.0, 1e38, float("inf"), float("nan"))
_TEXTS = ("", "x", "NCHW", "NHWC", "LSTM", "GRU", "inf", "-3", "1e400", "max", "\0", "é" * 30, "a.b/../c")


@functools.cache
def _models() -> list[Files]:
    prefixes = sorted(path.with_suffix("") for path in RECORDED.glob("*.pdmodel"))
    return [
        {
            suffix: path.read_bytes()
            for suffix in ("pdmodel", "pdiparams", "pdiparams.info")
            if (path := Path(f"{prefix}.{suffix}")).exists()
        }
        for prefix in prefixes
    ]


def damaged_files(draw: random.Random) -> Files:
    """A model with bytes of one of its files changed, or with a file of another one."""
    files = dict(draw.choice(_models()))
    suffix = draw.choice(sorted(files))
    others = [model[suffix] for model in _models() if suffix in model]
    files[suffix] = draw.choice(others) if draw.random() < 0.1 else mutated_bytes(files[suffix], draw, others)
    return files


@functools.cache
def _programs() -> list[ProgramDesc]:
    return [parse_program(model["pdmodel"], "sample") for model in _models()]


def changed_program(draw: random.Random) -> Files:
    """A model whose Program has one to four parts changed, and is a message of protobuf as before."""
    number = draw.randrange(len(_programs()))
    program = copy.deepcopy(_programs()[number])
    for _ in range(draw.choice((1, 1, 2, 4))):
        draw.choice((_change_operator, _change_operator, _change_operators, _change_variable, _change_block))(
            program, draw
        )
    return {**_models()[number], "pdmodel": program_bytes(program)}


def _names(program: ProgramDesc) -> list[str]:
    return [v.name for b in program.blocks for v in b.vars] or ["x"]


def _operator(program: ProgramDesc, draw: random.Random) -> OpDesc:
    blocks = [b for b in program.blocks if b.ops]
    return draw.choice(draw.choice(blocks).ops) if blocks else OpDesc("relu")


def _change_operator(program: ProgramDesc, draw: random.Random) -> None:
    operator = _operator(program, draw)
    slots = draw.choice((operator.inputs, operator.outputs))
    what = draw.randrange(8)
    if what == 0:
        operator.type = draw.choice(
            (_operator(draw.choice(_programs()), draw).type, "while", "zzz", "set_value")
        )
    elif what == 1 and slots:
        slots[draw.choice(list(slots))] = draw.choices(_names(program), k=draw.choice((0, 1, 1, 2, 5)))
    elif what == 2 and slots:
        del slots[draw.choice(list(slots))]
    elif what == 3:
        slots[draw.choice(("X", "Axis", "ShapeTensor", "ShapeTensorList", "Out", "K"))] = [
            draw.choice(_names(program))
        ]
    elif operator.attrs:
        name = draw.choice(list(operator.attrs))
        if what == 4:
            del operator.attrs[name]
        else:
            operator.attrs[name] = _changed(operator.attrs[name], draw)


def _changed(attr: Attr, draw: random.Random) -> Attr:
    if draw.random() < 0.15:
        return draw.choice(
            (
                Attr(AttrType.STRING, draw.choice(_TEXTS)),
                Attr(AttrType.INTS, [draw.choice(_NUMBERS)] * draw.choice((0, 1, 3))),
                Attr(AttrType.FLOAT, draw.choice(_FLOATS)),
                Attr(AttrType.BLOCK, draw.choice((0, 1, 2, 9, -1))),
                Attr(AttrType.VAR, "x"),
            )
        )
    if isinstance(attr.value, list):
        each = _odd(attr.value[0] if attr.value else _EMPTY.get(attr.type, 0), draw)
        return Attr(
            attr.type, draw.choice(([], [*attr.value, each], [each] * len(attr.value), attr.value[1:]))
        )
    return Attr(attr.type, _odd(attr.value, draw))


def _odd(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return draw.choice(_TEXTS)
    return draw.choice(_FLOATS if isinstance(value, float) else _NUMBERS)


def _change_operators(program: ProgramDesc, draw: random.Random) -> None:
    block = draw.choice(program.blocks)
    if not block.ops:
        return
    place = draw.randrange(len(block.ops))
    what = draw.randrange(4)
    if what == 0:
        del block.ops[place]
    elif what == 1:
        block.ops.insert(draw.randrange(len(block.ops) + 1), block.ops[place])
    elif what == 2:
        draw.shuffle(block.ops)
    else:
        draw.choice(program.blocks).ops.append(_operator(draw.choice(_programs()), draw))


def _change_variable(program: ProgramDesc, draw: random.Random) -> None:
    variables = [v for b in program.blocks for v in b.vars]
    if not variables:
        return
    variable = draw.choice(variables)
    what = draw.randrange(5)
    if what == 0:
        variable.name = draw.choice((*_TEXTS, draw.choice(_names(program))))
    elif what == 1:
        variable.dtype = draw.choice((*range(32), None))
    elif what == 2:
        variable.shape = [draw.choice(_NUMBERS) for _ in range(draw.choice((0, 1, 3, 40)))]
    elif what == 3:
        variable.persistable = not variable.persistable
    else:
        variable.kind = draw.choice(range(7, 32))


def _change_block(program: ProgramDesc, draw: random.Random) -> None:
    block = draw.choice(program.blocks)
    what = draw.randrange(4)
    if what == 0:
        block.parent = draw.choice((-1, 0, 1, 5, block.idx))
    elif what == 1:
        program.blocks.append(copy.deepcopy(block))
    elif what == 2 and len(program.blocks) > 1:
        del program.blocks[-1]
    else:
        program.version = draw.choice(_NUMBERS)


def newer_program(draw: random.Random) -> Files:
    """A model of Paddle 3 with values of its JSON, or bytes of it, changed."""
    path = draw.choice(sorted(RECORDED.glob("*_3.json")))
    data = path.read_bytes()
    if draw.random() < 0.8:
        data = json.dumps(mutated(json.loads(data), draw, 0.95), separators=(",", ":")).encode()
    else:
        data = mutated_bytes(data, draw, [])
    return {"json": data, "pdiparams": path.with_suffix(".pdiparams").read_bytes()}


def read_newer(files: Files, folder: Path) -> object:
    """As ``jit.load`` reads them."""
    from engine.jit.export import layer_of
    from engine.jit.saved.paddle_files import read_paddle

    for suffix, data in files.items():
        (folder / f"newer.{suffix}").write_bytes(data)
    return str(layer_of(read_paddle(folder / "newer.json")).program())


def read_files(files: Files, folder: Path) -> object:
    """As ``jit.load`` reads them, and prints what was read."""
    from engine.jit.export import layer_of
    from engine.jit.saved.paddle_files import read_paddle

    prefix = folder / "model"
    for suffix in ("pdmodel", "pdiparams", "pdiparams.info"):
        path = folder / f"model.{suffix}"
        path.unlink(missing_ok=True)
        if suffix in files:
            path.write_bytes(files[suffix])
    return str(layer_of(read_paddle(prefix)).program())


def paddle_readers() -> list[Reader]:
    """The readers of models that Paddle saved."""
    return [
        Reader("Paddle's model, bytes", damaged_files, read_files, (EngineError,), 0, 128),
        Reader("Paddle 3's model", newer_program, read_newer, (EngineError,), 0, 128),
        Reader("Paddle's model, parts of its Program", changed_program, read_files, (EngineError,), 0, 256),
    ]
