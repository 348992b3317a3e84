"""Mutation sites: each kind of change, what has no site, and mutants that keep the numbers of lines."""

from __future__ import annotations

import ast

import pytest

from bench.mutation_sites import Site, sites_of


def changes(source: str) -> list[str]:
    return [f"{site.old} -> {site.new}" for site in sites_of(source, "engine/some.py")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", ["a < b -> a <= b"]),
        ("x = a is None", ["a is None -> a is not None"]),
        ("x = a // b", ["a // b -> a * b"]),
        ("x = a or b", ["a or b -> a and b"]),
        ("x = not a", ["not a -> a"]),
        ("x = -a", ["-a -> a"]),
        ("x = f(True, 2)", ["True -> False", "2 -> 3"]),
        ("x: int = 2", ["2 -> 3"]),
        ("x = a if b else c", ["b -> not (b)"]),
        ("x = [a for a in b if a]", ["a -> not (a)"]),
        ("f(a)", ["f(a) -> pass"]),
        ("if a: f", ["a -> not (a)"]),
        ("if a < b: f", ["a < b -> not (a < b)", "a < b -> a <= b"]),
        ("if a == b: f", ["a == b -> a != b"]),
        ("def f(): return a", ["return a -> return None"]),
        (
            "for a in b:\n    if a: break\n    continue",
            ["a -> not (a)", "break -> continue", "continue -> break"],
        ),
        (
            "try:\n    f()\nexcept E:\n    g()\nfinally:\n    h()",
            ["f() -> pass", "g() -> pass", "h() -> pass"],
        ),
        ("with f(1): g()", ["1 -> 2", "g() -> pass"]),
        ("match a:\n    case 1 if b > 2:\n        c = 3", ["b > 2 -> b >= 2", "2 -> 3", "3 -> 4"]),
        ("class A(B, c=1):\n    @f(2)\n    def g(self, x=3): pass", ["1 -> 2", "2 -> 3", "3 -> 4"]),
    ],
)
def test_each_kind_of_site_has_its_change(source: str, expected: list[str]) -> None:
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""Text of 1 < 2."""',
        "x: Literal[1] | None",
        "def f(a: Literal[1]) -> Literal[2]: pass",
        "if TYPE_CHECKING:\n    x = 1",
        "if __name__ == '__main__':\n    main(1)",
        "raise ValueError(f(1))",
        "assert a < b",
        "logger.warning('%d', 1)",
        "__all__ = [1]",
        "@dataclass(frozen=True)\nclass A: pass",
        "x = f'{1 + 2}'",
        "x = 'a' + b",
        "x = isinstance(a, int | Some)",
        "def f(): return None",
        "Both = int | Some",
    ],
)
def test_code_that_never_runs_and_texts_have_no_mutation_sites(source: str) -> None:
    assert changes(source) == []


def test_lines_of_a_block_end_before_its_body() -> None:
    source = "def f(a):\n    if (\n        a > 1\n    ):\n        return g(\n            a)\nx = 3\n"
    lines = {(site.old, site.lines, site.imported) for site in sites_of(source, "engine/some.py")}
    assert lines == {
        ("a > 1", (2, 4), False),
        ("1", (2, 4), False),
        ("return g(a)", (5, 6), False),
        ("3", (7, 7), True),
    }


SOURCE = "def f(ä):\n    '''é'''; g(\n        ä)  # call\n    return (ä <\n        2)\n"


@pytest.mark.parametrize("site", sites_of(SOURCE, "engine/some.py"), ids=str)
def test_a_mutant_compiles_and_keeps_its_lines(site: Site) -> None:
    mutant = site.apply(SOURCE)
    assert len(mutant.splitlines()) == len(SOURCE.splitlines())
    assert ast.dump(ast.parse(mutant)) != ast.dump(ast.parse(SOURCE))
    assert site.new.removeprefix("return ") in ast.unparse(ast.parse(mutant))
