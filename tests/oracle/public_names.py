"""Records which names Paddle offers, and with which parameters.

Run with an interpreter that has paddlepaddle==2.6.2:

    python tests/oracle/public_names.py

Writes docs/api_public.txt (the modules' ``__all__``, and the public methods and properties of their classes)
and recorded/public_signatures.json.
"""

import gzip  # noqa: F401 - importing it after paddle crashes paddle 2.6.2
import importlib
import inspect
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1])]

_ROOMS = """
    paddle paddle.nn paddle.nn.functional paddle.nn.initializer paddle.nn.utils paddle.nn.quant
    paddle.optimizer paddle.optimizer.lr paddle.regularizer paddle.metric paddle.io paddle.vision
    paddle.vision.transforms paddle.vision.datasets paddle.vision.models paddle.vision.ops
    paddle.static paddle.static.nn paddle.jit paddle.autograd paddle.amp paddle.amp.debugging
    paddle.linalg paddle.fft paddle.signal paddle.distribution paddle.device paddle.device.cuda
    paddle.device.xpu paddle.utils paddle.utils.cpp_extension paddle.utils.dlpack
    paddle.utils.download paddle.utils.unique_name paddle.hub paddle.callbacks paddle.sysconfig
    paddle.version paddle.text paddle.audio paddle.audio.backends paddle.audio.datasets
    paddle.audio.features paddle.audio.functional paddle.sparse paddle.sparse.nn
    paddle.sparse.nn.functional paddle.geometric paddle.profiler paddle.onnx paddle.inference
    paddle.cost_model paddle.incubate paddle.incubate.asp paddle.incubate.autograd
    paddle.incubate.autotune paddle.incubate.nn paddle.incubate.nn.functional
    paddle.incubate.optimizer paddle.incubate.optimizer.functional paddle.distributed
    paddle.distributed.communication.stream paddle.distributed.fleet paddle.distributed.fleet.utils
    paddle.distributed.passes paddle.distributed.rpc paddle.distributed.sharding paddle.quantization
    paddle.quantization.observers paddle.quantization.quanters
"""
MODULES = _ROOMS.split()


def public() -> dict[str, list[str]]:
    """The public names by module, and by class."""
    import paddle

    found: dict[str, list[str]] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        listed = getattr(module, "__all__", ())
        found[name] = sorted({n for n in listed if not n.startswith("_") and hasattr(module, n)})
    seen: set[type] = set()
    # Their methods are attached later, without an __all__ to tell which are public.
    apart = (paddle.Tensor, paddle.static.Variable)
    for module, names in list(found.items()):
        for name in names:
            value = getattr(importlib.import_module(module), name)
            if inspect.isclass(value) and value not in seen and value not in apart:
                seen.add(value)
                members = own_members(value)
                if members:
                    found[f"{module}.{name}"] = members
    found["paddle.Tensor"] = sorted(n for n in dir(paddle.Tensor) if not n.startswith("_"))
    return found


def own_members(owner: type) -> list[str]:
    """Methods and properties that a class defines itself and describes, or that C++ binds."""
    bound = type(owner).__name__ == "pybind11_type"
    made = []
    for name, value in vars(owner).items():
        inner = getattr(value, "__func__", value)
        described = bool(getattr(inner, "__doc__", None)) or bound
        if not name.startswith("_") and described and (callable(inner) or isinstance(value, property)):
            made.append(name)
    return sorted(made)


def signature_of(owner: Any, name: str) -> str | None:
    """The parameters of a function, a class or a method; None where Python does not know them."""
    from tests.oracle.scope import written_signature

    value = getattr(owner, name)
    if not callable(value):
        return None
    method = inspect.isclass(owner) and inspect.isfunction(inspect.getattr_static(owner, name))
    try:
        first = next(iter(inspect.signature(value).parameters), None)
        return written_signature(value, method or (inspect.isclass(owner) and first == "self"))
    except (TypeError, ValueError):
        return None


def owner_of(path: str) -> Any:
    """The module or the class of this name."""
    if path in MODULES:
        return importlib.import_module(path)
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def main() -> None:
    import paddle

    found = public()
    lines = [f"{owner}: {' '.join(names)}\n" for owner, names in found.items()]
    head = (
        "# Made by tests/oracle/public_names.py: the __all__ of Paddle's modules, members of their classes.\n"
    )
    (HERE.parents[1] / "docs" / "api_public.txt").write_text(head + "".join(lines), encoding="utf-8")
    signatures = {}
    for owner, names in found.items():
        for name in names:
            text = signature_of(owner_of(owner), name)
            if text is not None:
                signatures[f"{owner}.{name}"] = text
    body = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in signatures.items())
    path = HERE / "recorded" / "public_signatures.json"
    path.write_text(
        f'{{\n "paddle": "{paddle.__version__}",\n "signatures": {{\n{body}\n }}\n}}\n', encoding="utf-8"
    )
    print(f"{sum(map(len, found.values()))} names, {len(signatures)} signatures")


if __name__ == "__main__":
    main()
