"""Templates with holes."""

from __future__ import annotations

import ast

import pytest

from engine.jit.convert.quote import copied, quote, quote_expression

AT = ast.parse("\n\nhere").body[0]


def text(statements: list[ast.stmt]) -> str:
    return "\n".join(ast.unparse(statement) for statement in statements)


def test_names_expressions_and_statements() -> None:
    value = ast.parse("g(1)").body[0].value  # type: ignore[attr-defined]
    body = ast.parse("x = 1\ny = 2").body
    made = quote(
        "def name(item):\n    body\n    return value", AT, name="f", item="i", body=body, value=value
    )
    assert text(made) == "def f(i):\n    x = 1\n    y = 2\n    return g(1)"


def test_position_is_the_construct_and_fillings_keep_theirs() -> None:
    value = ast.parse("a\nb").body[1].value  # type: ignore[attr-defined]
    (made,) = quote("x = value", AT, value=value)
    assert (made.lineno, made.value.lineno) == (3, 2)  # type: ignore[attr-defined]


def test_declarations_are_spliced_and_vanish_when_empty() -> None:
    assert text(quote("def f():\n    nonlocal names\n    global more", AT, names=["a", "b"], more=[])) == (
        "def f():\n    nonlocal a, b"
    )


def test_expressions_are_spliced_into_tuples() -> None:
    items = [ast.Name("a", ast.Load()), ast.Name("b", ast.Load())]
    assert ast.unparse(quote_expression("lambda: (items,)", AT, items=items)) == "lambda: (a, b)"


def test_targets_store() -> None:
    target = ast.parse("a, b").body[0].value  # type: ignore[attr-defined]
    (made,) = quote("target = 1", AT, target=target)
    compile(ast.fix_missing_locations(ast.Module([made], [])), "x", "exec")


def test_a_second_use_is_a_copy() -> None:
    value = ast.parse("g").body[0].value  # type: ignore[attr-defined]
    (made,) = quote("x = (value, value)", AT, value=value)
    first, second = made.value.elts  # type: ignore[attr-defined]
    assert first is value
    assert second is not value


def test_unknown_and_unfit_holes() -> None:
    with pytest.raises(ValueError, match="no such hole: \\['y'\\]"):
        quote("x = 1", AT, y="z")
    with pytest.raises(ValueError, match="stands for a name"):
        quote("def f():\n    pass", AT, f=[AT])


def test_copied() -> None:
    tree = ast.parse("def f(a, *b, c=1):\n    return [a, f'{b!r}']")
    assert ast.dump(copied(tree), include_attributes=True) == ast.dump(tree, include_attributes=True)
    assert copied(tree).body[0] is not tree.body[0]
