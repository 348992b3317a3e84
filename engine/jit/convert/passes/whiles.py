"""`while` -> a function for the test, one for the body, and a call that loops, or builds the loop for a
symbolic test.

Before: `while a: y = b`
After: `def while_test_0(): return a`, `def while_body_0(): nonlocal y; y = b`,
`_jst.convert_while_loop(while_test_0, while_body_0, state=lambda: (y,))`
"""

from __future__ import annotations

import ast

from engine.jit.convert.passes.control import ControlPass, with_keywords
from engine.jit.convert.quote import quote
from engine.jit.convert.transform import Context

TEST = """
def test_fn():
    nonlocal bound
    global shared
    return test
"""
BODY = """
def body_fn():
    nonlocal bound
    global shared
    body
"""


class Whiles(ControlPass):
    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        names = self.state(node)
        test_fn, body_fn = self.context.names("while_test", "while_body")
        test = self.visit(node.test)
        body = self.block(node.body)
        in_test, shared_in_test = self.declared([test])
        local, shared = self.declared(body)
        result = quote(TEST, node.test, test_fn=test_fn, bound=in_test, shared=shared_in_test, test=test)
        result += quote(BODY, node.body[0], body_fn=body_fn, bound=local, shared=shared, body=body)
        (call,) = quote("_jst.convert_while_loop(test_fn, body_fn)", node, test_fn=test_fn, body_fn=body_fn)
        return [*result, with_keywords(call, self.state_keywords(names, node))]


def run(tree: ast.Module, context: Context) -> ast.Module:
    Whiles(context).visit(tree)
    return tree
