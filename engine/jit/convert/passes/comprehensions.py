"""A comprehension -> a call of the runtime with its element as a function, so that the length of what it goes
over, and its conditions, may be known only to the running Program.

Before: `[a * b for a in items if a > 0]`
After: `_jst.comprehend(items, lambda a: a * b, lambda a: a > 0)`

Several `for` nest, innermost last: `_jst.comprehend(xs, lambda x: _jst.comprehend(...), flat=True)`. What is
unpacked is unpacked inside: `lambda part_0: [a * b for a, b in (_jst.unpacked(part_0, 2),)][0]`. A
comprehension whose element is itself a function of its variables stays as it is: all those functions share
one variable.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from engine.jit.convert.passes.unpacking import targets, unpacked
from engine.jit.convert.quote import copied, quote_expression
from engine.jit.convert.scope import Comprehension
from engine.jit.convert.transform import Context, FunctionPass

NOT_MOVED = (ast.Lambda, ast.GeneratorExp, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


class Comprehensions(FunctionPass):
    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._called("comprehend", node, node.elt)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._called("comprehend_set", node, node.elt)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node.key)
        return self._called("comprehend_dict", node, pair)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._called("generate", node, node.elt)

    def _called(self, name: str, node: Comprehension, element: ast.expr) -> ast.AST:
        # Only what it goes over first is evaluated outside of its own scope.
        if not _moves(node) or (isinstance(node, ast.GeneratorExp) and len(node.generators) > 1):
            node.generators[0].iter = self.visit(node.generators[0].iter)
            return node
        return self._chained(name, node.generators, element, node)

    def _chained(
        self, name: str, generators: Sequence[ast.comprehension], element: ast.expr, at: ast.AST
    ) -> ast.expr:
        first, *others = generators
        inner = self._chained(name, others, element, at) if others else self.visit(element)
        tests = [self.visit(test) for test in first.ifs]
        call = quote_expression("_jst.name(items)", at, items=self.visit(first.iter))
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        call.func.attr = name
        call.args.append(self._function(first.target, inner))
        if tests:
            together = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            call.args.append(self._function(first.target, ast.copy_location(together, tests[0])))
        if others:
            call.keywords.append(ast.keyword("flat", ast.copy_location(ast.Constant(True), at)))
        ast.fix_missing_locations(call)
        return call

    def _function(self, target: ast.expr, body: ast.expr) -> ast.expr:
        """What `body` is for one item, as a lambda."""
        if isinstance(target, ast.Name):
            return quote_expression("lambda item: body", body, item=target.id, body=body)
        name = self.context.name("part")
        given: ast.expr = ast.copy_location(ast.Name(name, ast.Load()), body)
        count = targets(target)
        if count is not None:
            given = unpacked(given, count, body)
        template = "lambda item: [body for target in (given,)][0]"
        return quote_expression(template, body, item=name, body=body, target=copied(target), given=given)


def _moves(node: Comprehension) -> bool:
    elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    inside = [*elements, *(g.target for g in node.generators), *(t for g in node.generators for t in g.ifs)]
    inside += [generator.iter for generator in node.generators[1:]]
    if any(generator.is_async for generator in node.generators):
        return False
    return not any(isinstance(part, NOT_MOVED) for tree in inside for part in ast.walk(tree))


def run(tree: ast.Module, context: Context) -> ast.Module:
    Comprehensions(context).visit(tree)
    return tree
