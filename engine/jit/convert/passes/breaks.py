"""`break` and the `else` of a loop -> a flag in the loop's condition.

Before: `while a: if b: break` and then `rest`; `else: c`
After: `break_0 = False`; `while not break_0 and a: if b: break_0 = True` `else: rest`; `if not break_0: c`

A `for` gets its condition through the iterable: `for x in _jst.until(xs, lambda: break_0): ...`
"""

from __future__ import annotations

import ast

from engine.jit.convert.passes.exits import Exits, holds_jump, own_jumps
from engine.jit.convert.quote import quote, quote_expression
from engine.jit.convert.transform import Context, FunctionPass, negated


class Breaks(FunctionPass):
    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        return self._loop(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> ast.AST | list[ast.stmt]:
        node.body = self.block(node.body)
        otherwise = self.block(node.orelse)
        node.orelse = []
        if not own_jumps(node, ast.Break):
            return [node, *otherwise]
        flag = self.context.name("break")

        def replace(statement: ast.stmt) -> list[ast.stmt] | None:
            return quote("flag = True", statement, flag=flag) if isinstance(statement, ast.Break) else None

        exits = Exits(lambda part: holds_jump(part, ast.Break), replace, lambda loop: loop, flag)
        node.body = exits.block(node.body)
        if isinstance(node, ast.For):
            node.iter = quote_expression(
                "_jst.until(items, lambda: flag)", node.iter, items=node.iter, flag=flag
            )
        elif isinstance(node.test, ast.Constant) and node.test.value:
            node.test = negated(flag, node.test)
        else:
            node.test = quote_expression("not flag and test", node.test, flag=flag, test=node.test)
        result = [*quote("flag = False", node, flag=flag), node]
        if otherwise:
            result.append(ast.copy_location(ast.If(negated(flag, node), otherwise, []), node))
        return result


def run(tree: ast.Module, context: Context) -> ast.Module:
    Breaks(context).visit(tree)
    return tree
