"""An element at a computed place -> the runtime's reading and writing, where a Tensor may say the place.

Before: `y = items[i]`
After: `y = _jst.item(items, i)`

Before: `y = items[:n]`
After: `y = _jst.item(items, slice(None, n, None))`

Before: `items[i] = y`
After: `_jst.put(items, i, y)`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import copied, quote, quote_expression
from engine.jit.convert.transform import Context, FunctionPass

COMPUTED = (ast.Name, ast.Attribute, ast.BinOp, ast.Call, ast.Subscript)


class Subscripts(FunctionPass):
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            if not any(isinstance(bound, COMPUTED) for bound in bounds):
                return node
            given = [bound or ast.copy_location(ast.Constant(None), node) for bound in bounds]
            part = "_jst.item(container, slice(start, stop, step))"
            start, stop, step = given
            return quote_expression(part, node, container=node.value, start=start, stop=stop, step=step)
        if not isinstance(node.slice, COMPUTED):
            return node
        return quote_expression("_jst.item(container, index)", node, container=node.value, index=node.slice)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not _computed(target):
            return node
        assert isinstance(target, ast.Subscript)
        return quote(
            "_jst.put(container, index, value)",
            node,
            container=target.value,
            index=target.slice,
            value=node.value,
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        node.value = self.visit(node.value)
        target = node.target
        if not isinstance(target, ast.Subscript) or not _computed(target):
            return node
        if not (_plain(target.value) and isinstance(target.slice, ast.Name)):
            return node  # what has effects would be evaluated twice
        name = self.context.name("element")
        read = quote(
            "element = _jst.item(container, index)",
            node,
            element=name,
            container=copied(target.value),
            index=copied(target.slice),
        )
        write = quote(
            "_jst.put(container, index, element)",
            node,
            container=target.value,
            index=target.slice,
            element=name,
        )
        node.target = ast.copy_location(ast.Name(name, ast.Store()), node)
        return [*read, node, *write]


def _computed(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.slice, COMPUTED)


def _plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _plain(node.value))


def run(tree: ast.Module, context: Context) -> ast.Module:
    Subscripts(context).visit(tree)
    return tree
