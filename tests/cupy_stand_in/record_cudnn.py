"""Adds to ``cudnn_names.json`` the parts of a real ``nvidia-cudnn-frontend`` that the engine uses.

``python tests/cupy_stand_in/record_cudnn.py`` with the wheel on the path; it imports without cuDNN and
without a driver. The file contains the oldest and the newest release that ``gpu-cudnn`` allows: calls of the
engine have to exist in both.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

METHODS = (
    "__init__",
    "tensor",
    "conv_fprop",
    "conv_dgrad",
    "conv_wgrad",
    "validate",
    "build_operation_graph",
    "create_execution_plans",
    "deselect_numeric_notes",
    "check_support",
    "build_plans",
    "get_workspace_size",
    "execute",
)
TENSOR = ("set_output", "set_data_type", "set_dim", "set_stride")
FUNCTIONS = ("create_handle", "set_stream", "backend_version")
ENUMS = ("data_type", "heur_mode", "numerical_note")


def arguments(function: Any) -> list[list[str]]:
    """The names of the arguments of each form of a function: from pybind's documentation, or Python's own."""
    found = []
    for line in (function.__doc__ or "").splitlines():
        form = re.fullmatch(r"(?:\d+\. )?\w+\((.*)\) -> .*", line.strip())
        if form and not form[1].startswith("*args"):
            names = re.findall(r"(?:^|, )(\w+): ", form[1])
            found.append([name for name in names if name != "self"])
    if found:
        return found
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    return [[name for name in code.co_varnames[: code.co_argcount] if name != "self"]]


def record(cudnn: Any) -> dict[str, Any]:
    compiled = cudnn._pybind_module
    built = getattr(compiled, "pygraph", None) or compiled.backend_graph  # the class that pygraph wraps
    graph: dict[str, Any] = {}
    for name in METHODS:
        assert hasattr(cudnn.pygraph, name), name
        graph[name] = arguments(getattr(built, name, None)) or arguments(getattr(cudnn.pygraph, name))
    for name in TENSOR:
        assert hasattr(cudnn.tensor, name) or hasattr(cudnn.Tensor, name), name
    return {
        "pygraph": graph,
        "functions": {name: arguments(getattr(cudnn, name)) for name in FUNCTIONS},
        "enums": {name: sorted(getattr(cudnn, name).__members__) for name in ENUMS},
        "others": sorted(name for name in dir(cudnn) if not name.startswith("_")),
    }


if __name__ == "__main__":
    import cudnn

    path = Path(__file__).with_name("cudnn_names.json")
    releases = json.loads(path.read_text()) if path.exists() else {}
    releases[cudnn.__version__] = record(cudnn)
    path.write_text(json.dumps(releases, indent=1, sort_keys=True) + "\n")
    print(f"{path.name}: {', '.join(sorted(releases))}")
