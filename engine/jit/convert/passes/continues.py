"""`continue` -> the rest of the loop's body under the other branch.

Before: `while a: if b: continue` and then `rest`
After: `while a: if b: pass` `else: rest`

Inside `with`, `try` and `match` a flag `continue_0` is set and the rest stands under `if not continue_0:`.
"""

from __future__ import annotations

import ast

from engine.jit.convert.passes.exits import Exits, holds_jump, own_jumps, without_stores
from engine.jit.convert.quote import quote
from engine.jit.convert.transform import Context, FunctionPass, or_pass


class Continues(FunctionPass):
    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        if not own_jumps(node, ast.Continue):
            return node
        flag = self.context.name("continue")

        def replace(statement: ast.stmt) -> list[ast.stmt] | None:
            return quote("flag = True", statement, flag=flag) if isinstance(statement, ast.Continue) else None

        exits = Exits(lambda part: holds_jump(part, ast.Continue), replace, lambda loop: loop, flag)
        body = exits.block(node.body)
        if exits.flag_tested:
            node.body = quote("flag = False", node.body[0], flag=flag) + body
        else:
            node.body = or_pass(without_stores(body, flag), node)
        return node


def run(tree: ast.Module, context: Context) -> ast.Module:
    Continues(context).visit(tree)
    return tree
