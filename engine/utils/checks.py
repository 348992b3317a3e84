"""Checks that scripts make at their beginning: versions, optional modules, whether the engine works."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from engine import jit
from engine.core.errors import ArgumentError, DTypeError, MissingExtraError, ModeError
from engine.core.place import get_device
from engine.core.version import VERSION
from engine.nn import Linear, ParamAttr
from engine.nn.initializer import Constant
from engine.optimizer import SGD
from engine.tensor.creation import to_tensor


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Fail unless ``paddle.__version__`` lies between the two (both included).

    Raises DTypeError and ArgumentError for a value that is not a version, and, as Paddle does, a bare
    Exception for one outside.
    """
    low = _numbers("min_version", min_version)
    high = None if max_version is None else _numbers("max_version", max_version)
    here = _numbers("VERSION", VERSION)
    if here < low or (high is not None and here > high):
        wanted = f"{min_version} or higher" if max_version is None else f"in [{min_version}, {max_version}]"
        raise Exception(f"VersionError: Paddle {wanted} is required, but this engine follows {VERSION}")


def _numbers(name: str, version: Any) -> list[int]:
    if not isinstance(version, str):
        raise DTypeError(f"require_version: {name} must be str: got {version!r}; pass e.g. '2.6.0'")
    if not re.fullmatch(r"\d+(\.\d+){0,3}", version):
        raise ArgumentError(f"require_version: {name} must be like '1.5.2.0': got {version!r}")
    numbers = [int(part) for part in version.split(".")]
    return numbers + [0] * (4 - len(numbers))


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """The module of this name.

    Raises MissingExtraError, an ImportError, with ``err_msg`` or the package that brings it.
    """
    try:
        return importlib.import_module(module_name)
    except ImportError as error:
        package = {"cv2": "opencv-python"}.get(module_name, module_name.partition(".")[0])
        raise MissingExtraError(
            err_msg or f"try_import: {module_name} can't be imported: {error}; pip install {package}"
        ) from error


def deprecated(
    update_to: str = "", since: str = "", reason: str = "", level: int = 0
) -> Callable[[Any], Any]:
    """A decorator that leaves its function as it is; Paddle 2.6 has switched its warnings off too."""
    return lambda function: function


def run_check() -> None:
    """Train one step of a small layer, eagerly and as a Program, compare, and print that the engine works.

    Raises ModeError where they differ, and whatever else goes wrong.
    """
    print("Running verify Model Studio's engine ... ")
    losses = []
    attr = ParamAttr(initializer=Constant(0.5))
    for convert in (lambda layer: layer, jit.to_static):
        layer = convert(Linear(4, 3, weight_attr=attr))
        optimizer = SGD(0.1, parameters=layer.parameters())
        x = to_tensor(np.arange(8, dtype="float32").reshape(2, 4))
        for _ in range(2):
            loss = layer(x).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        losses.append(float(loss))
    if not np.isclose(losses[0], losses[1], rtol=1e-5):
        raise ModeError(
            f"run_check: the losses differ: {losses[0]} eagerly, {losses[1]} as a Program; report it"
        )
    print(f"Model Studio's engine works well on {get_device()}.")
