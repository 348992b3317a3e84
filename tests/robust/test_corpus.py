"""The corpus of the fuzz is anybody's: no file names a place of the machine that wrote it."""

from __future__ import annotations

import re

import pytest

from tests.robust.corpus import WRITTEN_IN, names, sample

_SOURCE = re.compile(rb'"file":"([^"]*)"')


@pytest.mark.parametrize("name", names(".pdmodel"))
def test_a_model_names_no_place_of_one_machine(name: str) -> None:
    places = set(_SOURCE.findall(sample(name)))
    assert places
    assert all(place.startswith(WRITTEN_IN.encode() + b"/") for place in places), places
