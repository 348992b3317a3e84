"""TranslatedLayer: saved Programs as a Layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.containers.lru import LRU
from engine.core.errors import ArgumentError
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.eager.tensor import Parameter, Tensor, counter_of, wrap
from engine.jit.input_spec import InputSpec
from engine.jit.run_program import ProgramRunner, wrapped
from engine.jit.saved.resized import resized
from engine.jit.signature import converted_to
from engine.nn import Layer
from engine.nn.layer.base.state import TorchState
from engine.ops.quantization.integers import STORED_AS
from engine.program.build.builder import current_builder
from engine.program.graph.program import Program, Variable
from engine.program.passes.inline import inline
from engine.program.passes.pipeline import PREDICTION, level
from engine.program.passes.quantization.selection import PAIRS
from engine.program.run.plan import Plan

FORWARD = "forward"
_FLOAT = np.dtype(np.float32)


class SavedFunction:
    """One function of a saved Layer: a call runs its Program.

    ``passes`` is the level of the passes that predictions run with; by default they are all of them from the
    second call with the same weights on, and before that those of the level in force. Training, and gradients
    of inputs, run the Program without those that take the weights as they are now.
    """

    def __init__(self, name: str, program: Program, passes: int | None = None) -> None:
        block = program.global_block()
        self.name = name
        self.program = program
        self.inputs = [block.var(n) for n in program.inputs]
        self.outputs = [block.var(n) for n in program.outputs]
        self._passes = passes
        self._runners: dict[Any, ProgramRunner] = {}  # by level, and by what of the inputs is not as declared
        self._mode_ops = _mode_ops(program)
        self._integers = _stored_integers(program)
        self._weights = [v.tensor for v in program.bound()]
        self._taken: list[tuple[Any, int]] = []  # the weights, and their versions when runs took them
        self._seen: list[int] | None = None  # and after the last prediction
        self._frozen: LRU[Any, Plan] = LRU("plans")  # by the kinds of inputs that were checked
        self.training = False

    def __call__(self, *inputs: Any) -> Any:
        """The function's result. Raises ShapeError, DTypeError or ArgumentError for inputs it can't take."""
        if not self.training and modes.current().fast:
            found = self._predicted(inputs)
            if found is not None:
                return found
        where = "TranslatedLayer" if self.name == FORWARD else f"TranslatedLayer.{self.name}"
        self._require_count(where, inputs)
        builder = current_builder()
        if builder is not None:  # within a function that is being traced: becomes part of its Program
            mapped = inline(builder, self.program, self.inputs, inputs)
            outputs = [mapped[v] for v in self.outputs]
            return outputs[0] if len(outputs) == 1 else outputs
        tensors = self._converted(where, inputs)
        if self.training and self._integers and modes.current().grad:
            weight = self._integers[0]
            raise ArgumentError(
                f"{where}: the weight {weight.name!r} is {weight.spec}: a quantized model is not trained "
                "further; fine-tune the float model with paddle.quantization.QAT and convert it again, or "
                "call eval()"
            )
        if self.training or any(not x.stop_gradient for x in tensors):
            results = self.runner_for(tensors, None)(tensors)
        else:
            passes = self._passes if self._passes is not None else self._passes_now()
            if passes is not None:
                self._take_weights()
            runner = self.runner_for(tensors, passes)
            with modes.use(modes.current().with_grad(False)):
                results = runner(tensors)
            self._seen = self._versions_now()  # a run may itself count as a change of statistics
            if passes is not None:
                self._taken = list(zip(self._weights, self._seen, strict=True))
            arrays = [x._array for x in tensors]
            plan = runner.frozen_plan(arrays) if passes is not None else None
            if plan is not None:
                self._frozen.put(_kinds(arrays), plan)
        return results[0] if len(results) == 1 else results

    def _predicted(self, inputs: tuple[Any, ...]) -> Any:
        """The result of a frozen plan; None for inputs of a kind that was not checked, or changed weights."""
        try:
            if len(inputs) == 1:  # written out: a comprehension is a call
                arrays = [inputs[0]._array] if inputs[0]._edge is None else []
            else:
                arrays = [x._array for x in inputs if x._edge is None]
            plan = self._frozen.get(_kinds(arrays))
            if plan is None:
                return None
            for weight, count in self._taken:
                if weight._version.count != count:
                    return None
        except AttributeError:  # no Tensor, or a weight that was given another storage
            return None
        results = plan(arrays)
        if len(results) > 1:
            return [wrapped(r) for r in results]
        (found,) = results
        plain = found.__class__ is np.ndarray and found.dtype is _FLOAT
        return wrap(found) if plain else wrapped(found)

    def _passes_now(self) -> int | None:
        """The level for a prediction of a model that was not loaded to predict with: None until weights stay
        from one call to the next."""
        if self._integers or self.program.foreign or not level.get():
            return None
        return PREDICTION if self._versions_now() == self._seen else None

    def _versions_now(self) -> list[int]:
        return [counter_of(weight).count for weight in self._weights]

    def _forget(self) -> None:
        self._runners.clear()
        self._frozen.clear()

    def _take_weights(self) -> None:
        """Forget what was made of the weights where they have changed since."""
        versions = self._versions_now()
        if versions != [count for _, count in self._taken]:
            self._runners = {key: runner for key, runner in self._runners.items() if key[0] is None}
            self._frozen.clear()
            self._taken = list(zip(self._weights, versions, strict=True))

    def runner_for(self, tensors: list[Tensor], passes: int | None) -> ProgramRunner:
        """The runner for inputs of these specs: the Program as it was saved, or with other sizes or dtypes.

        Sizes that are attributes of operators stay, as in Paddle. Raises the error of an operator that does
        not take them.
        """
        free = tuple([_free(v.spec, x._array) for v, x in zip(self.inputs, tensors, strict=True)])
        found = self._runners.get((passes, free))
        if found is None:
            program = self.program if not any(free) else self._resized(free, tensors)
            block = program.global_block()
            inputs, outputs = ([block.var(v.name) for v in group] for group in (self.inputs, self.outputs))
            found = self._runners[passes, free] = ProgramRunner(
                program, inputs, outputs, passes=passes, frozen=passes == PREDICTION
            )
        return found

    def unoptimized(
        self, inputs: Sequence[Any]
    ) -> tuple[Program, list[Variable], list[Variable], list[Tensor]]:
        """The Program for these inputs without passes, its inputs and outputs, and the inputs as Tensors.

        Raises ShapeError, DTypeError or ArgumentError for inputs it can't take.
        """
        self._require_count("model", inputs)
        tensors = self._converted("model", inputs)
        free = tuple([_free(v.spec, x._array) for v, x in zip(self.inputs, tensors, strict=True)])
        program = self.program if not any(free) else self._resized(free, tensors)
        block = program.global_block()
        taken, given = ([block.var(v.name) for v in group] for group in (self.inputs, self.outputs))
        return program, taken, given, tensors

    def _require_count(self, where: str, inputs: Sequence[Any]) -> None:
        if len(inputs) != len(self.inputs):
            names = ", ".join(f"{v.name} {v.spec}" for v in self.inputs)
            raise ArgumentError(
                f"{where}: got {len(inputs)} inputs: the model takes {len(self.inputs)}: {names}"
            )

    def _converted(self, where: str, inputs: Sequence[Any]) -> list[Tensor]:
        """The inputs as Tensors of the dtypes that the function takes."""
        return [
            converted_to(where, v.name, x, v.dtype, akin=True)
            for v, x in zip(self.inputs, inputs, strict=True)
        ]

    def _resized(self, free: tuple[tuple[Any, ...], ...], tensors: list[Tensor]) -> Program:
        specs = [
            Spec([-1 if n in open_ else size for n, size in enumerate(x._array.shape)], x.dtype)
            for open_, x in zip(free, tensors, strict=True)
        ]
        return resized(self.program, self.inputs, specs)

    def input_specs(self) -> list[InputSpec]:
        """The InputSpecs of the function."""
        return [_spec(v) for v in self.inputs]

    def train(self, training: bool) -> None:
        """Switch dropout and batch normalization inside the Program."""
        changed = False
        for operator in self._mode_ops:
            changed |= operator.attrs["is_test"] is training
            operator.attrs["is_test"] = not training
        if changed:
            self._forget()
        self.training = training


class TranslatedLayer(Layer):
    """The Layer that ``jit.load`` returns: it predicts, and can be trained and saved again.

    Functions that were saved with ``forward`` are methods of the same name, with the same parameters. Its
    modes switch dropout and batch normalization inside the Programs; it starts in evaluation mode, in which
    parameters get gradients only where inputs do. ``passes`` is the level of the passes that it predicts
    with: where that is ``PREDICTION``, runs take the weights as they are when a function is first called, and
    again when they have changed; by default they do so from the second call with the same weights on.
    """

    def __init__(self, programs: Mapping[str, Program], info: object, passes: int | None = None) -> None:
        super().__init__()
        described = info if isinstance(info, dict) else {}
        variables = described.get("variables", {})
        functions = {name: SavedFunction(name, program, passes) for name, program in programs.items()}
        fields = self.__dict__
        fields["functions"] = functions
        fields["info"] = described.get("info", {})
        fields["_structured_names"] = {}
        fields |= {name: function for name, function in functions.items() if name != FORWARD}
        bound = {id(v.tensor): v for program in programs.values() for v in program.bound()}
        for variable in bound.values():
            name = variables.get(variable.name, {}).get("structured_name", variable.name)
            key = str(name).replace(".", "_")
            while key in self._parameters or key in self._buffers or hasattr(type(self), key):
                key += "_"
            self._structured_names[key] = name
            if isinstance(variable.tensor, Parameter):
                self.add_parameter(key, variable.tensor)
            else:
                self.register_buffer(key, variable.tensor)
        self.eval()

    def forward(self, *inputs: Any) -> Any:
        """The saved function. Raises ShapeError, DTypeError or ArgumentError for inputs it can't take."""
        function = self.functions.get(FORWARD)
        if function is None:
            raise ArgumentError(
                f"TranslatedLayer: no forward was saved; call one of its methods: {sorted(self.functions)}"
            )
        return function(*inputs)

    def program(self, method_name: str = FORWARD) -> Program:
        """The Program that a call of the method runs."""
        if method_name not in self.functions:
            raise ArgumentError(
                f"TranslatedLayer.program: no method {method_name!r} was saved; there are "
                f"{sorted(self.functions)}"
            )
        return self.functions[method_name].program  # type: ignore[no-any-return]

    def input_specs(self) -> list[InputSpec]:
        """The InputSpecs of the model."""
        return self.functions[FORWARD].input_specs()  # type: ignore[no-any-return]

    def _input_spec(self, method_name: str = FORWARD) -> list[InputSpec]:
        """The InputSpecs of a method, as Paddle names it."""
        self.program(method_name)
        return self.functions[method_name].input_specs()  # type: ignore[no-any-return]

    def _output_spec(self, method_name: str = FORWARD) -> list[InputSpec]:
        """The InputSpecs of a method's results."""
        self.program(method_name)
        return [_spec(v) for v in self.functions[method_name].outputs]

    @property
    def training(self) -> bool:
        """Whether dropout and batch normalization of the Programs run in training mode.

        Set by ``train()`` and ``eval()`` of this Layer or of one that contains it.
        """
        return bool(self.__dict__["training"])

    @training.setter
    def training(self, training: bool) -> None:
        self.__dict__["training"] = training
        for function in self.__dict__.get("functions", {}).values():
            function.train(training)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """Parameters and buffers by the names they had in the original network."""
        return {self._structured_names.get(k, k): v for k, v in super().state_dict(*args, **kwargs).items()}

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Take values by the names of the original network; returns missing and unexpected names.

        Raises ArgumentError for a state dict of PyTorch: a loaded model has no classes of layers, which
        decide about the layouts.
        """
        if isinstance(state_dict, TorchState):
            raise ArgumentError(
                "set_state_dict: a loaded model can't take a state dict of PyTorch: the classes of its "
                "layers, which decide what is transposed, are not known; give it to the network itself and "
                "save that"
            )
        back = {v: k for k, v in self._structured_names.items()}
        found = super().set_state_dict(
            {back.get(k, k): v for k, v in state_dict.items()}, use_structured_name
        )
        missing, unexpected = found
        return [self._structured_names.get(k, k) for k in missing], [
            self._structured_names.get(k, k) for k in unexpected
        ]

    set_dict = load_dict = set_state_dict


def _kinds(arrays: list[Any]) -> tuple[Any, ...]:
    """What decides about the plan, and whether arrays fit: class, shape and dtype of each."""
    if len(arrays) == 1:
        (a,) = arrays
        return ((a.__class__, a.shape, a.dtype),)
    return tuple([(a.__class__, a.shape, a.dtype) for a in arrays])


def _free(declared: Spec, given: Any) -> tuple[Any, ...]:
    """The dimensions of an input that are not as declared, all of them where their number differs; and its
    dtype where that differs."""
    if len(declared.shape) != len(given.shape):
        found = tuple(range(max(len(given.shape), 1)))
    else:
        pairs = zip(declared.shape, given.shape, strict=True)
        found = tuple([n for n, (a, b) in enumerate(pairs) if a not in (-1, b)])
    return found if given.dtype == declared.dtype.np else (*found, given.dtype.name)


def _spec(variable: Variable) -> InputSpec:
    return InputSpec(list(variable.spec.shape), variable.dtype, variable.name)


def _stored_integers(program: Program) -> list[Variable]:
    """The weights of a quantized model that are stored as integers."""
    found = [v for v in program.bound() if v.dtype.name in STORED_AS]
    if not found:
        return []
    turned = {id(o.inputs[0]) for b in program.blocks for o in b.ops if o.opdef.name == "dequantize_linear"}
    return [v for v in found if id(v) in turned]


def _mode_ops(program: Program) -> list[Operator]:
    """The operators that differ between training and prediction.

    The scales of a quantized model are fixed: only a pair that keeps a moving average trains.
    """
    switched = [o for b in program.blocks for o in b.ops if "is_test" in o.attrs]
    return [o for o in switched if o.opdef.name not in PAIRS or o.inputs[-1] is not None]
