"""Names are numbered as Paddle's, and the memory for them stays small."""

from __future__ import annotations

import random
import sys
from collections import defaultdict

import pytest

from engine.core.names import NameGenerator


@pytest.mark.parametrize("seed", range(40))
def test_numbers_continue_for_each_key(seed: int) -> None:
    draw = random.Random(seed)
    generator, counts = NameGenerator("p/"), defaultdict[str, int](int)
    keys = [
        "linear",
        "linear_01.w",
        "x",
        "a.b",
        "_1.w",
        "linear_2.linear_1.w",
        "linear_\u0663.w",
        "linear_.w",
    ]
    for _ in range(400):
        key = draw.choice([*keys, "linear", f"linear_{draw.randrange(30)}.{draw.choice('wb')}"])
        if draw.random() < 0.1:
            number = draw.choice([3, 254, 255, 256, 300])
            generator.skip_to(key, number)
            counts[key] = max(counts[key], number)
        else:
            assert generator(key) == f"p/{key}_{counts[key]}"
            counts[key] += 1


def test_names_of_many_layers_take_a_byte_each() -> None:
    generator = NameGenerator()
    for n in range(10_000):
        layer = generator("linear")
        assert [generator(f"{layer}.w"), generator(f"{layer}.b")] == [f"linear_{n}.w_0", f"linear_{n}.b_0"]
    size = sys.getsizeof(generator._counts) + sum(map(sys.getsizeof, generator._numbered.values()))
    assert len(generator._counts) == 1
    assert size < 25_000
