"""Paddle's ``utils``: nested structures, unique names, version and installation checks."""

from engine.core.lazy import lazy
from engine.utils import unique_name
from engine.utils.checks import deprecated, require_version, run_check, try_import
from engine.utils.nested import flatten, map_structure, pack_sequence_as

__all__ = [
    "deprecated",
    "flatten",
    "map_structure",
    "pack_sequence_as",
    "require_version",
    "run_check",
    "try_import",
    "unique_name",
]

__getattr__ = lazy(__name__, modules=("cpp_extension", "dlpack", "download", "layers_utils"))
