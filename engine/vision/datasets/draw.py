"""Draws handwritten-like digits: prototypes, deformed at random, rendered without jagged edges.

The same seed gives the same bytes on every machine: random numbers come from integer hashes of (seed, index),
and only operations whose result IEEE 754 fixes are used (+ - * / sqrt, integer sums), never sin, exp or BLAS.
Every digit depends on its own index alone, so any part of a data set can be made first.

The amounts below were chosen by how well a LeNet trained on these digits reads real ones, and so that width,
ink and edges are spread as in real ones. Training digits are deformed further than people write: a network
then reads real ones better. Test digits are deformed so far that they are about as hard to read as real ones.
"""

from __future__ import annotations

import numpy as np

from engine.vision.datasets.strokes import SEGMENTS, StrokeTable, stroke_table

VERSION = 2
"""Counts changes of what a seed draws; cached digits of another version are made anew."""

SIZE = 28
_BOX = 20.0
_REACH = 5
"""Pixels around a straight piece that it may colour."""

# A share of all deformations below. A LeNet that saw 10,000 training digits five times reads about 97 % of
# the test digits; one that saw as many of MNIST's reads 96.5 % of MNIST's test digits.
_SPREAD = {"train": 1.0, "test": 0.55}

# Lengths are in units of a digit's height.
_MIX = (-0.4, 0.75)  # how far one style moves towards another (below 0: away from it)
_JITTER = 0.045  # of every control point; twice as much at the ends of strokes
_WAVES, _WAVE, _WAVE_RATE = 2, 0.1, 0.9  # slow waves across the digit: how many, how high, how many periods
_TAPER, _BOW = 0.38, 0.1  # wider above than below; sides bent
_TILT, _SAG, _PROPORTION = 0.25, 0.1, 0.2  # left larger than right; lines bent; upper half larger than lower
_WIDTH = (0.88, 0.2)
_SLANT = (0.1, 0.25)
_TURN = 0.05  # tangent of half the angle

# In pixels, except the last, where 1 is just black.
_RADIUS, _RADIUS_SPREAD, _RADIUS_TAIL = 0.65, 0.9, 1.1
_EDGE = (0.8, 1.5)
_SWELL = 0.18
_INK = (1.03, 1.25)

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_STREAMS = {"train": 0x74726169, "test": 0x74657374}
_BLOCK = 256


def labels_of(mode: str, count: int, seed: int) -> np.ndarray:
    """The labels of the first ``count`` digits [count] int64: every ten have each digit once."""
    tens = -(-count // 10)
    draws = _hashes(_key(mode, seed, 1), np.arange(tens * 10, dtype=np.uint64), 1).reshape(tens, 10)
    return np.argsort(draws, axis=1, kind="stable").reshape(-1)[:count].astype(np.int64)


def draw_digits(mode: str, seed: int, indices: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The images [n, 28, 28] uint8 of the digits at ``indices``, which have ``labels``."""
    images = np.empty((len(indices), SIZE, SIZE), np.uint8)
    for start in range(0, len(indices), _BLOCK):
        part = slice(start, start + _BLOCK)
        random = _Random(_key(mode, seed, 2), indices[part])
        samples, starts = _deformed(stroke_table(), random, labels[part], _SPREAD[mode])
        images[part] = _rendered(random, samples, starts)
    return images


def _key(mode: str, seed: int, purpose: int) -> int:
    key = _STREAMS[mode]
    for part in (seed, purpose):
        key = int(_mix(np.array([(key + part * _GOLDEN) & _MASK], np.uint64))[0])
    return key


def _mix(z: np.ndarray) -> np.ndarray:
    """SplitMix64's finaliser: every bit of the input changes half of the output's."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = z ^ (z >> np.uint64(31))
    return mixed


def _hashes(key: int, indices: np.ndarray, count: int, first: int = 0) -> np.ndarray:
    """[n, count] 64-bit numbers: columns ``first`` onwards of the table that belongs to ``key``."""
    rows = _mix(np.uint64(key) + indices.astype(np.uint64) * np.uint64(_GOLDEN))
    columns = np.arange(first + 1, first + 1 + count, dtype=np.uint64) * np.uint64(0xD1B54A32D192ED03)
    return _mix(rows[:, None] + columns)


class _Random:
    """Random numbers of digits: each call takes the next columns of their hash table."""

    def __init__(self, key: int, indices: np.ndarray) -> None:
        self._key, self._indices, self._used = key, indices, 0

    def uniform(self, low: float, high: float, count: int = 1) -> np.ndarray:
        """[n, count] evenly spread from ``low`` to ``high``."""
        draws = _hashes(self._key, self._indices, count, self._used)
        self._used += count
        return low + (high - low) * ((draws >> np.uint64(11)).astype(np.float64) * 2.0**-53)

    def bell(self, middle: float, spread: float, count: int = 1) -> np.ndarray:
        """[n, count] around ``middle`` with standard deviation ``spread``, never further than three of it."""
        total = (
            self.uniform(-1.0, 1.0, count) + self.uniform(-1.0, 1.0, count) + self.uniform(-1.0, 1.0, count)
        )
        drawn: np.ndarray = middle + spread * total
        return drawn

    def amount(self) -> np.ndarray:
        """[n, 1] around 1: some digits are nearly clean, some are much deformed."""
        return self.uniform(0.05, 1.95)


def _deformed(
    table: StrokeTable, random: _Random, labels: np.ndarray, spread: float
) -> tuple[np.ndarray, np.ndarray]:
    """Samples [n, M, 2] on deformed strokes, and where straight pieces start among them [n, S].

    ``spread`` is a share of each deformation: 0 draws the prototypes themselves, in the middle's shape.
    """
    first = _chosen(table, random, table.digits, labels)
    second = _chosen(table, random, table.families, table.families[first])
    share = spread * random.uniform(*_MIX)[:, :, None]
    points = table.points[first] * (1.0 - share) + table.points[second] * share
    jitter = random.bell(0.0, spread * _JITTER, 2 * points.shape[1]).reshape(points.shape)
    points = points + random.amount()[:, :, None] * jitter * (1.0 + table.ends[first][:, :, None])
    x, y = (_samples(points[:, :, axis] - 0.5, table, first) for axis in (0, 1))

    height = spread * _WAVE * random.amount()
    for _ in range(_WAVES):
        fx, fy, phase, ax, ay = np.split(random.uniform(-1.0, 1.0, 5), 5, axis=1)
        wave = height * _wave(_WAVE_RATE * (fx * x + fy * y) + phase)
        x, y = x + ax * wave, y + ay * wave

    def bell(middle: float, deviation: float) -> np.ndarray:
        return random.bell(middle, spread * deviation)

    x = x * (1.0 + bell(0.0, _TAPER) * y) + bell(0.0, _BOW) * (y * y - 0.25)
    y = y * (1.0 + bell(0.0, _TILT) * x) + bell(0.0, _SAG) * x * x
    y = y + bell(0.0, _PROPORTION) * (y * y - 0.25)

    x = x * bell(*_WIDTH)
    x = x - bell(*_SLANT) * y
    half = bell(0.0, _TURN)  # cos and sin by way of the half angle's tangent, without calling either
    cos, sin = (1.0 - half * half) / (1.0 + half * half), 2.0 * half / (1.0 + half * half)
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=2), table.starts[first]


def _chosen(table: StrokeTable, random: _Random, kinds: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For every digit one of the prototypes whose kind is the wanted one, at random by weight."""
    reached = np.zeros((len(wanted), len(kinds)))
    total = np.zeros(len(wanted))
    for prototype, (kind, weight) in enumerate(zip(kinds, table.weights, strict=True)):
        total = total + np.where(wanted == kind, weight, 0.0)
        reached[:, prototype] = total
    chosen: np.ndarray = (reached <= random.uniform(0.0, 1.0) * total[:, None]).sum(axis=1)
    return chosen


def _samples(values: np.ndarray, table: StrokeTable, which: np.ndarray) -> np.ndarray:
    rows = np.arange(len(which))[:, None]
    total = np.zeros(())
    for k in range(4):
        total = total + values[rows, table.mix_from[which, :, k]] * table.mix_weight[which, :, k]
    return total


def _wave(z: np.ndarray) -> np.ndarray:
    """A wave of period 1 and height 1, made of parabolas."""
    t = z - np.floor(z)
    side = np.where(t < 0.5, 1.0, -1.0)
    u = 2.0 * t - np.where(t < 0.5, 0.0, 1.0)
    wave: np.ndarray = side * 4.0 * u * (1.0 - u)
    return wave


def _rendered(random: _Random, samples: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Images [n, 28, 28] uint8 like MNIST's: fitted into a box of 20, centre of mass in the middle."""
    thick = random.uniform(0.0, 1.0)
    radius = _RADIUS + _RADIUS_SPREAD * thick + _RADIUS_TAIL * random.uniform(0.0, 1.0) * thick * thick
    swell = random.uniform(-_SWELL, _SWELL) * np.linspace(-1.0, 1.0, SEGMENTS)

    low, high = samples.min(axis=1), samples.max(axis=1)
    scale = (_BOX - 2.0 * radius) / np.maximum((high - low).max(axis=1, keepdims=True), 1e-6)
    middle = 0.5 * (low + high)
    samples = (samples - middle[:, None]) * scale[:, :, None]
    rows = np.arange(len(samples))[:, None]
    start = samples[rows, starts]
    depth = _depths(start, samples[rows, starts + 1] - start, radius * (1.0 + swell))

    # The ink fades over `edge` pixels.
    edge = random.uniform(*_EDGE).astype(np.float32)[:, :, None]
    ink = np.clip(depth / edge + np.float32(0.5), 0.0, 1.0)
    down, right = _centre_of_mass(ink)
    frame = np.arange(SIZE) + (ink.shape[1] - SIZE) // 2
    ink = ink[rows[:, :, None], (frame + down[:, None])[:, :, None], (frame + right[:, None])[:, None, :]]
    ink = np.minimum(ink * random.uniform(*_INK).astype(np.float32)[:, :, None], np.float32(1.0))
    pixels: np.ndarray = np.floor(ink * np.float32(255.0) + np.float32(0.5)).astype(np.uint8)
    return pixels


def _depths(start: np.ndarray, step: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """How deep every pixel lies inside the strokes (negative outside), on a canvas [n, side, side].

    ``start``, ``step`` [n, S, 2] are straight pieces in pixels from the canvas's middle, ``radii`` [n, S]
    half their widths. One piece of all images at a time colours the window around it.
    """
    count = len(start)
    around = np.arange(-_REACH, _REACH + 1)
    # Room for a digit that lies off the middle of its box, and for the windows around it.
    side = SIZE + 2 * (_REACH + 2)
    depth = np.full(count * side * side, -1e3, np.float32)
    window = (around[:, None] * side + around).reshape(-1)
    dy, dx = (offset.reshape(-1).astype(np.float32) for offset in np.meshgrid(around, around, indexing="ij"))

    cell = np.floor(start + 0.5 * step).astype(np.int64)
    corner = (
        np.arange(count)[:, None] * (side * side)
        + (cell[:, :, 1] + side // 2) * side
        + cell[:, :, 0]
        + side // 2
    )
    off = (cell + 0.5 - start).astype(np.float32)  # from a piece's start to the middle pixel of its window
    length = step[:, :, 0] * step[:, :, 0] + step[:, :, 1] * step[:, :, 1]
    inverse = (1.0 / np.maximum(length, 1e-9)).astype(np.float32)
    step, radii = step.astype(np.float32), radii.astype(np.float32)
    for k in range(start.shape[1]):
        px, py = off[:, k, 0, None] + dx, off[:, k, 1, None] + dy
        sx, sy = step[:, k, 0, None], step[:, k, 1, None]
        along = (px * sx + py * sy) * inverse[:, k, None]
        np.clip(along, 0.0, 1.0, out=along)
        px -= along * sx
        py -= along * sy
        px *= px
        py *= py
        px += py
        np.sqrt(px, out=px)
        np.subtract(radii[:, k, None], px, out=px)
        where = corner[:, k, None] + window
        depth[where] = np.maximum(depth[where], px)
    return depth.reshape(count, side, side)


def _centre_of_mass(ink: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many whole pixels the centre of mass lies below and to the right of the middle.

    Summed as integers: the last bits of floating sums depend on the machine.
    """
    mass = np.rint(ink * np.float32(255.0)).astype(np.int64)
    places = 2 * np.arange(ink.shape[1]) + 1 - ink.shape[1]
    total = 2.0 * mass.sum(axis=(1, 2))
    # A digit fills at most 10 pixels to each side of its box's middle, so 6 keep it and the frame on the
    # canvas.
    down, right = (
        np.clip(np.rint((mass.sum(axis=axis) * places).sum(axis=1) / total).astype(np.int64), -6, 6)
        for axis in (2, 1)
    )
    return down, right
