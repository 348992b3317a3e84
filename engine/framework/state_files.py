"""``save`` and ``load`` of state dicts and nested structures of tensors, as HDF5 or in other forms."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, FormatError, UnsupportedError
from engine.core.place import here
from engine.eager.tensor import Parameter, Tensor
from engine.files.inference import INFO, PROGRAM, WEIGHTS
from engine.files.native.in_memory import container_bytes, read_container_bytes
from engine.files.native.userblock import stated_length
from engine.files.state import KIND, VERSION, read_saved, write_state
from engine.files.weights.reading import foreign_form
from engine.framework.foreign_files import NATIVE, format_of, load_foreign, load_pickle, save_foreign
from engine.jit.export import structured_weights
from engine.jit.saved.model_files import is_model_file, read_model_files
from engine.program.graph.program import Program
from engine.program.saved.serialize import from_plain, to_plain

_TENSOR, _PARAMETER, _PROGRAM = "__tensor__", "__parameter__", "__program__"


def save(obj: object, path: str | io.BytesIO, protocol: int = 4, **configs: Any) -> None:
    """Write ``obj``: state dicts, nested dicts, lists and tuples of tensors, arrays and values, or a Program.

    A BytesIO as ``path`` takes the bytes of the file at its position.

    ``format`` among ``configs`` is the form: ``native`` (HDF5; ``protocol`` has no meaning there),
    ``paddle`` (a pickle of that protocol, 2 to 4, which Paddle loads), ``safetensors`` or ``npz`` (state
    dicts). Without it, a path that ends with ``.safetensors`` or ``.npz`` has that form, any other is native.

    Raises ArgumentError for an object that can't be saved so, SaveError if writing fails (what was there
    stays).
    """
    _require_options(obj, path, protocol, configs)
    if isinstance(path, (str, os.PathLike, io.BytesIO)):
        chosen = format_of(path, configs.get("format"))
        if chosen != NATIVE:
            save_foreign(obj, path, chosen, protocol)
            return
    if isinstance(path, io.BytesIO):
        path.write(container_bytes(KIND, VERSION, to_tree(obj)))
        return
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(
            f"save: path must be a file name or a BytesIO: got {type(path).__name__}; give the file's name"
        )
    write_state(path, to_tree(obj))


def _require_options(obj: Any, path: Any, protocol: Any, configs: dict[str, Any]) -> None:
    """Raise for what Paddle's ``save`` refuses: a wrong protocol, option or name."""
    unknown = set(configs) - {"use_binary_format", "pickle_protocol", "format"}
    if unknown:
        raise ArgumentError(f"save: unknown option {sorted(unknown)}; it takes use_binary_format and format")
    binary = configs.get("use_binary_format", False)
    if not isinstance(binary, bool):
        raise DTypeError(f"save: use_binary_format is True or False: got {binary!r}")
    if binary and not isinstance(obj, Tensor):
        raise UnsupportedError(f"save: use_binary_format=True takes one Tensor: got {type(obj).__name__}")
    protocol = configs.get("pickle_protocol", protocol)
    if not isinstance(protocol, int) or not 2 <= protocol <= 4:
        raise ArgumentError(f"save: protocol is an integer from 2 to 4: got {protocol!r}")
    if isinstance(path, (str, os.PathLike)) and not os.path.basename(os.fspath(path)):
        raise ArgumentError(
            f"save: the path has no file name: {os.fspath(path)!r}; give a folder and a name, such as "
            "models/lenet.pdparams"
        )


def load(path: str | io.BytesIO, **configs: Any) -> Any:
    """What ``save`` wrote; tensors come back as Tensors (as NumPy arrays with ``return_numpy=True``).

    A BytesIO is read from its position to the end of what one ``save`` wrote there.

    They keep their names and have ``stop_gradient=True``, parameters too. An array saved by itself comes back
    as a Tensor, one in a dict or list as an array.

    Files of other programs are recognized by their content: what Paddle's ``save`` pickled, checkpoints of
    PyTorch (``.pth``, ``.pt``), ``.safetensors`` and ``.npz``. No code of them is run. State dicts of PyTorch
    keep PyTorch's names and layouts; a layer's ``set_state_dict`` translates them. ``layout`` ("paddle" or
    "torch") says whose names and axes a file has that does not state it: without it, safetensors are taken
    for PyTorch's and NPZ for Paddle's, unless their names show otherwise.

    A ``.pdmodel`` gives its Program. The prefix of a saved model gives the arrays of its parameters and
    buffers by the names that they have in the Layer; its ``.pdiparams`` gives Tensors by their own names.

    Raises AbsentError for an absent file, FormatError for a damaged or foreign one.
    """
    unknown = set(configs) - {"return_numpy", "keep_name_table", "layout"}
    if unknown:
        raise ArgumentError(
            f"load: unknown option {sorted(unknown)}; it takes return_numpy, keep_name_table and layout; the "
            "files of a model are named by their prefix"
        )
    return_numpy = bool(configs.get("return_numpy", False))
    keep_name_table, layout = bool(configs.get("keep_name_table", False)), configs.get("layout")
    suffix: str | None = None
    if isinstance(path, io.BytesIO) and _begins_pickle(path):
        return load_pickle(path, return_numpy, keep_name_table)
    if isinstance(path, io.BytesIO):
        container = read_container_bytes(_next_file(path), KIND, VERSION, "BytesIO")
        tree, own = container.tree, container.own
    elif _is_model(path):
        return _model_state(path)
    elif foreign_form(path):
        return load_foreign(path, return_numpy, keep_name_table, layout)
    else:
        suffix, tree, own = read_saved(path)
    if suffix == PROGRAM:
        return from_plain(tree["program"], str(path), own=own)
    if suffix == WEIGHTS:
        weights = tree["weights"]
        return weights if return_numpy else {k: Tensor(here(v), name=k) for k, v in weights.items()}
    found = from_tree(tree, return_numpy, "BytesIO" if isinstance(path, io.BytesIO) else str(path), own)
    return Tensor(here(found)) if isinstance(found, np.ndarray) and not return_numpy else found


def _begins_pickle(stored: io.BytesIO) -> bool:
    start = stored.tell()
    return stored.getbuffer()[start : start + 1].tobytes() == b"\x80"


def _next_file(stored: io.BytesIO) -> bytes:
    """The bytes of the file at the position of ``stored``, which is moved behind it."""
    start = stored.tell()
    rest = stored.read()
    first = rest[: stated_length(rest)]
    stored.seek(start + len(first))
    return first


def _is_model(path: Any) -> bool:
    """Whether it is a file that holds a whole model, or no file, but the files of a model begin with its
    name."""
    text = os.fspath(path)
    if os.path.isfile(text):
        return is_model_file(text)
    if os.path.basename(text) in ("", ".", ".."):
        return False
    return any(os.path.exists(f"{text}.{suffix}") for suffix in (INFO, WEIGHTS))


def _model_state(prefix: Any) -> dict[str, Any]:
    return structured_weights(read_model_files(prefix))


def to_tree(obj: object) -> Any:
    """``obj`` as the plain values that a state file holds. Raises ArgumentError for what can't be saved."""
    return _plain(obj, "obj")


def from_tree(tree: object, return_numpy: bool, path: str, own: bool = False) -> Any:
    """What ``to_tree`` made plain; ``own`` says that this installation wrote the file.

    Raises FormatError, naming ``path``, for a malformed tensor or Program.
    """
    return _restored(tree, return_numpy, path, own)


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, Tensor):
        kind = _PARAMETER if isinstance(value, Parameter) else _TENSOR
        return {kind: value.name, "value": value.numpy(), "stop_gradient": value.stop_gradient}
    if isinstance(value, Program):
        return {_PROGRAM: to_plain(value)}
    if isinstance(value, dict):
        return {k: _plain(v, f"{where}[{k!r}]") for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(v, f"{where}[{n}]") for n, v in enumerate(value))
    if value is None or isinstance(value, (bool, int, float, str, bytes, np.ndarray, np.generic)):
        return value
    raise ArgumentError(
        f"save: {where} is {type(value).__name__}; only tensors, arrays, numbers, strings and dicts, "
        "lists and tuples of them can be saved: pass a state_dict()"
    )


def _restored(value: Any, return_numpy: bool, path: str, own: bool) -> Any:
    if isinstance(value, dict):
        if _TENSOR in value or _PARAMETER in value:
            return _tensor(value, return_numpy, path)
        if _PROGRAM in value:
            return from_plain(value[_PROGRAM], path, training=True, own=own)
        return {k: _restored(v, return_numpy, path, own) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_restored(v, return_numpy, path, own) for v in value)
    return value


def _tensor(value: dict[str, Any], return_numpy: bool, path: str) -> Any:
    array = value.get("value")
    if not isinstance(array, np.ndarray):
        raise FormatError(
            f"{path}: a tensor's entry holds {type(array).__name__} instead of an array; save it again"
        )
    if return_numpy:
        return array
    return Tensor(here(array), name=str(value[_PARAMETER] if _PARAMETER in value else value[_TENSOR]))
