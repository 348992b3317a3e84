"""Early `return` -> one `return` at the end, of a variable that every path stores.

Before: `if a: return b` and then `return c`
After: `if a: return_value_0 = b` `else: return_value_0 = c` and then `return return_value_0`

In a loop: `return_value_0 = b; returned_0 = True; break`, and what follows the loop stands under `if not
returned_0:`. Functions whose only returns stand outside of branches and loops stay as they are.
"""

from __future__ import annotations

import ast

from engine.jit.convert.passes.exits import Exits, holds_return, leaves, without_stores
from engine.jit.convert.quote import quote
from engine.jit.convert.scope import own_nodes
from engine.jit.convert.transform import Context, FunctionPass


class Returns(FunctionPass):
    def function(self, node: ast.FunctionDef) -> ast.AST:
        node.body = self.block(node.body)
        if any(_early(statement) for statement in own_nodes(node.body)):
            _SingleReturn(self.context).rewrite(node)
        return node


def _early(node: ast.AST) -> bool:
    return isinstance(node, ast.If | ast.While | ast.For) and holds_return(node)


class _SingleReturn:
    def __init__(self, context: Context) -> None:
        self.value = context.name("return_value")
        self.flag = context.name("returned")

    def rewrite(self, function: ast.FunctionDef) -> None:
        last = function.body[-1]
        body = function.body
        if not leaves(body):
            body = [*body, *quote("return None", last)]
        exits = Exits(holds_return, self._replace, self._in_loop, self.flag)
        body = exits.block(body)
        docstring, body = _split_docstring(body)
        if exits.flag_tested:
            start = "value = _jst.NO_VALUE\nflag = False"
            body = quote(start, function.body[0], value=self.value, flag=self.flag) + body
        else:
            body = without_stores(body, self.flag)
        function.body = docstring + body + quote("return value", last, value=self.value)

    def _replace(self, node: ast.stmt) -> list[ast.stmt] | None:
        if not isinstance(node, ast.Return):
            return None
        value = node.value or ast.copy_location(ast.Constant(None), node)
        return quote("name = value\nflag = True", node, name=self.value, value=value, flag=self.flag)

    def _in_loop(self, loop: ast.For | ast.While) -> ast.stmt:
        loop.body = self._jumping(loop.body)
        return loop

    def _jumping(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """In a loop a `return` stores its value and breaks; the break continues through the loops around."""
        result: list[ast.stmt] = []
        for statement in statements:
            if not holds_return(statement):
                result.append(statement)
                continue
            if isinstance(statement, ast.Return):
                result += [*(self._replace(statement) or []), ast.copy_location(ast.Break(), statement)]
                continue
            for field in ("body", "orelse", "finalbody"):
                if isinstance(inner := getattr(statement, field, None), list):
                    setattr(statement, field, self._jumping(inner))
            for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
                part.body = self._jumping(part.body)
            result.append(statement)
            if isinstance(statement, ast.For | ast.While):
                result += quote("if flag:\n    break", statement, flag=self.flag)
        return result


def _split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    first = body[0]
    is_docstring = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return (body[:1], body[1:]) if is_docstring else ([], body)


def run(tree: ast.Module, context: Context) -> ast.Module:
    Returns(context).visit(tree)
    return tree
