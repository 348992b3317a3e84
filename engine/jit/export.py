"""jit.save and jit.load: a converted function as the three inference files, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core import names
from engine.core.errors import ArgumentError, DTypeError, FormatError, ModeError, ShapeError
from engine.core.place import here
from engine.core.strictness import tolerate
from engine.eager.tensor import Parameter, Tensor
from engine.files.inference import INFO, PROGRAM, WEIGHTS, InferenceFiles
from engine.jit.api import to_static
from engine.jit.concrete_program import ConcreteProgram
from engine.jit.saved.for_prediction import count, for_prediction
from engine.jit.saved.model_files import NATIVE, named_files, read_model_files, write_model_files
from engine.jit.saved.selection import agreed, chosen_inputs, chosen_outputs, with_open_sizes, with_specs
from engine.jit.static_function import StaticFunction
from engine.jit.switch import Switch
from engine.jit.translated_layer import FORWARD, SavedFunction, TranslatedLayer
from engine.nn import Layer
from engine.program.graph.liveness import needed_values
from engine.program.graph.program import Program, Variable
from engine.program.passes.inference import inference_program
from engine.program.passes.pipeline import PREDICTION
from engine.program.passes.quantization.pack import drop_zero_points, pack_integers
from engine.program.saved.serialize import from_plain, to_plain

OPTIONS = frozenset(
    {
        "info",
        "optimize",
        "output_spec",
        "combine_params",
        "clip_extra",
        "skip_forward",
        "with_hook",
        "input_names_after_prune",
        "skip_prune_program",
        "format",
        "compress",
    }
)


def save(
    layer: Callable[..., Any], path: str, input_spec: Sequence[Any] | None = None, **configs: Any
) -> None:
    """Write ``path.pdmodel``, ``path.pdiparams`` and ``path.pdiparams.info``.

    ``format`` is one of ``engine.jit.saved.model_files.WRITERS``: ``'packed'`` writes one file ``path.h5``,
    smaller with ``compress=True``; ``'onnx'`` the file ``path.onnx``; ``'paddle'`` three files of Paddle's.

    ``layer`` is a Layer (its forward between its hooks is saved, and every other method that is a converted
    function; of a DataParallel its network) or a converted function. With ``skip_forward=True`` a forward
    that is not converted is not saved. ``input_spec`` describes the inputs of forward where the
    function has no specs. Tensors among them stand for the InputSpec of their shape. For a function with an
    ``input_spec`` of its own a part of it says which inputs stay, and so do ``input_names_after_prune``;
    ``output_spec`` are those of its results, of a call or of ``outputs``, that are saved.
    ``info`` (a dict of plain values: input scaling, class names, ...) is stored with the model.
    ``optimize=True`` makes prediction faster: batch norms become part of the convolutions before them, what
    depends on weights alone is computed, and operators are fused; the files then do not have the weights of
    the network any more, and are not meant to be trained further. The files are written atomically: a failure
    leaves existing files unchanged.

    Raises ArgumentError for a layer that can't be saved, an input_spec that does not fit, or a network in the
    mode for training that is to be optimized; SaveError if writing fails.
    """
    unknown = set(configs) - OPTIONS
    if unknown:
        raise ArgumentError(f"jit.save: unknown option {sorted(unknown)}; it takes {sorted(OPTIONS)}")
    write_layer(layer, path, input_spec, **configs)


def write_layer(
    layer: Callable[..., Any],
    path: str,
    input_spec: Sequence[Any] | None = None,
    output_spec: Sequence[Any] | None = None,
    input_names_after_prune: Sequence[str] | None = None,
    skip_forward: bool = False,
    info: object = None,
    optimize: bool = False,
    format: str = NATIVE,
    compress: bool = False,
    **_no_effect: object,
) -> str:
    """What ``save`` does, with its options by name; returns the save id, empty where nothing is written."""
    if not Switch.enabled:
        raise ModeError("jit.save: needs the conversion, which is off; call enable_to_static(True) first")
    layer = _inner(layer)
    methods = _methods(layer)
    if skip_forward and isinstance(layer, Layer) and not isinstance(layer.forward, StaticFunction):
        if not methods:
            tolerate(
                ArgumentError(
                    "jit.save: nothing is saved: skip_forward=True, and no method of "
                    f"{type(layer).__name__} is converted; decorate one with to_static"
                )
            )
            return ""
        program, names = Program(), _names(layer)
    else:
        program, names = traced(layer, input_spec, output_spec, input_names_after_prune)
    return write_model(
        path, program, methods, names, {} if info is None else info, optimize, format, compress
    )


def traced(
    layer: Callable[..., Any],
    input_spec: Sequence[Any] | None = None,
    output_spec: Sequence[Any] | None = None,
    input_names: Sequence[str] | None = None,
) -> tuple[Program, dict[int, str]]:
    """The forward of ``layer`` as a Program that shares its Tensors, and the names of those by id.

    ``input_names`` are the names of the inputs that stay. Raises as ``save``.
    """
    layer, input_spec = _inner(layer), with_specs(input_spec)
    forward = _loaded_forward(layer)
    if forward is not None and input_spec is None and output_spec is None and input_names is None:
        return inference_program(forward.program, forward.inputs, forward.outputs), _names(layer)
    concrete, names = _concrete(layer, input_spec)
    outputs = chosen_outputs(concrete, output_spec)
    inputs = chosen_inputs(concrete, input_spec, input_names, outputs)
    return inference_program(concrete.main_program, inputs, outputs), names


def write_model(
    path: str,
    program: Program,
    methods: dict[str, Program],
    names: dict[int, str],
    info: object,
    optimize: bool = False,
    format: str = NATIVE,
    compress: bool = False,
) -> str:
    """Write Programs whose parameters and buffers share storage with Tensors, in a format of ``WRITERS``.

    ``program`` is forward; ``names`` are those of the Tensors (by id) in the user's Layer. With ``optimize``
    the information says how many operators forward had before, and has now. Returns the save id. Raises
    ArgumentError for two Tensors of one name, SaveError if writing fails.
    """
    described: dict[str, Any] = {}
    if optimize:
        before = count(program)
        methods = for_prediction({FORWARD: program, **methods})
        program = methods.pop(FORWARD)
        described["operators"] = [before, count(program)]
    plain, weights, saved = described_model(program, methods, names, info)
    return write_model_files(path, plain, weights, described | saved, format, compress)


def described_model(
    program: Program, methods: dict[str, Program], names: dict[int, str], info: object
) -> tuple[Any, dict[str, np.ndarray], dict[str, Any]]:
    """Programs as files hold them: plain values, the weights by name, and what is said of both.

    Arguments as of :func:`write_model`. Raises ArgumentError for two Tensors of one name.
    """
    for each in (program, *methods.values()):
        drop_zero_points(each)
    names = dict(names)
    packed = pack_integers([program, *methods.values()])
    names |= {id(packed[old]): name for old, name in names.items() if old in packed}
    bound = _bound_together([program, *methods.values()])
    weights = {name: v.tensor.numpy() for name, v in bound.items()}
    variables = {
        v.name: {
            "shape": list(v.spec.shape),
            "dtype": v.dtype.name,
            "parameter": v.is_parameter,
            "stop_gradient": v.stop_gradient,
            "structured_name": names.get(id(v.tensor), v.name),
        }
        for v in bound.values()
    }
    block = program.global_block()
    described = {
        "inputs": [_described(block.var(n)) for n in program.inputs],
        "outputs": [_described(block.var(n)) for n in program.outputs],
        "variables": variables,
        "info": info,
    }
    plain = to_plain(program)
    if methods:
        plain["methods"] = {name: to_plain(method) for name, method in methods.items()}
    return plain, weights, described


def _methods(layer: Any) -> dict[str, Program]:
    """The Programs of a Layer's converted methods other than forward.

    Raises ArgumentError for a method without an InputSpec.
    """
    if not isinstance(layer, Layer):
        return {}
    if isinstance(layer, TranslatedLayer):
        saved = {name: f for name, f in layer.functions.items() if name != FORWARD}
        return {name: inference_program(f.program, f.inputs, f.outputs) for name, f in saved.items()}
    names = [*vars(layer), *(name for owner in type(layer).__mro__ for name in vars(owner))]
    found: dict[str, Program] = {}
    for name in dict.fromkeys(names):
        function = getattr(layer, name, None) if name != FORWARD and not name.startswith("__") else None
        if not isinstance(function, StaticFunction):
            continue
        if hasattr(TranslatedLayer, name):
            raise ArgumentError(
                f"jit.save: method {name!r} of {type(layer).__name__} hides a method of every Layer; "
                "give it another name, or remove to_static from it"
            )
        with modes.use(modes.current().with_grad(True)):
            concrete = function.concrete_program_specify_input_spec()
        outputs = [v for v in concrete.outputs if v is not None]
        found[name] = inference_program(concrete.main_program, concrete.inputs, outputs)
    return found


def _bound_together(programs: list[Program]) -> dict[str, Variable]:
    """The parameters and buffers of all Programs by name; Programs share those of the same name."""
    found: dict[str, Variable] = {}
    for program in programs:
        for variable in program.bound():
            known = found.setdefault(variable.name, variable)
            if known.tensor is not variable.tensor:
                raise ArgumentError(
                    f"jit.save: two tensors are called {variable.name!r}; give one of them another name"
                )
    return found


def _described(variable: Variable) -> dict[str, Any]:
    return {"name": variable.name, "shape": list(variable.spec.shape), "dtype": variable.dtype.name}


def _concrete(layer: Any, input_spec: Any) -> tuple[ConcreteProgram, dict[int, str]]:
    owner: Any = None
    if isinstance(layer, TranslatedLayer) and input_spec is None:
        input_spec = layer.input_specs()
    if isinstance(layer, Layer):
        owner = layer
        function = layer.forward if isinstance(layer.forward, StaticFunction) else _forward(layer)
    elif isinstance(layer, StaticFunction):
        function, owner = layer, layer.class_instance
    elif getattr(layer, "is_decorator", False):
        raise ArgumentError(
            "jit.save: got a decorator: to_static(input_spec=...) was called without the net; "
            "write to_static(net, input_spec=...)"
        )
    elif callable(layer) and not isinstance(layer, type):
        function = to_static(layer)
    else:
        raise DTypeError(
            f"jit.save: takes a Layer or a function converted by to_static: got {type(layer).__name__}; "
            "pass the network itself, e.g. jit.save(net, path, input_spec=[InputSpec(...)])"
        )
    if agreed(function, input_spec):
        input_spec = None
    hooked = _is_hooked(layer)
    with modes.use(modes.current().with_grad(True)):
        try:
            return function.concrete_program_specify_input_spec(input_spec, hooked), _names(owner)
        except ShapeError as error:
            opened = with_open_sizes(input_spec or function.signature.input_spec, error)
            if opened is None:
                raise
            concrete = function.concrete_program_specify_input_spec(opened, hooked)
            tolerate(ShapeError(f"{error.message}; the input_spec does not fit: it is saved for any size"))
            return concrete, _names(owner)


def _inner(layer: Any) -> Any:
    """The network of a DataParallel; everything else as it is."""
    inner = layer.__dict__.get("_sub_layers", {}).get("_layers") if isinstance(layer, Layer) else None
    if inner is None:
        return layer
    from engine.nn.layer.data_parallel import DataParallel  # brings engine.distributed

    return inner if isinstance(layer, DataParallel) else layer


def _loaded_forward(layer: Any) -> SavedFunction | None:
    """The forward of a loaded model, where that is all it does."""
    if not isinstance(layer, TranslatedLayer) or isinstance(layer.forward, StaticFunction):
        return None
    return None if _is_hooked(layer) else layer.functions.get(FORWARD)


def _is_hooked(layer: Any) -> bool:
    return isinstance(layer, Layer) and bool(layer._forward_pre_hooks or layer._forward_post_hooks)


def _names(owner: Any) -> dict[int, str]:
    """The names of a Layer's Tensors by id."""
    return {id(t): name for name, t in owner.state_dict().items()} if isinstance(owner, Layer) else {}


def _forward(layer: Layer) -> StaticFunction:
    """Return the forward as a StaticFunction, without changing the Layer."""
    forward = layer.forward
    return StaticFunction(forward.__func__, None, forward.__self__)  # type: ignore[attr-defined]


def load(path: str, **configs: Any) -> TranslatedLayer:
    """The model saved at ``path``, a prefix without suffix or a file, as a Layer; it can be trained further.

    It predicts with all passes from the second call with the same weights on, with ``for_prediction=True``
    from the first, see ``prediction_layer``. Where ``path`` is a folder, ``model_filename`` and
    ``params_filename`` name the two files in it. Needs no source of the model and runs nothing but operators
    of this build. Raises DataError for absent files, FormatError for damaged, foreign or mixed ones, and
    ArgumentError for an unknown option.
    """
    unknown = set(configs) - {"for_prediction", "model_filename", "params_filename"}
    if unknown:
        raise ArgumentError(f"jit.load: unknown option {sorted(unknown)}; it takes for_prediction")
    files = read_model_files(named_files("jit.load", path, configs))
    return prediction_layer(files) if configs.get("for_prediction") else layer_of(files)


def prediction_layer(files: InferenceFiles) -> TranslatedLayer:
    """The model that the files hold, to predict with: what everything uses that only predicts.

    Its runs go through all passes, those too that take the weights as they are now: batch norms are part of
    convolutions, and the products of a quantized model are products of integers. Results are those of
    ``layer_of`` within rounding. Gradients, training and saving again use the Programs as they were saved.
    Raises FormatError where what the files say is not well-formed.
    """
    return layer_of(files, PREDICTION)


def layer_of(files: InferenceFiles, passes: int | None = None) -> TranslatedLayer:
    """The model that the files hold; ``passes`` as of TranslatedLayer. Raises FormatError where what they say
    is not well-formed."""
    programs = programs_of(files)
    variables = described_variables(files)
    tensors: dict[str, Tensor] = {}
    for program in programs.values():
        _bind(program, files, variables, tensors)
    return TranslatedLayer(programs, files.info, passes)


def described_variables(files: InferenceFiles) -> dict[str, dict[str, Any]]:
    """The descriptions of parameters and buffers by name. Raises FormatError for malformed information."""
    variables = files.info.get("variables", {}) if isinstance(files.info, dict) else {}
    if not isinstance(variables, dict) or not all(isinstance(v, dict) for v in variables.values()):
        raise FormatError(
            f"{files.file_of(INFO)}: it does not describe variables: {variables!r:.80}; save the model again"
        )
    return variables


def structured_weights(files: InferenceFiles) -> dict[str, np.ndarray]:
    """The arrays of a saved model by the names that they have in its Layer."""
    described = described_variables(files)
    return {str(described.get(k, {}).get("structured_name", k)): v for k, v in files.weights.items()}


def programs_of(files: InferenceFiles) -> dict[str, Program]:
    """The Programs in the files by the name of the method. Raises FormatError for malformed ones."""
    plain = files.program
    where = files.file_of(PROGRAM)
    methods = plain.pop("methods", {}) if isinstance(plain, dict) else {}
    if not isinstance(methods, dict) or any(hasattr(TranslatedLayer, name) for name in methods):
        raise FormatError(f"{where}: its methods are {methods!r:.80}; save the model again")
    own = files.own
    forward = from_plain(plain, where, own=own)
    # A forward that was skipped is empty.
    programs = {FORWARD: forward} if forward.outputs or not methods else {}
    return programs | {
        name: from_plain(each, f"{where}, method {name}", own=own) for name, each in methods.items()
    }


def weights_of(program: Program, weights: Mapping[str, Any], where: str) -> Iterator[tuple[Variable, Any]]:
    """The persistable Variables of a Program from a file, each with its array among ``weights``.

    Raises FormatError, naming ``where``, for weights that are missing or do not fit.
    """
    block = program.global_block()
    read = needed_values(block.ops, [block.var(n) for n in program.outputs])
    for variable in block.vars.values():
        if not variable.persistable:
            continue
        array = weights.get(variable.name)
        if array is None:
            if id(variable) not in read:
                continue
            raise FormatError(
                f"{where}: no weights for {variable.name!r}, which the Program reads; save the model again"
            )
        if tuple(array.shape) != variable.shape or array.dtype != variable.dtype.np:
            raise FormatError(
                f"{where}: weights of {variable.name!r} are {array.dtype}{list(array.shape)}: "
                f"the Program says {variable.spec}; save the model again"
            )
        yield variable, array


def _bind(
    program: Program,
    files: InferenceFiles,
    described: dict[str, dict[str, Any]],
    shared: dict[str, Tensor],
) -> None:
    """Give every persistable Variable a Tensor with its weights; Variables of the same name share one."""
    bound = list(weights_of(program, files.weights, files.file_of(WEIGHTS)))
    # In this process other Tensors may have the names that they had where they were saved. Like Paddle this
    # numbers them anew, in the order of those.
    old = {variable.name for variable, _ in bound}
    new = {name: names.renamed(name, old) for name in sorted(old - shared.keys())}
    for variable, array in bound:
        if variable.name in shared:
            program.bind(variable, shared[variable.name])
            continue
        stop = bool(described.get(variable.name, {}).get("stop_gradient", variable.stop_gradient))
        data = here(np.ascontiguousarray(array) if array.ndim else array.copy())
        name = new[variable.name]
        tensor: Tensor
        if variable.is_parameter:
            tensor = Parameter(data, name=name, trainable=not stop)
        else:
            tensor = Tensor(data, name=name)
            tensor.persistable = True
        shared[variable.name] = tensor
        program.bind(variable, tensor)
