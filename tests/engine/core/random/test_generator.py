"""Random numbers are a function of seed and position; the numbers themselves are recorded from Paddle."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import engine
from engine.core.errors import ArgumentError
from engine.core.random.draws import TwisterDraws
from engine.core.random.generator import Generator, PhiloxKey, default_generator, draws_of, numpy_generator
from engine.core.random.logf import logf
from engine.core.random.mersenne import Twister, seeded, seeded_by_sequence


@pytest.fixture(params=["mt19937_64", "philox"])
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param
    default_generator().manual_seed(0, "mt19937_64")


def _numbers() -> list[object]:
    return [
        engine.rand([3]).tolist(),
        engine.randn([2]).tolist(),
        engine.randint(0, 100, [4]).tolist(),
        engine.randperm(7).tolist(),
    ]


def test_the_same_seed_gives_the_same_numbers(kind: str) -> None:
    engine.seed(7, kind)
    first = _numbers()
    engine.seed(7, kind)
    assert _numbers() == first
    engine.seed(8, kind)
    assert _numbers() != first


def test_the_kind_changes_the_numbers() -> None:
    engine.seed(7)
    first = _numbers()
    engine.seed(7, generator="philox")
    assert _numbers() != first
    engine.seed(7)
    assert _numbers() == first
    with pytest.raises(ArgumentError, match="'pcg' is not one of mt19937_64, philox"):
        engine.seed(7, generator="pcg")


def test_a_counter_based_draw_does_not_depend_on_how_much_was_drawn_before() -> None:
    engine.seed(7, "philox")
    engine.rand([1])
    small = engine.rand([3]).tolist()
    engine.seed(7, "philox")
    engine.rand([1000])
    assert engine.rand([3]).tolist() == small
    engine.seed(0)


def test_counter_based_keys_count_up_and_resume() -> None:
    generator = Generator(3, "philox")
    assert [generator.reserve() for _ in range(3)] == [(3, 0), (3, 1), (3, 2)]
    state = generator.state()
    assert state == {"kind": "philox", "seed": 3, "offset": 3}
    other = Generator(99)
    other.set_state({"seed": 3, "offset": 3})  # as earlier releases wrote it
    assert other.kind == "philox"
    assert other.reserve() == generator.reserve() == (3, 3)
    assert generator.manual_seed(5) is generator
    assert generator.reserve() == (5, 0)
    assert generator.initial_seed() == 5


@pytest.mark.parametrize("drawn", [0, 1, 311, 312, 313, 700, 20000])
def test_a_twister_resumes_anywhere(drawn: int) -> None:
    generator = Generator(3)
    with generator.reserve().draws() as draws:
        draws.uniform([drawn], np.float32)
    state = generator.state()
    assert state["words"].shape == (312,)
    other = Generator(99)
    other.set_state(state)
    assert other.initial_seed() == 3
    for size in (5, 400):
        with generator.reserve().draws() as a, other.reserve().draws() as b:
            np.testing.assert_array_equal(a.normal([size], np.float32), b.normal([size], np.float32))
    assert generator.random() == other.random()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"kind": "pcg", "seed": 1}, "'pcg' is not one of"),
        ({"kind": ["philox"], "seed": 1}, "is not one of"),
        ({"kind": "philox", "seed": 1.5, "offset": 0}, "seed must be an integer: got 1.5"),
        ({"kind": "philox", "seed": 1, "offset": -1}, "offset must be from 0 .* got -1"),
        ({"kind": "philox", "seed": 1}, "no 'offset' in"),
        ({}, "no 'seed' in"),
        ([], "no 'seed' in 'list'"),
        ({"kind": "mt19937_64", "seed": 1, "words": np.ones(3, np.uint64), "spent": 0}, r"got shape \[3\]"),
        ({"kind": "mt19937_64", "seed": 1, "words": np.ones(312), "spent": 0}, "dtype float64"),
        ({"kind": "mt19937_64", "seed": 1, "words": np.full(312, -1), "spent": 0}, "64 bits: got -1 to -1"),
        ({"kind": "mt19937_64", "seed": 1, "words": np.zeros(312, int), "spent": 0}, "all 0"),
        ({"kind": "mt19937_64", "seed": 1, "words": np.ones(312, int), "spent": 313}, "312: got 313"),
        ({"kind": "mt19937_64", "seed": 1, "words": np.ones(312, int), "spent": -1}, "312: got -1"),
    ],
)
def test_a_wrong_state_is_refused(state: dict[str, object], message: str) -> None:
    generator = Generator(3)
    with pytest.raises(ArgumentError, match=message):
        generator.set_state(state)
    assert generator.kind == "mt19937_64"


def test_a_key_reproduces_its_numbers_without_the_generator(kind: str) -> None:
    generator = Generator(4, kind)
    key = generator.reserve()
    with draws_of(key) as draws:
        first = [draws.normal([500], np.float32), draws.permutation(9)]
    with draws_of(generator.reserve()) as draws:
        following = draws.uniform([3], np.float64)
    with draws_of(key) as draws:
        again = [draws.normal([500], np.float32), draws.permutation(9)]
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    other = Generator(4, kind)
    with draws_of(other.reserve()) as draws:
        draws.normal([500], np.float32)
        draws.permutation(9)
    with draws_of(other.reserve()) as draws:
        np.testing.assert_array_equal(draws.uniform([3], np.float64), following)


def test_an_operators_own_seed_leaves_the_generator_alone() -> None:
    engine.seed(4)
    a = engine.uniform([5], seed=9)
    b = engine.rand([4])
    engine.seed(4)
    assert engine.rand([4]).tolist() == b.tolist()
    assert engine.uniform([5], seed=9).tolist() == a.tolist()


def test_keys_are_streams_of_their_own() -> None:
    def draw(*key: int) -> tuple[float, ...]:
        return tuple(numpy_generator(PhiloxKey(*key)).random(4).tolist())

    streams = {draw(s, o) for s in (0, 1, -1, 2**40) for o in (0, 1, 2)}
    assert len(streams) == 12
    # Philox counts upwards from (0, 0, offset, 0): long draws of one key do not run into the next.
    long = numpy_generator(PhiloxKey(1, 0)).random(1000)
    assert not np.isin(numpy_generator(PhiloxKey(1, 1)).random(100), long).any()


def test_recorded_numbers() -> None:
    """Numbers of a seed stay the same from release to release: runs resume, tests compare."""
    np.testing.assert_allclose(numpy_generator(PhiloxKey(2026, 1)).random(2), RECORDED, rtol=0, atol=0)


RECORDED = [0.9974193407392672, 0.736396398661246]


# From GCC's std::mt19937_64: the first three numbers and the one after 100,003.
WORDS = {
    (0, True): (5761556218444793869, 2336792305036948641, 15055625802699945824, 3383407513040645240),
    (5, True): (16972002476604841463, 9893524775972559134, 7626433890662730575, 15557389060984593752),
    (0, False): (2947667278772165694, 18301848765998365067, 729919693006235833, 17629274052679018264),
    (2**40, False): (9995523852390841631, 17055018271901783394, 14902089975572703758, 12189568818833122474),
}


@pytest.mark.parametrize(("seed", "by_sequence"), WORDS)
def test_words_of_the_twister(seed: int, by_sequence: bool) -> None:
    twister = Twister((seeded_by_sequence if by_sequence else seeded)(seed))
    words: list[np.ndarray] = []
    sizes = [1, 2, 308, 311, 312, 313, 622, 9952, 88180, 3]
    for left in sizes:
        while left:
            part = twister.ready(1, left).copy()
            twister.skip(len(part))
            words.append(part)
            left -= len(part)
    drawn = np.concatenate(words)
    assert len(drawn) == 100_004
    assert (*drawn[:3].tolist(), int(drawn[100_003])) == WORDS[seed, by_sequence]


def test_integers_that_are_too_large_are_drawn_again() -> None:
    """A third of all words is beyond the largest multiple of 3 * 2^62 - 1."""
    high = 3 * 2**61
    twister = Twister(seeded(1))
    words = [w for w in twister.ready(1, 300).tolist() if w < (2**64 - 1) // high * high][:100]
    draws = TwisterDraws(Twister(seeded(1)))
    assert draws.integers(0, high, [100]).tolist() == [w // ((2**64 - 1) // high) for w in words]


def test_the_logarithm_of_floats_is_rounded_once() -> None:
    x = np.exp2(np.random.RandomState(0).uniform(-60, 20, 20000)).astype(np.float32)
    exact = np.log(x.astype(np.float64))
    # The error of glibc's method is at most 0.818 units in the last place.
    assert (np.abs(logf(x) - exact) <= 0.82 * np.spacing(np.abs(logf(x)))).all()
    assert logf(np.ones((), np.float32)) == 0


def test_threads_get_different_numbers(kind: str) -> None:
    generator = Generator(1, kind)
    found: list[float] = []

    def take() -> None:
        for _ in range(100):
            with generator.reserve().draws() as draws:
                found.extend(draws.uniform([3], np.float64).tolist())

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1200
    if kind == "mt19937_64":
        with Generator(1).reserve().draws() as draws:
            assert set(found) == set(draws.uniform([1200], np.float64).tolist())


@pytest.mark.parametrize("value", [1.5, "1", True, None])
def test_seeds_are_integers(value: object) -> None:
    with pytest.raises(ArgumentError, match="seed: the seed must be an integer"):
        default_generator().manual_seed(value)  # type: ignore[arg-type]


def test_a_generator_seeds_itself() -> None:
    generator = Generator(1)
    value = generator.seed()
    assert 0 <= value < 2**53
    assert generator.initial_seed() == value != Generator(1).seed()


@pytest.mark.parametrize("p", [0.0, 1e-30, 0.1, 0.5, 0.7, 1 - 2**-24, 1.0])
def test_elements_stay_where_the_uniform_number_is_p_or_more(p: float) -> None:
    twister, other = (Twister(seeded(5)) for _ in range(2))
    numbers = TwisterDraws(other).uniform((20_001,), np.float32)
    # Shares that are numbers of the stream, and their neighbours, fall on the border.
    for share in (p, *numbers[:3].tolist(), *np.nextafter(numbers[:3], np.float32(1)).tolist()):
        draws = TwisterDraws(Twister(*twister.snapshot()))
        np.testing.assert_array_equal(
            draws.retained((3, 6667), share).reshape(-1), numbers >= np.float32(share)
        )
    draws = TwisterDraws(twister)
    draws.retained((3, 6667), p)
    assert draws.word() == TwisterDraws(other).word()
