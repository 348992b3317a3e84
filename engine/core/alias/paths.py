"""Inner paths of Paddle that scripts import from: their names are those of the public modules around them.

``from paddle.nn.layer.common import Linear`` and ``paddle.tensor.stat.std`` work wherever the engine defines
Linear and std. Names are looked up in a module of the engine first, then in the public modules.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

# A package: the public modules that names under it are looked up in. "" is the top.
AROUND: dict[str, tuple[str, ...]] = {
    "nn.layer": ("nn",),
    "nn.functional": ("nn.functional",),
    "nn.initializer": ("nn.initializer",),
    "nn.utils": ("nn.utils",),
    "nn.loss": ("nn",),
    "nn.clip": ("nn",),
    "nn.decode": ("nn",),
    "tensor": ("tensor", "", "nn.functional"),
    "base": ("base", "framework", "static", "", "nn.initializer"),
    "framework": ("framework", "base", ""),
    "compat": ("fluid.compat",),  # of 1.x
    "common_ops_import": ("base", "framework", "static", "", "nn.initializer"),
    "optimizer": ("optimizer",),
    "optimizer.lr": ("optimizer.lr",),
    "utils": ("utils",),
    "static": ("static",),
    "static.nn": ("static.nn", "static"),
    "io": ("io",),
    "autograd": ("autograd",),
    "metric": ("metric",),
    "hapi": ("", "hapi"),  # hapi.summary is a file here
    "vision.transforms": ("vision.transforms",),
    "vision.datasets": ("vision.datasets",),
    "vision.models": ("vision.models",),
}
# Packages whose own names are looked up there too, not only those of the modules in them.
INNER = frozenset(("nn.layer", "nn.clip", "nn.decode", "base", "framework"))
# Modules of Paddle that the engine has no file for.
PATHS = frozenset(
    f"{package}.{name}" if name else package
    for package, names in {
        "nn.loss": "",
        "common_ops_import": "",
        "compat": "",
        "nn.functional": "flash_attention sparse_attention",
        "nn.initializer": "constant kaiming normal uniform xavier assign dirac orthogonal initializer",
        "nn.utils": "weight_norm_hook spectral_norm_hook transform_parameters",
        "tensor": "stat attribute einsum ops to_string",
        "base": "executor param_attr unique_name initializer backward compiler io reader",
        "framework": "io io_utils",
        "optimizer": "adamw",
        "utils": "install_check lazy_import",
        "static": "input",
        "static.nn": "metric static_pylayer",
        "io": "dataloader",
        "io.dataloader": "dataset batch_sampler sampler collate worker dataloader_iter",
        "autograd": "py_layer backward_mode autograd",
        "hapi": "model_summary",
    }.items()
    for name in (names.split() or [""])
)


class Path(ModuleType):
    """A module of Paddle without a file here; called, it is the function of its name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)


def make(path: str, full_name: str) -> Path:
    """The module ``path`` ("tensor.stat") under the name ``paddle.tensor.stat``."""
    made = Path(full_name, f"Names of {', '.join('paddle.' + p if p else 'paddle' for p in _places(path))}.")
    if any(other.startswith(path + ".") for other in PATHS):
        made.__path__ = []
    parent, _, own = full_name.rpartition(".")
    function = vars(sys.modules[parent]).get(own)
    if isinstance(function, Path):  # this module, made before and forgotten by sys.modules
        function = vars(function).get(own)
    if callable(function):  # importlib puts the module in its place
        setattr(made, own, function)
    serve(made, path)
    return made


def serve_all(real: str) -> None:
    """Let the modules of the package ``real`` that are imported find names in the public modules around."""
    for name, module in list(sys.modules.items()):
        if name.startswith(real + "."):
            serve(module, name[len(real) + 1 :])


def serve(module: ModuleType, path: str) -> None:
    """Let ``module`` find the names that it lacks: paths below it, and names of public modules around it."""
    places = [p for p in _places(path) if p != path]
    below = frozenset(other.rpartition(".")[2] for other in PATHS if other.rpartition(".")[0] == path)
    before = vars(module).get("__getattr__")
    if getattr(before, "serves", False) or not (places or below):
        return
    module.__getattr__ = _lookup(module, path, places, below, before)  # type: ignore[method-assign]


def _places(path: str) -> tuple[str, ...]:
    """The modules in which names of a module are looked up: by the longest package that contains it."""
    package = path if path in INNER or (path in PATHS and path in AROUND) else path.rpartition(".")[0]
    while package and package not in AROUND:
        package = package.rpartition(".")[0]
    return AROUND.get(package, ())


def _lookup(
    module: ModuleType,
    path: str,
    places: Sequence[str],
    below: Collection[str],
    before: Callable[[str], Any] | None,
) -> Callable[[str], Any]:
    def __getattr__(name: str) -> Any:
        error = AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)
        if before is not None:
            try:
                return before(name)
            except AttributeError as refused:
                error = refused
        if name in below and "paddle" in sys.modules:
            return importlib.import_module(f"paddle.{path}.{name}")
        if not name.startswith("_"):
            for found in _found(places, name):
                return found
        try:
            raise error
        finally:
            del error  # it refers to this frame: a cycle would hold the caller's objects until a collection

    __getattr__.serves, __getattr__.before = True, before  # type: ignore[attr-defined]
    return __getattr__


def _found(places: Sequence[str], name: str) -> Iterator[Any]:
    for place in places:
        owner = importlib.import_module(f"engine.{place}" if place else "engine")
        found = vars(owner).get(name)
        lazy = vars(owner).get("__getattr__")
        # Without the search around: two packages may look into each other.
        lazy = getattr(lazy, "before", lazy)
        if found is None and lazy is not None:
            with suppress(AttributeError):
                found = lazy(name)
        if found is not None and not isinstance(found, Path):
            yield found
