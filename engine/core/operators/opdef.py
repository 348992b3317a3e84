"""OpDef: the definition of an operator, with kernel, inference, gradient rules and effects.

::

    @op("tanh", infer=same_as_x)
    def tanh(xp, x):
        "Hyperbolic tangent, elementwise."
        return xp.tanh(x)

    tanh.grad(x=lambda g, out: g * (1.0 - out * out))

The decorated name becomes the function that applies the operator in the current mode. Positional
parameters of the kernel after ``xp`` are inputs (default None: optional; annotated ``list``: a list of
inputs), keyword-only ones are attributes (annotated as ``engine/core/operators/bounds.py`` explains), except
``out`` (an array to write into, which may be an input's) and ``key`` (the random key that the mode provides).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from engine.core.delegate import delegate
from engine.core.errors import ArgumentError, GradientError
from engine.core.operators import traits
from engine.core.spans import timed, watch
from engine.core.values.spec import Spec

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

REQUIRED = inspect.Parameter.empty
_PLAIN, _NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY

OPS: dict[str, OpDef] = {}


class Input:
    """One input of an operator: parameter name, Paddle's slot name, whether it may be absent or is a list."""

    __slots__ = ("is_list", "name", "optional", "slot")

    def __init__(self, name: str, slot: str, optional: bool, is_list: bool) -> None:
        self.name, self.slot, self.optional, self.is_list = name, slot, optional, is_list


class Output:
    """One output: name and Paddle's slot name; ``writes`` names the input whose storage it replaces."""

    __slots__ = ("is_list", "name", "slot", "writes")

    def __init__(self, name: str, slot: str, writes: str | None, is_list: bool) -> None:
        self.name, self.slot, self.writes, self.is_list = name, slot, writes, is_list


class Parameter(NamedTuple):
    """One parameter of a kernel or a rule; ``kind`` is that of ``inspect.Parameter``."""

    name: str
    kind: Any
    default: Any = REQUIRED
    annotation: Any = REQUIRED


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a function, in their order; ``inspect.signature`` takes ten times as long."""
    code = getattr(function, "__code__", None)
    if type(function) is not FunctionType or function.__dict__ or code is None or code.co_posonlyargcount:
        return [
            Parameter(p.name, p.kind, p.default, p.annotation)
            for p in inspect.signature(function).parameters.values()
        ]
    count, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names, notes, defaults = code.co_varnames, function.__annotations__, function.__defaults__ or ()
    given = dict(zip(names[count - len(defaults) : count], defaults, strict=True))
    given |= function.__kwdefaults__ or {}
    found = [
        Parameter(n, _PLAIN if i < count else _NAMED, given.get(n, REQUIRED), notes.get(n, REQUIRED))
        for i, n in enumerate(names[:named])
    ]
    starred = iter(names[named:])
    for flag, kind, place in (
        (inspect.CO_VARARGS, inspect.Parameter.VAR_POSITIONAL, count),
        (inspect.CO_VARKEYWORDS, inspect.Parameter.VAR_KEYWORD, len(names)),
    ):
        if code.co_flags & flag:
            name = next(starred)
            found.insert(place, Parameter(name, kind, REQUIRED, notes.get(name, REQUIRED)))
    return found


class Rule:
    """A gradient rule and the values that it asks for by parameter name.

    A rule with ``**attrs`` takes the attributes that it does not ask for by name, ``rest``, to pass them on.
    """

    __slots__ = ("asks", "function", "rest", "targets")

    def __init__(
        self, function: Callable[..., Any], targets: tuple[str, ...], attributes: Iterable[str]
    ) -> None:
        self.function = function
        self.targets = targets
        parameters = parameters_of(function)
        self.asks = tuple(p.name for p in parameters if p.kind is _PLAIN)
        takes_rest = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        self.rest = tuple(n for n in attributes if takes_rest and n not in self.asks)
        if len(self.asks) + takes_rest != len(parameters) or (takes_rest and not self.rest):
            raise TypeError(
                f"gradient rule of {', '.join(targets)}: a rule has plain parameters, and ** only where the "
                f"operator has attributes that they do not name: got {inspect.signature(function)}"
            )


class OpDef:
    """The definition of one operator."""

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        infer: Callable[..., Any],
        outputs: Sequence[str],
        slots: Mapping[str, str],
        writes: Mapping[str, str],
        *,
        view: bool,
        effect: bool,
        output_list: str | None,
        regions: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.infer = infer
        self.view = view
        self.effect = effect or bool(writes)
        # Its effects are the outputs that write inputs: none where its attributes switch all of them off.
        self.only_writes = bool(writes) and not effect and output_list is None
        self.regions = tuple(regions)
        self.overrides: dict[str, tuple[Callable[..., Any], bool]] = {}
        self.rules: list[Rule] = []
        self.rule_of: dict[str, Rule] = {}
        self.apply_rules: Callable[..., list[Any]] | None = None  # all rules in one, once it is written
        self.region_rule: Callable[..., Any] | None = None
        # Makes a compiled kernel for given Specs and attributes, see engine/kernels/fast.
        self.fast: Callable[[Sequence[Any], Mapping[str, Any]], Any] | None = None
        # Elements of the first input from which on eager calls on the CPU may take one; 0: never.
        self.large = 0
        self._read_signature(slots)
        self.outputs = tuple(
            Output(n, slots.get(n, _camel(n)), writes.get(n), n == output_list) for n in outputs
        )
        self.output_names = tuple(o.name for o in self.outputs)
        self.listed = output_list is not None  # the one output is a list
        self.single = len(self.outputs) == 1 and output_list is None
        self.saved_inputs: dict[str, frozenset[str]] = {}  # input -> the targets whose rules ask for it
        self.valued_inputs: frozenset[str] = frozenset()  # those saved whose value a rule asks for
        self.saved_outputs: frozenset[str] = frozenset()
        self.namespace: dict[str, Any] = {}  # globals of the generated apply function
        unknown = set(writes) - set(outputs) | set(writes.values()) - set(self.input_names)
        if unknown:
            raise TypeError(f"op {name}: writes names {sorted(unknown)}, not outputs and inputs of it")

    def _read_signature(self, slots: Mapping[str, str]) -> None:
        inputs: list[Input] = []
        self.attributes: dict[str, Any] = {}
        self.has_out = self.random = False
        parameters = parameters_of(self.kernel)
        if not parameters or parameters[0].name != "xp":
            raise TypeError(f"op {self.name}: the kernel's first parameter must be xp, the array module")
        for p in parameters[1:]:
            if p.kind is _NAMED:
                if p.name == "out":
                    self.has_out = True
                elif p.name == "key":
                    self.random = True
                else:
                    self.attributes[p.name] = p.default
            elif p.kind is _PLAIN:
                if p.name in ("g", "out", "wanted"):
                    raise TypeError(
                        f"op {self.name}: an input can't be called {p.name!r}, which gradient rules ask for"
                    )
                is_list = p.annotation in (list, "list", "list | None")
                inputs.append(Input(p.name, slots.get(p.name, _camel(p.name)), p.default is None, is_list))
            else:
                raise TypeError(
                    f"op {self.name}: *{p.name} in a kernel; name inputs and attributes one by one"
                )
        self.dtypes = tuple(n for n in ("dtype", "out_dtype") if n in self.attributes)
        self.inputs = tuple(inputs)
        self.input_names = tuple(i.name for i in inputs)
        self.index_of = {i.name: n for n, i in enumerate(inputs)}

    # -- gradients -------------------------------------------------------------------------------------------
    def grad(self, **rules: Callable[..., Any]) -> None:
        """Define one rule for each input: ``add.grad(x=lambda g: g, y=lambda g: g)``.

        A rule asks by parameter name for gradients, inputs, outputs and attributes; ``**attrs`` are all
        attributes that it does not name: ``flip.grad(x=lambda g, **attrs: flip(g, **attrs))``.
        """
        for target, function in rules.items():
            self._add_rule(Rule(function, (target,), self.attributes))

    def grad_all(self, *targets: str) -> Callable[[Kernel], Kernel]:
        """Decorator of one rule that returns the gradients of all ``targets`` as a tuple, in their order.

        The rule may ask for ``wanted``, the set of targets whose gradient is needed, and return
        None for others.
        """

        def decorate(function: Kernel) -> Kernel:
            self._add_rule(Rule(function, targets, self.attributes))
            return function

        return decorate

    def grad_regions(self, function: Kernel) -> Kernel:
        """Decorator of the gradient rule of an operator with regions, which walks back through them.

        It takes the operator of a Program, the gradients of its outputs and the set of Variables that lead
        to a source, and returns pairs of an input and its gradient.
        """
        self.region_rule = function
        return function

    def _add_rule(self, rule: Rule) -> None:
        allowed = (
            {"g", "out", "wanted"} | set(self.attributes) | set(self.input_names) | set(self.output_names)
        )
        allowed |= {f"g_{n}" for n in self.output_names}
        allowed |= {f"{n}_{what}" for n in self.input_names for what in ("spec", "like")}
        for symbol in rule.asks:
            if symbol not in allowed:
                raise TypeError(
                    f"gradient of {self.name}: the rule asks for {symbol!r}, "
                    f"which the operator does not have; it has {sorted(allowed)}"
                )
        for target in rule.targets:
            if target not in self.index_of or target in self.rule_of:
                raise TypeError(f"gradient of {self.name}: {target!r} is not an input, or has a rule already")
            self.rule_of[target] = rule
        self.rules.append(rule)
        self.apply_rules = None
        for symbol in rule.asks:
            name = self.input_for(symbol)
            if name is not None:
                self.saved_inputs[name] = self.saved_inputs.get(name, frozenset()) | set(rule.targets)
        self.valued_inputs |= set(rule.asks) & set(self.input_names)
        names = {
            self.output_names[0] if n == "out" and "out" not in self.output_names else n for n in rule.asks
        }
        self.saved_outputs |= names & set(self.output_names)
        relink(self)

    def input_for(self, symbol: str) -> str | None:
        """The input that a rule asks for: by its name, or as ``x_like``, whose value may have changed.

        ``x_like`` gives shape, dtype and device: a change in place does not matter.
        """
        if symbol in self.index_of:
            return symbol
        name = symbol.removesuffix("_like")
        return name if name != symbol and name in self.index_of else None

    @property
    def differentiable(self) -> bool:
        """Whether gradients flow to any input, or are refused because they are not defined (``order=0``)."""
        return bool(self.rules) or self.region_rule is not None or traits.order.get(self) == 0

    def differentiable_by(self, name: str) -> bool:
        """Whether gradients flow to that input, or are refused because they are not defined."""
        return name in self.rule_of or self.region_rule is not None or traits.order.get(self) == 0

    def require_differentiable(self) -> None:
        if not self.rules:
            raise GradientError(
                f"{self.name}: no gradient is defined for this operator; detach() its input if none is wanted"
            )

    # -- kernels ---------------------------------------------------------------------------------------------
    def override(self, backend: str, kernel: Callable[..., Any], *, direct: bool = False) -> None:
        """Use ``kernel`` on ``backend``. ``direct`` kernels take no ``xp``, no attributes (plain ufuncs)."""
        self.overrides[backend] = (kernel, direct)
        relink(self)

    def kernel_for(self, backend: str, name: str | None = None) -> tuple[Callable[..., Any], bool]:
        """The kernel for a backend, and whether it is called without ``xp`` and attributes.

        While a profiler records it is timed, under ``name`` or that of the operator.
        """
        kernel, direct = self.overrides.get(backend, (self.kernel, False))
        return (kernel if watch.recorder is None else timed(name or self.name, kernel, backend)), direct

    def take_compiled(self, large: int) -> None:
        """Let eager calls on the CPU take compiled kernels where the first input has ``large`` elements."""
        self.large = large
        relink(self)

    def large_kernel(self) -> Callable[..., Any]:
        """What eager calls of large arrays on the CPU call, with ``xp`` and attributes as a kernel; timed
        while a profiler records."""
        kernel = eager_kernel(self)
        return kernel if watch.recorder is None else timed(self.name, kernel, "cpu")

    # -- shapes ----------------------------------------------------------------------------------------------
    def infer_specs(self, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Specs of the outputs from those of the inputs. Raises ShapeError or DTypeError where none fit."""
        result = self.infer(*inputs, **attrs)
        return (result,) if isinstance(result, Spec) else tuple(result)

    def with_defaults(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """All attributes in the order of the signature; raises ArgumentError for a missing or unknown one."""
        full = {}
        for name, default in self.attributes.items():
            value = attrs.get(name, default)
            if value is REQUIRED:
                raise ArgumentError(f"{self.name}: attribute {name!r} is missing: got {sorted(attrs)}")
            full[name] = value
        if len(full) != len(full.keys() | attrs.keys()):
            raise ArgumentError(f"{self.name}: unknown attributes {sorted(attrs.keys() - full.keys())}")
        return full

    def named_inputs(self, inputs: Sequence[Any]) -> Iterator[tuple[Input, Any]]:
        return zip(self.inputs, inputs, strict=True)

    def __repr__(self) -> str:
        return f"<OpDef {self.name}({', '.join(self.input_names)})>"


class Applier(Protocol, Generic[P, R]):
    """The function that applies an operator, with its definition at hand."""

    opdef: OpDef
    grad: Callable[..., None]
    grad_all: Callable[..., Callable[[Any], Any]]

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


def op(
    name: str,
    *,
    infer: Callable[..., Any],
    outputs: Sequence[str] = ("out",),
    slots: Mapping[str, str] | None = None,
    writes: Mapping[str, str] | None = None,
    view: bool = False,
    effect: bool = False,
    output_list: str | None = None,
    regions: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Applier[Any, Any]]:
    """Define the operator ``name`` (Paddle's OpDesc name where there is one) from its default kernel.

    ``infer`` takes Specs where the kernel takes arrays and returns the outputs' Specs. ``slots`` renames
    parameters to Paddle's slots; ``writes`` maps outputs to the inputs they replace in place; ``view`` means
    that the output shares the first input's storage; ``effect`` that it does more than compute its outputs;
    ``output_list`` names the output that is a list; ``regions`` the sub-blocks of an operator of control
    flow. An operator is random where its kernel takes ``key``. Further properties are decorators above this
    one, see ``engine/core/operators/traits.py``.
    """

    def decorate(kernel: Callable[..., Any]) -> Applier[Any, Any]:
        if name in OPS:
            raise TypeError(f"op {name}: defined twice")
        opdef = OpDef(
            name, kernel, infer, outputs, slots or {}, writes or {}, view=view, effect=effect,
            output_list=output_list, regions=regions,
        )  # fmt: skip
        OPS[name] = opdef
        function = make_apply(opdef)
        function.__doc__ = kernel.__doc__
        function.__module__ = kernel.__module__
        function.__name__ = function.__qualname__ = kernel.__name__
        applier = cast("Applier[Any, Any]", function)
        applier.opdef = opdef
        applier.grad = opdef.grad
        applier.grad_all = opdef.grad_all
        return applier

    return decorate


def _follow_recording(_: bool) -> None:
    """Let apply functions that are written already call kernels as ``kernel_for`` gives them now."""
    for opdef in OPS.values():
        if "kernel" in opdef.namespace:
            opdef.namespace["kernel"] = opdef.kernel_for("cpu")[0]
            if opdef.large:
                opdef.namespace["large_kernel"] = opdef.large_kernel()


watch.changing.append(_follow_recording)


@delegate("engine.core.operators.generate")
def make_apply(opdef: OpDef) -> FunctionType:
    """A new function that applies ``opdef`` in the current mode."""
    raise NotImplementedError


@delegate("engine.core.operators.generate")
def regenerate(opdef: OpDef) -> None:
    """Make the existing functions fit the rules and kernels as they are now."""
    raise NotImplementedError


@delegate("engine.program.run.eager_kernels")
def eager_kernel(opdef: OpDef) -> Callable[..., Any]:
    """The kernel that eager calls of large arrays call: NumPy's first, then a compiled one."""
    raise NotImplementedError


def relink(opdef: OpDef) -> None:
    """Make the generated apply function of ``opdef`` follow a change of its rules or kernels."""
    if opdef.namespace:
        regenerate(opdef)


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
