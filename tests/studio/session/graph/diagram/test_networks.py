"""Diagrams of real Programs: networks, loops, branches, gradients and updates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine as paddle
from engine import nn
from engine.core.layer_calls import names_of, noting_layer_calls
from engine.program.saved.serialize import to_plain
from engine.static import InputSpec
from studio.session.graph.diagram.diagram import Diagram
from studio.session.graph.diagram.svg import write_svg
from tests.studio.session.graph.diagram.programs import operator, program, random_program, require_sound
from tests.trials import trials

Plain = Any


class Loop(nn.Layer):
    """A while loop with a branch in it, and a branch after it."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = nn.ReLU()

    def forward(self, x: Any) -> Any:
        i = paddle.zeros([1], "int32")
        while i < 3:
            if x.sum() > 0:
                x = self.act(self.fc(x))
            else:
                x = self.fc(x) * 2
            i += 1
        if x.mean() > 0:
            x = self.fc(x)
        return x


class Recurrent(nn.Layer):
    """A GRU cell in a loop over the steps, whose number is not known."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(3, 5)
        self.out = nn.Linear(5, 2)

    def forward(self, x: Any) -> Any:
        state = paddle.zeros([2, 5])
        step = paddle.zeros([], "int64")
        while step < paddle.shape(x)[1]:
            _, state = self.cell(x[:, step], state)
            step += 1
        return self.out(state)


class Words(nn.Layer):
    """A transformer of two equal layers."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2)
        self.out = nn.Linear(16, 3)

    def forward(self, x: Any) -> Any:
        return self.out(self.encoder(self.embedding(x))[:, 0])


def inferred(network: nn.Layer, shape: list[int | None], dtype: str = "float32") -> Plain:
    network.eval()
    traced: Any = paddle.jit.to_static(network, input_spec=[InputSpec(shape, dtype, "x")])
    return to_plain(traced.forward.concrete_program.main_program)


def trained(network: Callable[[], nn.Layer], shape: list[int | None], by_layer: bool) -> Plain:
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", shape)
            y = paddle.static.data("y", [None, 1], "int64")
            made = network()
            with noting_layer_calls(names_of(made) if by_layer else {}):
                scores = made(x)
            loss = nn.functional.cross_entropy(scores, y).mean()
            paddle.optimizer.Adam(parameters=made.parameters()).minimize(loss)
    finally:
        paddle.disable_static()
    return to_plain(main)


def loop_with_gradients() -> Plain:
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [4, 3])
            w = paddle.create_parameter([3, 3], "float32")
            first = paddle.zeros([1], "int32")
            _, y = paddle.static.nn.while_loop(
                lambda i, y: i < 3, lambda i, y: [i + 1, paddle.tanh(paddle.matmul(y, w))], [first, x]
            )
            loss = paddle.static.nn.cond(y.sum() > 0, lambda: y.mean(), lambda: (y * y).mean())
            paddle.optimizer.SGD(0.1, parameters=[w]).minimize(loss)
    finally:
        paddle.disable_static()
    return to_plain(main)


PROGRAMS: dict[str, Callable[[], Plain]] = {
    "lenet": lambda: inferred(paddle.vision.models.LeNet(), [None, 1, 28, 28]),
    "resnet18": lambda: inferred(paddle.vision.models.resnet18(), [None, 3, 64, 64]),
    "transformer": lambda: inferred(Words(), [None, 7], "int64"),
    "loop": lambda: inferred(Loop(), [None, 4]),
    "recurrent": lambda: inferred(Recurrent(), [2, None, 3]),
    "gru": lambda: inferred(nn.GRU(3, 5, num_layers=2, direction="bidirect"), [None, None, 3]),
    "training": lambda: trained(paddle.vision.models.LeNet, [None, 1, 28, 28], True),
    "training of a script": lambda: trained(paddle.vision.models.LeNet, [None, 1, 28, 28], False),
    "training of resnet18": lambda: trained(paddle.vision.models.resnet18, [None, 3, 32, 32], True),
    "gradient of a loop": loop_with_gradients,
}


@pytest.fixture(scope="module")
def plain(request: pytest.FixtureRequest) -> Plain:
    return PROGRAMS[request.param]()


def uses(plain: Plain) -> Iterator[tuple[int, int]]:
    """Pairs of operators of the first block, the second of which takes what the first has made last.

    What operators in sub-blocks take counts for the operator of the first block that they are within.
    """
    blocks = plain["blocks"]
    made: dict[str, int] = {}
    for number, op in enumerate(blocks[0]["ops"]):
        names = list(taken(blocks, op))
        for name in names:
            if name in made and made[name] != number:
                yield made[name], number
        for name in [n for each in op["outputs"].values() for n in each]:
            made[name] = number
        if op["kept"] is not None:
            made[op["kept"][1]] = number


def taken(blocks: Any, op: Any) -> Iterator[str]:
    own: set[str] = set()
    for names in op["inputs"].values():
        yield from names
    if op["taken"] is not None:
        yield op["taken"][1]
    for region in op["regions"]:
        block = blocks[region["block"]]
        own.update(v["name"] for v in block["vars"])
        for inner in block["ops"]:
            yield from (name for name in taken(blocks, inner) if name not in own)


@pytest.mark.parametrize("plain", PROGRAMS, indirect=True)
def test_scenes_are_sound_whatever_is_open(plain: Plain) -> None:
    diagram = Diagram(plain)
    assert not diagram.shortened
    require_sound(diagram, diagram.scene(), plain)
    for group in [node for node in range(diagram.node_count) if diagram.is_group(node)][::2]:
        diagram.open(group)
    require_sound(diagram, diagram.scene(), plain)
    diagram.open_all()
    scene = diagram.scene()
    require_sound(diagram, scene, plain)
    write_svg(scene).encode("utf-8")
    for by in ("line", "prefix"):
        other = Diagram(plain, by)
        other.open_all()
        require_sound(other, other.scene(), plain)


@pytest.mark.parametrize("plain", PROGRAMS, indirect=True)
def test_closed_groups_have_the_edges_of_the_program_and_no_others(plain: Plain) -> None:
    diagram = Diagram(plain)
    for node in [n for n in range(diagram.node_count) if diagram.is_open(n)]:
        diagram.close(node)
    scene = diagram.scene()
    box = {place: row for row, node in enumerate(scene.ids.tolist()) for place in diagram.operators_of(node)}
    wanted = {(box[0, a], box[0, b]) for a, b in uses(plain)}
    operators = {row for row in range(len(scene.ids)) if diagram.operators_of(int(scene.ids[row]))}
    drawn = {(a, b) for a, b in scene.edge_ends.tolist() if a in operators and b in operators}
    assert drawn == {(a, b) for a, b in wanted if a != b}


@pytest.mark.parametrize("plain", PROGRAMS, indirect=True)
def test_no_circle_is_drawn(plain: Plain) -> None:
    diagram = Diagram(plain)
    for opened in (False, True):
        if opened:
            diagram.open_all()
        scene = diagram.scene()
        after: dict[int, set[int]] = {}
        for a, b in scene.edge_ends.tolist():
            after.setdefault(a, set()).add(b)
        waiting = dict.fromkeys(range(len(scene.ids)), 0)
        for targets in after.values():
            for target in targets:
                waiting[target] += 1
        ready = [row for row, count in waiting.items() if not count]
        done = 0
        while ready:
            done += 1
            for target in after.get(ready.pop(), ()):
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
        assert done == len(scene.ids)


def test_only_sizes_that_are_really_open_are_questions() -> None:
    diagram = Diagram(PROGRAMS["resnet18"]())
    diagram.open_all()
    assert not [text for text in diagram.scene().edge_texts if "?" in text]


@trials(60)
@given(st.integers(0, 2**31), st.integers(1, 80), st.booleans(), st.booleans(), st.data())
def test_random_programs_with_groups_open_at_random(
    seed: int, count: int, lines: bool, trains: bool, data: Any
) -> None:
    plain = random_program(seed, count, lines)
    if trains:
        for number, op in enumerate(plain["blocks"][0]["ops"]):
            role = (0, 1, 2)[min(3 * number // count, 2)] if seed % 2 else (seed >> number % 16) % 3
            op["notes"] = {"attrs": {"op_role": role}}
    diagram = Diagram(plain, "line" if lines else "layer")
    groups = [node for node in range(diagram.node_count) if diagram.is_group(node)]
    for group in data.draw(st.lists(st.sampled_from(groups), unique=True)) if groups else ():
        diagram.open(group)
    scene = diagram.scene(data.draw(st.sampled_from([0.0, 0.5])))
    require_sound(diagram, scene, plain, around=not trains or seed % 2 == 1)


@trials(40)
@given(st.data())
def test_damaged_programs_are_refused_or_shown(data: Any) -> None:
    """Values of a Program are replaced by others of any type: no other error comes, and no hang."""
    from engine.core.errors import EngineError

    plain = random_program(data.draw(st.integers(0, 1000)), 12)
    odd = st.sampled_from([None, 3, -1, "x", [], {}, [None], {"a": 1}, 1e400, [[["x"]]], "n" * 100_000])
    for _ in range(data.draw(st.integers(1, 3))):
        at: Any = plain
        while isinstance(at, (dict, list)) and at:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(at[key], (dict, list)) or not at[key] or data.draw(st.integers(0, 4)) == 0:
                at[key] = data.draw(odd)
                break
            at = at[key]
    try:
        diagram = Diagram(plain)
    except EngineError:
        return
    diagram.open_all()
    write_svg(diagram.scene()).encode("utf-8")
    diagram.find("x")


def test_blocks_within_themselves_are_shown_once() -> None:
    region = {"block": 1, "arguments": [], "results": []}
    loop = operator("while", ["x"], ["y"], regions=[region, region])
    inner = {"idx": 1, "parent": 0, "vars": [], "ops": [operator("while", ["x"], ["z"], regions=[region])]}
    diagram = Diagram(program([loop], blocks=[inner]))
    assert "a block is part of two operators, or of itself" in diagram.shortened
    diagram.open_all()
    assert len(diagram.scene().ids) == 3
