"""`if` -> two functions and a call that runs one of them, or builds both when the condition is a symbolic
Tensor.

Before: `if a: y = b` `else: y = c`
After: `def true_fn_0(): nonlocal y; y = b`, `def false_fn_0(): nonlocal y; y = c`,
`_jst.convert_ifelse(a, true_fn_0, false_fn_0, state=lambda: (y,))`
"""

from __future__ import annotations

import ast

from engine.jit.convert.passes.control import ControlPass, with_keywords
from engine.jit.convert.quote import quote
from engine.jit.convert.transform import Context

BRANCH = """
def branch():
    nonlocal bound
    global shared
    body
"""


class Ifs(ControlPass):
    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        names = self.state(node)
        test = self.visit(node.test)
        true_fn, false_fn = self.context.names("true_fn", "false_fn")
        result: list[ast.stmt] = []
        for name, body in ((true_fn, node.body), (false_fn, node.orelse)):
            if body:
                new = self.block(body)
                local, shared = self.declared(new)
                result += quote(BRANCH, body[0], branch=name, bound=local, shared=shared, body=new)
        call = (
            "_jst.convert_ifelse(test, true_fn, false_fn)"
            if node.orelse
            else "_jst.convert_ifelse(test, true_fn, None)"
        )
        otherwise = {"false_fn": false_fn} if node.orelse else {}
        (statement,) = quote(call, node, test=test, true_fn=true_fn, **otherwise)
        return [*result, with_keywords(statement, self.state_keywords(names, node))]


def run(tree: ast.Module, context: Context) -> ast.Module:
    Ifs(context).visit(tree)
    return tree
