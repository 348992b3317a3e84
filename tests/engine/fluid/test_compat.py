"""``paddle.compat``, which scripts of 1.x use."""

from __future__ import annotations

from engine.fluid import compat


def test_texts_and_bytes() -> None:
    assert (compat.to_text(b"a"), compat.to_text("a"), compat.to_bytes("a")) == ("a", "a", b"a")
    assert compat.to_text(None) is None
    names = [b"a", "b"]
    assert compat.to_text(names) == ["a", "b"]
    assert names == [b"a", "b"]
    assert compat.to_text(names, inplace=True) is names
    assert names == ["a", "b"]
    assert compat.to_bytes({"a"}, inplace=True) == {b"a"}


def test_numbers_are_those_of_python_2() -> None:
    assert [compat.round(x) for x in (0.5, 1.5, -2.5, 0.0)] == [1.0, 2.0, -3.0, 0.0]
    assert compat.round(1.25, 1) == 1.3
    assert compat.floor_division(7, 2) == 3
    assert compat.get_exception_message(ValueError("wrong")) == "wrong"
