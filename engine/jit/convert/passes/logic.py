"""`and`, `or`, `not` -> calls that keep Python's short circuit for Python values and build operators for
Tensors.

Before: `if a and not b:`
After: `if _jst.logical_and(a, lambda: _jst.logical_not(b)):`

Where the value of `and` or `or` is needed, not only its truth, the call is `_jst.value_and` or `value_or`.
"""

from __future__ import annotations

import ast
from typing import Any

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.scope import is_runtime_call
from engine.jit.convert.transform import Context, FunctionPass, has_walrus


class Logic(FunctionPass):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._tests: set[int] = set()  # the ids of nodes of which only the truth is asked

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            self._tests.add(id(node.test))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._tests.add(id(node.operand))
        elif isinstance(node, ast.BoolOp) and id(node) in self._tests:
            self._tests.update(map(id, node.values))
        elif isinstance(node, ast.Call) and (is_runtime_call(node, "convert_assert") or _is_bool(node)):
            self._tests.update(map(id, node.args[:1]))
        return super().visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        is_test = id(node) in self._tests
        self.generic_visit(node)
        first, *others = node.values
        if has_walrus(*others):
            return node
        name = ("logical_" if is_test else "value_") + ("and" if isinstance(node.op, ast.And) else "or")
        call = quote_expression("_jst.name(first)", node, first=first)
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        call.func.attr = name
        call.args += [quote_expression("lambda: value", value, value=value) for value in others]
        return call

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return quote_expression("_jst.logical_not(value)", node, value=node.operand)


def _is_bool(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "bool"


def run(tree: ast.Module, context: Context) -> ast.Module:
    Logic(context).visit(tree)
    return tree
