"""``decorate``: models and optimizers for training in a low dtype at level O2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from engine.amp.casting import require_dynamic
from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.core.precision import works_here
from engine.core.values.dtype import as_dtype
from engine.eager.backward import register_hook
from engine.eager.tensor import Tensor
from engine.nn import (
    BatchNorm,
    BatchNorm1D,
    BatchNorm2D,
    BatchNorm3D,
    InstanceNorm1D,
    InstanceNorm2D,
    InstanceNorm3D,
    Layer,
    LayerNorm,
    SyncBatchNorm,
)
from engine.nn.layer.base.transform import transform
from engine.nn.layer.data_parallel import DataParallel
from engine.ops.elementwise import arithmetic
from engine.optimizer import Optimizer

_SAVED = ("float16", "bfloat16", "float32", "float64")
_BATCH_NORMS = (BatchNorm, BatchNorm1D, BatchNorm2D, BatchNorm3D, SyncBatchNorm)
_OTHER_NORMS = (LayerNorm, InstanceNorm1D, InstanceNorm2D, InstanceNorm3D)

# Layers with all below them, or classes of layers.
ExcludedLayers: TypeAlias = Layer | type[Layer] | Sequence[Layer | type[Layer]] | None


def amp_decorate(
    models: Layer | Sequence[Layer],
    optimizers: Optimizer | Sequence[Optimizer] | None = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: ExcludedLayers = None,
) -> Any:
    """Make models (a Layer or a list) and their optimizers ready for ``auto_cast``; returns them.

    Level ``O1`` changes nothing, and on the CPU ``O2`` changes nothing either, as in Paddle. Else ``O2``
    casts the floating parameters and buffers to ``dtype``, in place: batch norms keep float32, for float16
    layer and instance norms do too, and so do ``excluded_layers`` (Layers with all below them, or classes).

    Optimizers that can keep float32 copies of the parameters do so unless ``master_weight`` is False. With
    ``master_grad`` gradients become float32 when backward has computed them. ``save_dtype`` is the dtype of
    floating tensors in ``state_dict()``.

    Raises ArgumentError for another level or dtype, DTypeError or ModeError for other kinds of models or
    optimizers.
    """
    require_dynamic("decorate")
    if level not in ("O1", "O2"):
        raise ArgumentError(
            "decorate: level should be O1 or O2, O1 represent AMP train mode, O2 represent Pure fp16 train "
            f"mode.: got {level!r}"
        )
    if dtype not in ("float16", "bfloat16"):
        raise ArgumentError(f"decorate: dtype only support float16 or bfloat16.: got {dtype!r}")
    if level == "O2" and works_here():
        layers = _listed("models", models, Layer)
        _cast(layers, dtype, excluded_layers)
        if optimizers is not None:
            for optimizer in _listed("optimizers", optimizers, Optimizer):
                if hasattr(type(optimizer), "_multi_precision"):
                    optimizer._multi_precision = master_weight is not False
            if master_grad:
                _keep_float32_gradients(layers)
        if save_dtype is not None:
            _save_as(layers, save_dtype)
    return models if optimizers is None else (models, optimizers)


def decorate(
    models: Layer | Sequence[Layer],
    optimizers: Optimizer | Sequence[Optimizer] | None = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: ExcludedLayers = None,
) -> Any:
    """``amp_decorate`` under its newer name: models and optimizers ready for training at level O2."""
    return amp_decorate(
        models, optimizers, level, dtype, master_weight, save_dtype, master_grad, excluded_layers
    )


def _listed(name: str, values: Any, kind: type) -> list[Any]:
    if isinstance(values, kind):
        values = [values]
    if not isinstance(values, list):
        raise DTypeError(
            f"decorate: {name} must be either a single {kind.__name__} or a list of them: got "
            f"{type(values).__name__}"
        )
    for each in values:
        if not isinstance(each, kind):
            raise ModeError(f"decorate: {name} should be paddle {kind.__name__}s: got {type(each).__name__}")
        if isinstance(each, DataParallel):
            raise ModeError("decorate: got a DataParallel; decorate() the model first, then make it parallel")
    return values


def _cast(models: list[Layer], dtype: str, excluded: Any) -> None:
    chosen = [] if excluded is None else excluded if isinstance(excluded, list) else [excluded]
    kinds = tuple(each for each in chosen if isinstance(each, type) and issubclass(each, Layer))
    instances = [each for each in chosen if isinstance(each, Layer)]
    if len(kinds) + len(instances) != len(chosen):
        raise DTypeError(
            "decorate: excluded_layers must be either a nn.Layer instance/type or a list of nn.Layer "
            f"instances/types.: got {excluded!r}"
        )
    excluded_ids = {id(below) for layer in instances for below in layer.sublayers(include_self=True)}
    for model in models:
        for layer in model.sublayers(include_self=True):
            if (
                id(layer) in excluded_ids
                or isinstance(layer, (*kinds, *_BATCH_NORMS))
                or layer._dtype == "float16"
            ):
                continue
            if dtype == "float16" and isinstance(layer, _OTHER_NORMS):
                continue
            transform(layer, dtype, sublayers=False, floating_only=True)


def _keep_float32_gradients(models: list[Layer]) -> None:
    for model in models:
        for parameter in model.parameters():
            if not parameter.stop_gradient and parameter.dtype.itemsize < 4:
                register_hook(parameter, _in_float32)


def _in_float32(gradient: Tensor) -> Tensor:
    made: Tensor = arithmetic.cast(gradient, out_dtype="float32")
    return made


def _save_as(models: list[Layer], dtype: str) -> None:
    if dtype not in _SAVED:
        raise ArgumentError(f"decorate: save_dtype is one of {_SAVED}: got {dtype!r}")
    for model in models:
        for layer in model.sublayers(include_self=True):
            layer.register_state_dict_hook(_converter(as_dtype(dtype).name))


def _converter(dtype: str) -> Callable[[dict[str, Any]], None]:
    def convert(state: dict[str, Any]) -> None:
        for key, value in state.items():
            if value.dtype.is_floating_point and value.dtype != dtype:
                made = arithmetic.cast(value, out_dtype=dtype)
                made.name = value.name
                state[key] = made

    return convert
