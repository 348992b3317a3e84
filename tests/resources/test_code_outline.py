"""Outlines of sources, parsed here or by a child process."""

from __future__ import annotations

import threading

import pytest

from resources import code_outline
from resources.code_outline import CodeOutline, Import, outline_from_plain, outline_to_plain
from resources.syntax_words import syntax_words

SOURCE = """
from . import a, b
import c.d
class Net(nn.Layer): pass
class Other(Net, metaclass=M): from ..e import f
class Third: pass
"""


def in_thread(source: str) -> CodeOutline:
    found: list[CodeOutline] = []
    thread = threading.Thread(target=lambda: found.append(code_outline.code_outline(source.encode())))
    thread.start()
    thread.join()
    return found[0]


def test_a_child_process_parses_large_sources_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    source = SOURCE + "# large\n" * 3000
    assert not code_outline.is_known(source.encode())
    monkeypatch.setattr(code_outline, "_read", lambda _: pytest.fail("parsed here"))
    found = in_thread(source)
    assert code_outline.is_known(source.encode())
    assert found.imports == (
        Import(1, "", ("a", "b")),
        Import(0, None, ("c.d",)),
        Import(2, "e", ("f",)),
    )
    assert (found.layers, found.classes[-1]) == (("Net", "Other"), ("Third", ()))


def test_errors_of_the_child_are_those_of_a_parse_here(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "x = 1\n" * 3000 + "x = (1,\n"
    found, here = in_thread(source).error, code_outline._read(source.encode()).error
    assert isinstance(found, SyntaxError)
    assert isinstance(here, SyntaxError)
    assert syntax_words(found) == syntax_words(here)
    for wrong in (b"\0", b"x = " + b"-" * 100_000 + b"1"):
        error = code_outline._read(wrong).error
        plain = outline_from_plain(outline_to_plain(CodeOutline(error=error)))
        assert (type(plain.error), str(plain.error)) == (type(error), str(error))
    monkeypatch.setattr(code_outline, "_TIMEOUT", 0.001)
    assert str(in_thread(source + "#").error) == "it takes over 0 s to parse"


def test_a_long_chain_of_layers_is_followed_quickly() -> None:
    """Each was compared with all before it: 1.2 s for 10,000."""
    names = [("A0", ("Layer",)), *((f"A{n + 1}", (f"A{n}",)) for n in range(50_000))]
    assert len(CodeOutline(classes=tuple(names)).layers) == 50_001
