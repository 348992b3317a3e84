"""Attributes of an untrusted Program that become counts, lengths or sizes are refused before they are used.

``test_attribute_walk.py`` (deep) changes every integer of every operator; here are the known attacks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine as paddle
from engine.core.errors import FormatError, OutOfRangeError
from engine.core.operators.bounds import bound_faults, bounds_of
from engine.core.operators.opdef import OPS
from engine.files.untrusted import guarded
from engine.jit import load
from engine.nn import functional
from engine.program.saved.serialize import from_plain
from tests.robust.hostile_models import MODELS, Hostile, attribute

Build = Callable[[Any], Any]


def _image(x: Any) -> Any:
    return x.reshape([-1, 1, 2, 2])


# What is built, and the operator, attribute and value that is forged then.
FORGED: list[tuple[Build, str, str, Any, str]] = [
    (lambda x: paddle.split(x, 2, axis=1), "split", "sections", 10**9, "at most 2"),
    (lambda x: functional.adaptive_avg_pool2d(_image(x), 1), "pool2d", "ksize", [2**31, 1], "at most 65536"),
    (lambda x: paddle.tile(x, [1, 2]), "tile", "repeat_times", [1, 2**40], "at most 4294967296"),
    (lambda x: paddle.full([2], 1.0), "fill_constant", "shape", [2**63], "at most 4294967296"),
    (lambda x: paddle.polygamma(x, 2), "polygamma", "n", 2**24, "at most 65536"),
    (lambda x: paddle.sum(x, axis=1), "reduce_sum", "keepdim", 2**31, "0 or 1"),
    (lambda x: paddle.sum(x, axis=1), "reduce_sum", "axis", ["1"], "integers of at most 65536"),
]


@pytest.mark.parametrize(("build", "op", "name", "value", "bound"), FORGED)
def test_the_error_names_operator_attribute_and_bound(
    build: Build, op: str, name: str, value: Any, bound: str
) -> None:
    plain = Hostile("forged", build, attribute(op, **{name: value})).plain()
    with pytest.raises(FormatError, match=rf"\({op}\): {name} is .*; it should be .*{bound}"):
        from_plain(plain, "model.pdmodel")


def test_attributes_of_the_forward_operator_of_a_gradient_are_bounded() -> None:
    def build(x: Any) -> Any:
        x.stop_gradient = False
        return paddle.static.gradients(paddle.sum(paddle.tile(x, [1, 2])), x)

    plain = Hostile("forged", build, lambda plain: None).plain()
    found = next(o for o in plain["blocks"][0]["ops"] if o["attrs"].get("of") == "tile")
    found["attrs"]["attrs"]["attrs"]["repeat_times"] = [1, 2**40]
    with pytest.raises(FormatError, match=r"\(gradient\): repeat_times is .* at most 4294967296"):
        from_plain(plain, "model.pdmodel")


@pytest.fixture
def _read_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are sound HDF5: the guarded reader has its own tests."""
    monkeypatch.setattr(guarded, "check", lambda suspects: None)


@pytest.mark.usefixtures("_read_in_process")
def test_an_attribute_that_a_tensor_states_is_bounded_when_it_runs(tmp_path: Path) -> None:
    layer = load(str(MODELS["one_hot_of_a_value"].write(tmp_path / "model")))
    with pytest.raises(
        OutOfRangeError,
        match=r"one_hot_v2: .*, depth is 1000000000000; .* at most 4294967296",
    ):
        layer(paddle.ones([2, 4]))


@pytest.mark.usefixtures("_read_in_process")
def test_a_file_of_a_few_kilobytes_is_refused_where_it_is_loaded(tmp_path: Path) -> None:
    prefix = MODELS["split_into_giga"].write(tmp_path / "model")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 100_000
    with pytest.raises(FormatError, match=r"sections is 1000000000; .* at most 2") as caught:
        load(str(prefix))
    assert "\n" not in str(caught.value)


def test_an_array_of_eight_gigabytes_is_legal_in_a_file_of_this_installation() -> None:
    plain = Hostile("own", lambda x: paddle.full([1 << 31], 1.0), lambda plain: None).plain()
    assert not from_plain(plain, "model.pdmodel", own=True).foreign
    with pytest.raises(FormatError, match="needs more than 4 GiB"):
        from_plain(plain, "model.pdmodel")


def test_every_attribute_that_is_an_integer_has_a_kind() -> None:
    for opdef in OPS.values():
        for name, default in opdef.attributes.items():
            first = default[0] if isinstance(default, tuple) and default else default
            if isinstance(first, int):
                assert name in bounds_of(opdef), f"{opdef.name}.{name}"


@pytest.mark.parametrize(
    ("op", "name", "value"),
    [
        ("clip", "max", 2**62),
        ("getitem", "index", [["slice", 0, 2**31 - 1, None]]),
        ("pick_class", "ignore_index", -(2**62)),
        ("uniform_random", "seed", 2**63 - 1),
        ("scale", "scale", 10**12),
    ],
)
def test_values_that_no_size_follows_from_are_not_bounded(op: str, name: str, value: Any) -> None:
    assert not list(bound_faults(OPS[op], {name: value}, 1))
