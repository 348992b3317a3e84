"""Writes the apply function of every operator from its signature.

A generic ``apply(*args, **kwargs)`` costs about twice as much as a function with the operator's own
parameters, its saved inputs and its kernel written out. Eager execution of NumPy arrays runs straight through
the generated body; everything else (building, CuPy, lists, mixed precision) uses ``Mode.apply``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.frames import INTERNAL, is_internal, outside
from engine.core.operators import opdef as definitions
from engine.core.operators import traits
from engine.core.operators.opdef import OPS, REQUIRED, Applier, OpDef
from engine.core.operators.operator import OutEdge, Recorded
from engine.core.random.generator import default_generator

# Set by the eager room when it is imported: the Tensor class and the functions that need it.
LINKS: dict[str, Any] = {}

_COMMON: dict[str, Any] = {
    "np": np,
    "ndarray": np.ndarray,
    "asarray": np.asanyarray,  # bfloat16 has its own array class
    "new": object.__new__,
    "Recorded": Recorded,
    "OutEdge": OutEdge,
    "get_mode": modes.variable.get,
    "default": modes.default,
    "getframe": sys._getframe,
    "internal": INTERNAL,
    "is_internal": is_internal,
    "outside": outside,
    "reserve": default_generator().reserve,
}
_LOCAL = (
    "opdef",
    "kernel",
    "large_kernel",
    "r",
    "out",
    "node",
    "f",
    "code",
    "inside",
    "error",
    "user",
    "plain",
    "eager",
    "otherwise",
    "number",
    "numbers",
)


# The first code of every apply function: it writes the operator's own body at the first call. A program uses
# few of the operators, and compiling all of them took a third of the import.
_UNWRITTEN = compile(
    "def apply(*args, **kwargs): return first_call(args, kwargs)", "<apply at first call>", "exec"
).co_consts[0]
_UNWRITTEN_METHOD = compile(
    "def method(x, y): return first_method(x, y)", "<apply at first call>", "exec"
).co_consts[0]


def link(**names: Any) -> None:
    """Called once by the eager room: complete the apply functions of all operators, now and later."""
    LINKS.update(names)
    for opdef in OPS.values():
        opdef.namespace.update(LINKS)
        regenerate(opdef)


@definitions.make_apply.define
def make_apply(opdef: OpDef) -> FunctionType:
    """A new function that applies ``opdef`` in the current mode."""
    taken = {*_COMMON, *_LOCAL, *LINKS} & {*opdef.input_names, *opdef.attributes}
    if taken:
        raise TypeError(f"op {opdef.name}: {sorted(taken)} are names of the generated function; use others")
    namespace = opdef.namespace
    namespace.update(_COMMON, opdef=opdef, **LINKS)
    namespace.update({f"default_{n}": v for n, v in opdef.attributes.items()}, user=[None])
    function = FunctionType(_UNWRITTEN, namespace)

    def first_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        _write(opdef)
        return function(*args, **kwargs)

    namespace.update(__apply__=function, first_call=first_call)
    return function


@definitions.regenerate.define
def regenerate(opdef: OpDef) -> None:
    """Make the existing functions fit the rules and kernels as they are now, from their next call on."""
    opdef.namespace["__apply__"].__code__ = _UNWRITTEN
    if "__method__" in opdef.namespace:
        opdef.namespace["__method__"].__code__ = _UNWRITTEN_METHOD


def make_method(
    apply: Applier[..., Any],
    plain: set[type],
    eager: set[type],
    otherwise: Callable[[Any, Any], Any],
    number: Callable[[Any, Any], Any] | None = None,
    floating: bool = False,
) -> FunctionType:
    """A new function that is a binary operator of tensors, in one frame where the eager path may run.

    ``apply`` is the apply function of the operator, called for two tensors of the classes in ``plain`` of one
    dtype, which with ``floating`` has to be float; those of the classes in ``eager`` go straight only where
    the eager path runs. ``number`` takes a floating one and a Python number, ``otherwise`` all the rest.
    There is one such function for an operator.
    """
    opdef = apply.opdef
    function = FunctionType(_UNWRITTEN_METHOD, opdef.namespace)

    def first_method(x: Any, y: Any) -> Any:
        written = _compiled_function(opdef, _method_source(opdef, floating), "method")
        function.__code__ = written.__code__
        return function(x, y)

    opdef.namespace.update(
        __method__=function,
        first_method=first_method,
        plain=plain,
        eager=eager,
        otherwise=otherwise,
        apply_=apply,
        number=number,
        numbers=() if number is None else (float, int),
    )
    return function


def _write(opdef: OpDef) -> None:
    """Give the apply function of ``opdef`` its own body."""
    function, written = opdef.namespace["__apply__"], _compile(opdef)
    # The code comes last: another thread may call the function meanwhile, with the old code or the new one.
    function.__defaults__ = written.__defaults__
    function.__kwdefaults__ = written.__kwdefaults__
    function.__code__ = written.__code__


def _compile(opdef: OpDef) -> FunctionType:
    return _compiled_function(opdef, _source(opdef), "apply")


def _compiled_function(opdef: OpDef, source: str, name: str) -> FunctionType:
    namespace = opdef.namespace
    namespace["kernel"] = opdef.kernel_for("cpu")[0]
    if opdef.large:
        namespace["large_kernel"] = opdef.large_kernel()
    scope: dict[str, Any] = {}
    exec(compile(source, f"<apply {opdef.name}>", "exec"), namespace, scope)
    made = scope[name]
    assert isinstance(made, FunctionType)
    return made


def _method_source(opdef: OpDef, floating: bool) -> str:
    """A function of x and y whatever the operator calls them; attributes have their default values."""
    x, y = opdef.input_names
    lines = [
        f"def method({x}, {y}):",
        f" if (type({x}) is Tensor or type({x}) in eager) and (type({y}) is Tensor or type({y}) in eager):",
        f"  {x}_ = {x}._array",
        f"  {y}_ = {y}._array",
        f"  if {x}_.dtype is {y}_.dtype" + (f" and {x}_.dtype.kind == 'f':" if floating else ":"),
        "   mode_ = get_mode() or default.mode",
        f"   if mode_.fast and type({x}_) is ndarray and type({y}_) is ndarray:",
    ]
    opdef.namespace["default_attrs"] = dict(opdef.attributes)
    lines += ["    " + line for line in _computing(opdef, f"({x}, {y})", "default_attrs", depth=1)]
    lines += [
        f"   if type({x}) in plain and type({y}) in plain: return apply_({x}, {y})",
        f" elif type({y}) in numbers and type({x}) in plain and {x}._array.dtype.kind == 'f':",
        f"  return number({x}, {y})",
        f" return otherwise({x}, {y})",
    ]
    return "\n".join(lines) + "\n"


def _source(opdef: OpDef) -> str:
    inputs, attributes = opdef.inputs, opdef.attributes
    parameters = [i.name + ("=None" if i.optional else "") for i in inputs]
    if attributes:
        parameters.append("*")
        parameters += [n + ("" if d is REQUIRED else f"=default_{n}") for n, d in attributes.items()]
    attrs = "{" + ", ".join(f"{n!r}: {n}" for n in attributes) + "}"
    names = "(" + "".join(f"{i.name}, " for i in inputs) + ")"
    # Attributes may have any name without an underscore at its end ("mode" is one): the local has one.
    lines = [f"def apply({', '.join(parameters)}):", " mode_ = get_mode() or default.mode"]
    lists = any(i.is_list for i in inputs) or any(o.is_list for o in opdef.outputs)
    if inputs and not lists and opdef not in traits.moves and LINKS:
        lines += _fast_path(opdef, names, attrs)
    lines.append(f" return mode_.apply(opdef, {names}, {attrs})")
    return "\n".join(lines) + "\n"


def _fast_path(opdef: OpDef, names: str, attrs: str) -> list[str]:
    inputs = opdef.inputs
    lines = [" if mode_.fast:", "  try:"]
    for i in inputs:
        absent = f"None if {i.name} is None else " if i.optional else ""
        lines.append(f"   {i.name}_ = {absent}{i.name}._array")
    lines += ["  except AttributeError:", "   pass", "  else:"]
    tests = [
        f"type({i.name}_) is ndarray"
        if not i.optional
        else f"({i.name} is None or type({i.name}_) is ndarray)"
        for i in inputs
    ]
    lines.append(f"   if {' and '.join(tests)}:")
    return lines + ["    " + line for line in _computing(opdef, names, attrs, depth=2)]


def _computing(opdef: OpDef, names: str, attrs: str, depth: int) -> list[str]:
    """Call the kernel with the arrays at hand (``x_``), wrap its results, record them, and return.

    ``depth`` is how many frames above the user's is: that of the function, or of one around it.
    """
    inputs = opdef.inputs
    direct = opdef.kernel_for("cpu")[1]
    lines = ["try:"]
    arguments = ", ".join(f"{i.name}_" for i in inputs)
    if not direct:
        shown = "default_" if depth == 1 else ""
        arguments = "np, " + arguments + "".join(f", {n}={shown}{n}" for n in opdef.attributes)
        if opdef.random:
            arguments += ", key=reserve()"
    # Lists and operators without inputs do not come here.
    chosen = (
        f"(kernel if {inputs[0].name}_.size < {opdef.large} else large_kernel)" if opdef.large else "kernel"
    )
    lines += [
        f" r = {chosen}({arguments})",
        "except Exception as error:",
        f" raise explain(opdef, {names}, {attrs}, error) from error.__cause__",
    ]
    for output in opdef.outputs:
        if output.writes:
            position = opdef.output_names.index(output.name)
            value = "r" if opdef.single else f"r[{position}]"
            optional = inputs[opdef.index_of[output.writes]].optional
            there = f"{output.writes} is not None and " if optional else ""
            lines.append(f"if {there}{value} is not None: write({output.writes}, {value})")
    return lines + _wrap_outputs(opdef, names, attrs, depth)


def _wrap_outputs(opdef: OpDef, names: str, attrs: str, depth: int) -> list[str]:
    lines: list[str] = []
    if opdef.single:
        lines.append("if type(r) is not ndarray: r = asarray(r)")
        lines += ["out = new(Tensor)", "out._array = r"]
        first = opdef.inputs[0].name
        lines.append(f"out._version = share({first}, r)" if opdef.view else "out._version = None")
    else:
        lines.append("out = wrap_all(r)")
    targets = [n for n in opdef.input_names if n in opdef.rule_of]
    if targets:
        for name in targets:
            optional = opdef.inputs[opdef.index_of[name]].optional
            lines.append(
                f"e_{name} = " + (f"None if {name} is None else " if optional else "") + f"{name}._edge"
            )
        any_edge = " or ".join(f"e_{n} is not None" for n in targets)
        lines.append(f"if mode_.grad and ({any_edge}):")
        lines += [" " + line for line in _record(opdef, targets, attrs, depth)]
        lines += ["else: out._edge = None"] if opdef.single else []
    elif opdef.single:
        lines.append("out._edge = None")
    lines.append("return out")
    return lines


def _attributes(opdef: OpDef, attrs: str) -> str:
    """The attributes that a node stores: one dict for all nodes where all have their default value."""
    if not opdef.attributes:
        return "None"
    if attrs == "default_attrs" or len(opdef.attributes) > 2 or REQUIRED in opdef.attributes.values():
        return attrs
    opdef.namespace["default_attrs"] = dict(opdef.attributes)
    unchanged = " and ".join(f"{n} is default_{n}" for n in opdef.attributes)
    return f"default_attrs if {unchanged} else {attrs}"


def _record(opdef: OpDef, targets: list[str], attrs: str, depth: int) -> list[str]:
    lines = ["node = Recorded()", "node.opdef = opdef", "node.hooks = None"]
    lines.append(f"node.attrs = {_attributes(opdef, attrs)}")
    lines.append(
        "node.edges = (" + "".join(f"e_{n}, " if n in targets else "None, " for n in opdef.input_names) + ")"
    )
    if opdef.saved_inputs:
        saved = []
        for name in opdef.input_names:
            users = opdef.saved_inputs.get(name)
            if users is None:
                saved.append("None")
            elif users >= set(targets) or any(len(opdef.rule_of[t].targets) > 1 for t in users):
                saved.append(name)
            else:
                condition = " or ".join(f"e_{t} is not None" for t in sorted(users))
                saved.append(f"{name} if {condition} else None")
        lines.append("node.inputs = (" + "".join(f"{k}, " for k in saved) + ")")
        tensors = [n for n in opdef.input_names if n in opdef.saved_inputs]
        optional = {i.name for i in opdef.inputs if i.optional}
        unversioned = " and ".join(
            (f"({n} is None or {n}._version is None)" if n in optional else f"{n}._version is None")
            for n in tensors
        )
        lines.append(f"node.versions = None if {unversioned} else versions_of(node.inputs)")
    if opdef.single:
        if opdef.saved_outputs:
            lines.append("node.outputs = (r,)")
        lines.append("node.shapes = r.shape")
    else:
        listed = "".join(
            f"r[{n}], " if o in opdef.saved_outputs else "None, " for n, o in enumerate(opdef.output_names)
        )
        if opdef.saved_outputs:
            lines.append(f"node.outputs = ({listed})")
        lines.append("node.shapes = tuple([None if a is None else a.shape for a in r])")
    # Setting a field costs time: a field that no rule of the operator asks for stays unset and is not read.
    if opdef.saved_inputs or opdef.saved_outputs:
        lines.append("node.counters = None")
        if not opdef.saved_inputs:
            lines.append("node.inputs = None")
    if depth == 1:
        lines.append("f = getframe(1)")
    else:
        lines += ["try:", f" f = getframe({depth})", "except ValueError:", " f = getframe(1)"]
    lines += [
        "code = f.f_code",
        "if code is not user[0]:",  # most calls come from the code that the last one came from
        " try:",
        "  inside = internal[code.co_filename]",
        " except KeyError:",
        "  inside = is_internal(code.co_filename)",
        " if inside:",
        "  f = outside(f)",
        "  code = f.f_code",
        " else: user[0] = code",
        "node.code = code",
        "node.instruction = f.f_lasti",
    ]
    if opdef.single:
        lines.append("out._edge = node")
        if opdef.view and opdef.saved_outputs:
            lines.append("if out._version is not None: node.counters = ((out._version, out._version.count),)")
    else:
        lines.append("connect(out, node)")
    return lines
