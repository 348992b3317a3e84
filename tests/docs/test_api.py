"""docs/api.md says what the engine has, and what it has under a name of Paddle's is what Paddle has there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("model_studio_docs_api", ROOT / "docs" / "api.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module


api = _load()
# Paddle's class is a function here, or the reverse: same use.
OTHER_KIND = {"paddle.no_grad": "function"}


def test_the_page_is_current() -> None:
    assert api.PAGE.read_text(encoding="utf-8") == api.page(), "run: python -m docs.api"


@pytest.mark.parametrize(("name", "kind"), api.names(), ids=[name for name, _ in api.names()])
def test_a_name_is_what_paddle_has_there(name: str, kind: str) -> None:
    try:
        value = api.find(name)
    except LookupError:
        return  # absent: the page says so
    assert api.kind_of(value) == OTHER_KIND.get(name, kind)
    if kind != "value":
        module = value.__name__ if kind == "module" else value.__module__
        assert module.partition(".")[0] == "engine"


def test_notes_of_one_name_come_from_its_docstring() -> None:
    def plain() -> None:
        """Nothing special."""

    def other() -> None:
        """One line.

        Differs from Paddle: it is a | here,
        and there it is not.

        Raises:
            ValueError: never.
        """

    assert api.difference(plain) == ""
    assert api.difference(other) == "it is a | here, and there it is not."
    assert api.difference(api.find("paddle.float32")) == ""
    assert api.row("paddle.nn.NoSuchLayer", "class") == api.Row("paddle.nn.NoSuchLayer", "class", "absent")
    assert api.row("paddle.no_such_module.thing", "class").state == "absent"
    assert api.row("paddle.ones", "function").state == "works"
    assert api.row("paddle.io.DataLoader", "class").state == "differs"
