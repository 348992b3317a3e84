"""`except` -> a handler that passes errors of the conversion on: eager code does not raise them.

Before: `except ValueError: y = x`
After: `except ValueError: _jst.own_error()` and `y = x`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote
from engine.jit.convert.transform import Context, FunctionPass


class Handlers(FunctionPass):
    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.body = [*quote("_jst.own_error()", node), *self.block(node.body)]
        return node


def run(tree: ast.Module, context: Context) -> ast.Module:
    Handlers(context).visit(tree)
    return tree
