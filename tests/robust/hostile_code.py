"""Source files that take an editor long: as large as the page Code takes them, each in its own way."""

from __future__ import annotations

from studio.session.code.user_models import LONGEST_LINE, MOST_EDITED, MOST_LINES, MOST_RUNS


def _lines(line: str, count: int = MOST_LINES - 2) -> str:
    """As many of a line as are taken; lines of several count as often."""
    return line * min(count // max(1, line.count("\n")), MOST_EDITED // len(line.encode()))


_ROW = LONGEST_LINE - 10
TEXTS = {
    "classes": _lines("class A:0\n"),
    "layers": _lines("".join(f"class A{n:x}(Layer):0\n" for n in range(11_000))),
    "chain": _lines("class A0(Layer):0\n" + "".join(f"class A{n + 1:x}(A{n:x}):0\n" for n in range(10_000))),
    "imports": _lines("import aaaaaaa\n"),
    "short lines": _lines("a\n"),
    "functions": _lines("@a\n@b\ndef f():0\n"),
    "one dictionary": "x={\n" + _lines("0:0,\n", MOST_LINES - 5) + "}\n",
    "blocks": _lines("".join(" " * n + "if 0:\n" for n in range(99)) + " " * 99 + "0\n"),
    "brackets": _lines("[" * 90 + "]" * 90 + "\n"),
    "strings": _lines('x="""\n"""\n'),
    "an open string": 'x="""\n' + _lines("a b c 'd'\n"),
    "backslashes": _lines('"' + '\\"' * (_ROW // 2) + "\\\n"),
    "quotes": _lines("'a'" * (_ROW // 3) + "\n"),
    "formatted": _lines("f'{a}'" * (_ROW // 6) + "\n"),
    "long lines": _lines("a" * _ROW + "\n"),
    "numbers": _lines("1," * (_ROW // 2) + "\n"),
    "comparisons": _lines("a<" * (_ROW // 2) + "a\n"),
    "tabs": _lines("\t" * (MOST_RUNS - 1) + "0\n"),
    "scripts": _lines("#" + "a\u4e2d\U0001f600\u0627" * ((MOST_RUNS - 1) // 4) + "\n"),
}
