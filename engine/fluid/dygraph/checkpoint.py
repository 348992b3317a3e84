"""``save_persistables``, ``load_persistables``, ``save_dygraph`` and ``load_dygraph`` of fluid.

Parameters and learning-rate decays are written to one container of plain values, never to a pickle.
"""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.core.errors import AbsentError, ArgumentError, FormatError
from engine.eager.tensor import Parameter, Tensor
from engine.files.paddle.lod_tensor import read_lod_tensor
from engine.files.state import read_state, write_state
from engine.fluid.dygraph import decay_state
from engine.fluid.values.variable import as_variable
from engine.framework.state_files import from_tree, load, save, to_tree

FILE = "persistables.h5"
_PICKLED = "optimizers"  # the folder of pickled decays in what Paddle 1.5 wrote
_FORM = "fluid persistables"
_NONE_LOADED = (
    "No optimizer loaded. If you didn't save optimizer, please ignore this. "
    "The program can still work with new optimizer. "
)
_NOT_SAVED = (
    "Optimizer not saved, Only optimizer with 'LearningRateDecay' under DyGraph mode need to be saved"
)


def save_persistables(model_dict: Any, dirname: str = "save_dir", optimizers: Any = None) -> None:
    """Write the parameters in ``model_dict`` and the learning-rate decays of ``optimizers`` to ``dirname``.

    They go into one file, ``persistables.h5``. An optimizer whose learning rate is a number has nothing to be
    saved, which a warning says.

    Differs from Paddle: one container of plain values instead of a file for each parameter and a pickle for
    each decay; a plain dict is saved as well, not only an OrderedDict. Raises ArgumentError for values that
    are not tensors, SaveError if writing fails (what was there stays).
    """
    if not isinstance(model_dict, Mapping):
        raise ArgumentError(
            f"save_persistables: model_dict must be a dict of parameters: got {type(model_dict).__name__}; "
            "pass model.state_dict()"
        )
    tree = {
        "form": _FORM,
        "parameters": {name: to_tree(value) for name, value in model_dict.items()},
        "decays": _decays(optimizers),
    }
    write_state(Path(dirname) / FILE, tree)


def _decays(optimizers: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if optimizers is None:
        return found
    for optimizer in optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]:
        rate = optimizer._learning_rate
        if decay_state.is_decay(rate):
            found[optimizer._name] = decay_state.described(rate)
        else:
            warnings.warn(_NOT_SAVED, stacklevel=3)
    return found


def load_persistables(dirname: str = "save_dir") -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters by name, and the learning-rate decays by the names of their optimizers.

    Reads what ``save_persistables`` wrote, and a folder that Paddle wrote, with a file for each parameter;
    the pickles of decays in that are skipped, which a warning says. Raises AbsentError where there is
    neither, FormatError for a damaged or foreign file.
    """
    folder = Path(dirname)
    parameters, decays = _ours(folder / FILE) if (folder / FILE).exists() else (_paddles(folder), {})
    if not decays:
        print(_NONE_LOADED)
    return parameters, decays


def _ours(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    tree = read_state(path)
    if not isinstance(tree, dict) or tree.get("form") != _FORM:
        raise FormatError(f"{path}: not written by save_persistables; choose the folder that it wrote")
    found = from_tree(tree.get("parameters"), False, str(path))
    decays = tree.get("decays")
    if not isinstance(found, dict) or not isinstance(decays, dict):
        raise FormatError(f"{path}: it holds no parameters by name; save it again")
    made = {name: decay_state.made(name, state, str(path)) for name, state in decays.items()}
    return (
        {name: as_variable(value) for name, value in found.items()},
        {name: decay for name, decay in made.items() if decay is not None},
    )


def _paddles(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise AbsentError(
            f"load_persistables: {folder}: there is no such folder; check the name, or save it first"
        )
    if (folder / _PICKLED).is_dir():
        warnings.warn(
            f"load_persistables: {folder / _PICKLED}: learning-rate decays in pickles are not loaded, since "
            "a pickle runs code; make a new decay and set its step_num",
            stacklevel=3,
        )
    return {name: as_variable(Tensor(read_lod_tensor(path), name=name)) for name, path in _files(folder)}


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The parameters' files in ``folder`` and the folders below it, with their names."""
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(
            n for n in inner if not n.startswith(".") and (Path(place) / n) != folder / _PICKLED
        )
        for name in sorted(names):
            if not name.startswith("."):
                path = Path(place) / name
                yield path.relative_to(folder).as_posix(), path


def save_dygraph(state_dict: Any, model_path: str) -> None:
    """Write a state: of a Layer to ``model_path`` + ".pdparams", of an optimizer to + ".pdopt".

    Raises ArgumentError for a path without a file name or an empty state, SaveError if writing fails.
    """
    path = os.fspath(model_path)
    if not os.path.basename(path):
        raise ArgumentError(f"save_dygraph: {path!r} ends without a file name; add one, as in 'folder/model'")
    if not isinstance(state_dict, Mapping) or not state_dict:
        raise ArgumentError(
            "save_dygraph: there is nothing to save; pass the state_dict() of a Layer or optimizer"
        )
    values = state_dict.values()
    suffix = "pdparams" if any(isinstance(v, Parameter) for v in values) else "pdopt"
    save(dict(state_dict), f"{path}.{suffix}")


def load_dygraph(
    model_path: str, keep_name_table: bool = False, **options: Any
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The states of the Layer and of the optimizer that ``save_dygraph`` wrote; None for the one not there.

    A folder that ``save_persistables`` or Paddle's ``save_params`` wrote gives its parameters.
    ``keep_name_table`` and other ``options`` of later versions are those of ``paddle.load``. Raises
    AbsentError where nothing is there, FormatError for a damaged or foreign file.
    """
    prefix = os.fspath(model_path)
    for suffix in (".pdparams", ".pdopt"):
        prefix = prefix.removesuffix(suffix)
    if os.path.isdir(prefix) and not os.path.exists(f"{prefix}.pdparams"):
        parameters, decays = load_persistables(prefix)
        return OrderedDict(parameters), decays or None
    if keep_name_table:
        options["keep_name_table"] = True
    states = [
        load(f"{prefix}.{suffix}", **options) if os.path.exists(f"{prefix}.{suffix}") else None
        for suffix in ("pdparams", "pdopt")
    ]
    if states == [None, None]:
        raise AbsentError(
            f"load_dygraph: {prefix}.pdparams and {prefix}.pdopt: neither exists; check the "
            "name, or save it first"
        )
    return states[0], states[1]
