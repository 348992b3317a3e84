"""`for` -> a function for the body, which gets the item, and a call that loops over Python or symbolic
iterables.

Before: `for x in a: y = b`
After: `def for_body_0(item_0): nonlocal x, y; x = item_0; y = b`,
`_jst.convert_for(a, for_body_0, state=lambda: (x, y))`
"""

from __future__ import annotations

import ast

from engine.jit.convert.passes.control import ControlPass, with_keywords
from engine.jit.convert.passes.unpacking import stored
from engine.jit.convert.quote import quote
from engine.jit.convert.transform import Context

BODY = """
def body_fn(item):
    nonlocal bound
    global shared
    first
    body
"""


class Fors(ControlPass):
    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        names = self.state(node)
        body_fn, item = self.context.names("for_body", "item")
        iterable = self.visit(node.iter)
        target = self.visit(node.target)
        body = self.block(node.body)
        read = ast.copy_location(ast.Name(item, ast.Load()), node.target)
        first = stored(target, read, node.target, self.context)
        local, shared = self.declared([*first, *body])
        result = quote(
            BODY, node.target, body_fn=body_fn, item=item, bound=local, shared=shared, first=first, body=body
        )
        (call,) = quote("_jst.convert_for(items, body_fn)", node, items=iterable, body_fn=body_fn)
        return [*result, with_keywords(call, self.state_keywords(names, node))]


def run(tree: ast.Module, context: Context) -> ast.Module:
    Fors(context).visit(tree)
    return tree
