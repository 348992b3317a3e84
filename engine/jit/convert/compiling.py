"""From the converted tree to a code object that takes the original's place: same file, lines, cells and
qualified names.
"""

from __future__ import annotations
import __future__

import ast
from types import CodeType

from engine.jit.convert.quote import copied
from engine.jit.convert.scope import RUNTIME
from engine.jit.convert.source import Source
from engine.jit.convert.transform import Context

CO_OPTIMIZED = 0x1  # functions have it, bodies of classes don't
FUTURES = __future__.annotations.compiler_flag


def compiled(tree: ast.Module, original: CodeType, source: Source, context: Context) -> CodeType:
    """Compile the tree's one function, or lambda, so that its free variables are the original's and `_jst`.

    For the compiler the function stands in a function that has the original's free variables as parameters,
    and in a class for private names and `__class__`. Neither is ever run; only the code object inside is
    taken.
    """
    statement = copied(tree.body[0])
    if isinstance(statement, ast.FunctionDef):
        _strip_signature(statement.args)
        statement.returns = None
        # In the function around it its own name would hide the global that a recursive call means.
        statement.name = f"{RUNTIME}_{statement.name}"
        if hasattr(statement, "type_params"):
            statement.type_params = []
    names = [RUNTIME, *(name for name in original.co_freevars if name != "__class__")]
    body: ast.stmt = statement
    if source.class_name is not None and source.class_name.strip("_"):
        # Private names depend on the class's name without leading underscores: more of them keep the wrapping
        # class from hiding a global of the class's name.
        empty_class = ast.ClassDef(
            name="_" * 8 + source.class_name, bases=[], keywords=[], body=[statement], decorator_list=[]
        )
        if hasattr(statement, "type_params"):
            empty_class.type_params = []  # type: ignore[attr-defined]
        body = empty_class
    around = ast.parse("def factory():\n    pass").body[0]
    assert isinstance(around, ast.FunctionDef)
    around.args.args = [ast.arg(name) for name in names]
    around.body = [body]
    module = ast.Module([around], [])
    for part in (body, around):
        ast.copy_location(part, statement)
    ast.fix_missing_locations(module)
    code = _inner(
        _inner(compile(module, source.filename, "exec", original.co_flags & FUTURES, dont_inherit=True))
    )
    if body is not statement:
        code = _inner(code)
    # The first line stays that of the `def`: all others are stored relative to it, decorators don't count.
    return _renamed(code, original.co_name, original.co_qualname, context.helpers)


def _strip_signature(args: ast.arguments) -> None:
    """Defaults and annotations come from the original function object; only their number matters here."""
    args.defaults = [ast.Constant(None) for _ in args.defaults]
    args.kw_defaults = [None if default is None else ast.Constant(None) for default in args.kw_defaults]
    for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]:
        arg.annotation = None


def _inner(code: CodeType) -> CodeType:
    (inner,) = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return inner


def _renamed(code: CodeType, name: str, qualified: str, helpers: set[str]) -> CodeType:
    """The code under its original names; helper functions go by the name of the function that they are a part
    of.
    """
    constants: list[object] = []
    inside = f"{qualified}.<locals>." if code.co_flags & CO_OPTIMIZED else f"{qualified}."
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name in helpers:
                constant = _renamed(constant, name, qualified, helpers)
            else:
                constant = _renamed(constant, constant.co_name, inside + constant.co_name, helpers)
        constants.append(constant)
    if not code.co_flags & CO_OPTIMIZED:  # the body of a class stores its qualified name from a constant
        constants = [qualified if constant == code.co_qualname else constant for constant in constants]
    return code.replace(co_name=name, co_qualname=qualified, co_consts=tuple(constants))
