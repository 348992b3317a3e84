"""A network of compiled stages while it is read from operators; see ``blocks_reader``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.kernels.fast.images.channel_blocks import sizes, stages, weights
from engine.kernels.fast.images.channel_blocks.network import Network, Step, Value
from engine.kernels.fast.images.channel_blocks.winograd_code import between
from engine.kernels.fast.target import lanes
from engine.program.graph.variable import Variable

Array = np.ndarray[Any, Any]


@dataclass(eq=False)
class Image:
    """A value of the network; ``maker`` is the stage that gives it, None for one that is given.

    ``names`` are the Variables that have it as their value, ``renaming`` the positions of the operators that
    only name it. ``around`` grows with what its readers pad.
    """

    channels: int
    rows: int
    columns: int
    maker: Planned | None = None
    planar: bool = False
    around: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    names: list[Variable] = field(default_factory=list)
    renaming: set[int] = field(default_factory=set)

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.channels, self.rows, self.columns

    def pad(self, pads: Sequence[Sequence[int]]) -> None:
        """Have at least these zeros around the image."""
        (above, below), (before, behind) = pads
        self.around = [max(pair) for pair in zip(self.around, (above, below, before, behind), strict=True)]

    def grid(self, width: int) -> stages.Grid:
        above, below, before, behind = self.around
        return stages.Grid(*self.sizes, 1 if self.planar else width, (above, below, before, behind))


Maker = Callable[[stages.Grid, stages.Grid, stages.Finish, int], tuple[stages.Stage, Array | None]]
# The three stages of a convolution with Winograd's transforms, and their constants.
Transformed = Callable[
    [stages.Grid, stages.Grid, stages.Finish, int], list[tuple[stages.Stage, Array | None]]
]
# An operand: an image of the same size, or of one pixel for each sample; constants of the channels; a number.
Read = Image | Array | float


@dataclass(eq=False)
class Planned:
    """A stage of which not all is known yet. ``made(source, target, finish, width)`` gives the stage and its
    constants; ``by_rows`` one from planes to planes, if that is faster; ``reads_planes``: whether ``made``
    takes them."""

    number: int
    source: Image
    target: Image
    made: Maker
    in_runs: bool = False  # it may take rows of any length
    is_pointwise: bool = False
    by_rows: Maker | None = None
    reads_planes: bool = False
    transformed: Transformed | None = None
    operands: list[Read] = field(default_factory=list)
    steps: list[tuple[str, tuple[int, ...], tuple[tuple[str, Any], ...]]] = field(default_factory=list)

    def value(self, read: Read) -> int:
        """The number of a value for the steps: a new operand, unless it is one already."""
        if self.is_pointwise and read is self.source:
            return stages.OWN
        for n, known in enumerate(self.operands, 1):
            if known is read:
                return n
        self.operands.append(read)
        return len(self.operands)

    def last(self) -> int:
        """The number of what the steps so far give."""
        return -len(self.steps)


class NetworkDraft:
    """All stages so far. ``finish`` gives the network for the Variables that are wanted of it."""

    def __init__(self, samples: int) -> None:
        self.samples = samples
        self.given: list[tuple[Variable, Image]] = []
        self.planned: list[Planned] = []
        self.products = 0

    def enter(self, variable: Variable, size: tuple[int, int, int], planar: bool) -> Image:
        """The image of an argument."""
        for known, image in self.given:
            if known is variable and image.planar is planar:
                return image
        image = Image(*size, planar=planar, names=[variable])
        self.given.append((variable, image))
        return image

    def add(self, source: Image, size: tuple[int, int, int], made: Maker, **what: Any) -> Planned:
        """A new stage."""
        planned = Planned(len(self.planned), source, Image(*size), made, **what)
        planned.target.maker = planned
        self.planned.append(planned)
        return planned

    def finish(
        self, wanted: Sequence[tuple[Image, tuple[int, ...]]], exact: bool = False
    ) -> tuple[Network, list[Variable]]:
        """The network that gives these images as arrays of these shapes, and the Variables it takes.

        ``exact``: without transforms.
        """
        width = lanes()
        self._lay_in_planes({id(image) for image, _ in wanted})
        read = {id(image) for image, _ in wanted}
        for planned in self.planned:
            read |= {id(each) for each in (planned.source, *planned.operands)}
        values: list[Value] = []
        numbers: dict[int, int] = {}
        arguments: list[Variable] = []
        steps: list[Step] = []

        def number(image: Image) -> int:
            found = numbers.get(id(image))
            if found is None:
                found = numbers[id(image)] = len(values)
                values.append(Value(image.grid(width)))
            return found

        for variable, image in self.given:
            if id(image) not in read:
                continue
            if not any(variable is known for known in arguments):
                arguments.append(variable)
            place = next(n for n, known in enumerate(arguments) if known is variable)
            values.append(Value(given=place))
            grid = image.grid(width)
            share = self._share(grid.blocks, grid.rows, grid.pixels * image.channels)
            steps.append(Step(stages.Enter(grid, share), len(values) - 1, number(image)))
        for planned in self.planned:
            if planned.transformed is None or exact:
                steps.append(self._step(planned, number, width))
            else:
                steps += self._transformed(planned, number, values, width)
        for image, shape in wanted:
            values.append(Value(shape=shape))
            grid = image.grid(width)
            share = self._share(grid.blocks, grid.rows, grid.pixels * image.channels)
            steps.append(Step(stages.Leave(grid, share), number(image), len(values) - 1))
        transforms = not exact and any(planned.transformed is not None for planned in self.planned)
        other = (lambda: self.finish(wanted, exact=True)[0]) if transforms else None
        return Network(steps, values, self.samples, other), arguments

    def _lay_in_planes(self, wanted: set[int]) -> None:
        """Have stages compute by rows where their readers take planes, other than those ``wanted``."""
        chosen: set[int] = set()
        for planned in reversed(self.planned):
            image = planned.target
            wanted |= {id(each) for each in planned.operands}
            readers = [p for p in self.planned if p.source is image]
            taken = all(p.reads_planes or p.number in chosen for p in readers)
            alone = id(image) not in wanted and not any(isinstance(o, Image) for o in planned.operands)
            if planned.by_rows is not None and taken and alone:
                chosen.add(planned.number)
        for planned in self.planned:
            if planned.by_rows is not None and planned.number in chosen and planned.source.planar:
                planned.made, planned.target.planar = planned.by_rows, True

    def _share(self, units: int, rows: int, work: int) -> stages.Share:
        return sizes.share(units, rows, self.samples, work=work)

    def _transformed(
        self, planned: Planned, number: Callable[[Image], int], values: list[Value], width: int
    ) -> list[Step]:
        """The three steps of a convolution with transforms."""
        assert planned.transformed is not None
        source, target = planned.source.grid(width), planned.target.grid(width)
        finish, read = self._finish(planned, number, lambda image: image.grid(width), width)
        (first, _), (second, filters), (third, biases) = planned.transformed(source, target, finish, width)
        begin, end = number(planned.source), number(planned.target)
        image, product = len(values), len(values) + 1
        values += [Value(grid) for grid in between(source, target)]
        return [
            Step(first, begin, image),
            Step(second, image, product, filters),
            Step(third, product, end, biases, read),
        ]

    def _step(self, planned: Planned, number: Callable[[Image], int], width: int) -> Step:
        images = [planned.source, planned.target, *(o for o in planned.operands if isinstance(o, Image))]
        count = 1
        pixels = planned.target.rows * planned.target.columns
        if planned.in_runs and not any(any(image.around) or image.planar for image in images):
            count = sizes.runs_of(pixels)
        else:
            planned.in_runs = False

        def grid(image: Image) -> stages.Grid:
            found = image.grid(width)
            return found.in_runs(count) if planned.in_runs and found.pixels == pixels else found

        finish, read = self._finish(planned, number, grid, width)
        stage, constants = planned.made(grid(planned.source), grid(planned.target), finish, width)
        return Step(stage, number(planned.source), number(planned.target), constants, read)

    def _finish(
        self,
        planned: Planned,
        number: Callable[[Image], int],
        grid: Callable[[Image], stages.Grid],
        width: int,
    ) -> tuple[stages.Finish, list[int | Array | None]]:
        """The steps behind a stage, and what they read."""
        operands: list[stages.Operand] = []
        read: list[int | Array | None] = []
        for each in planned.operands:
            if isinstance(each, Image):
                operands.append(stages.Operand(grid(each), one=each.sizes != planned.target.sizes))
                read.append(number(each))
            elif isinstance(each, float):
                operands.append(stages.Operand(number=each))
                read.append(None)
            else:
                operands.append(stages.Operand())
                read.append(weights.of_channels(each, planned.target.channels, width))
        return stages.Finish(tuple(operands), tuple(planned.steps)), read
