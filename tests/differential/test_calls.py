"""The random calls are the same for a seed, reach every public function, and can be written as JSON."""

from __future__ import annotations

import json
import random

import pytest

from tests.differential import functions
from tests.differential.calls import calls, described, public, skipped, twist
from tests.differential.kinds import KINDS
from tests.differential.worker import array


def test_a_seed_gives_the_same_calls() -> None:
    first, again = list(calls(3, 200)), list(calls(3, 200))
    assert first == again
    assert json.loads(json.dumps(first)) == first
    assert list(calls(4, 200)) != first


def test_every_public_function_is_called_or_has_a_reason() -> None:
    reasons = {function.row: skipped(function) for function in public()}
    assert sum(not reason for reason in reasons.values()) > 600
    assert [name for name in functions.SKIPPED if name not in reasons] == []


def test_each_row_names_a_function_and_its_parameters() -> None:
    known: dict[str, set[str]] = {}
    for function in public():
        known.setdefault(function.row, set()).update(name.lstrip("*") for name in function.parameters)
    shared = {"segments", "logical_not"}
    wrong = []
    for name, row in functions.rows().items():
        if name in shared or name not in known:
            continue
        wrong += [f"{name}: {key}" for key in row if key not in known[name] and key != "x"]
        wrong += [f"{name}: {spec}" for spec in row.values() if spec.partition(":")[0] not in KINDS]
    assert wrong == []


def test_calls_of_all_functions_can_be_drawn() -> None:
    for function in public():
        if skipped(function):
            continue
        for seed in range(5):
            rng = random.Random(seed)
            position, named = described(function, rng)
            twist(position, named, rng)
            json.dumps([position, named])


@pytest.mark.parametrize("values", ["unit", "wide", "pos", "prob", "special", "bool", "sorted"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "complex64", "bfloat16"])
def test_values_have_the_shape_and_dtype(values: str, dtype: str) -> None:
    found = array({"t": [2, 0, 3], "d": dtype, "s": 4, "v": values})
    assert found.shape == (2, 0, 3)
    assert str(found.dtype) == ("float32" if dtype == "bfloat16" else dtype)
    assert array({"t": [5, 4], "d": dtype, "s": 4, "v": values}).shape == (5, 4)


def test_indices_are_below_their_size() -> None:
    found = array({"t": [50], "d": "int64", "s": 1, "v": "ints", "hi": 4})
    assert set(found.tolist()) == {0, 1, 2, 3}
