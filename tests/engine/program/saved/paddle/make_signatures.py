"""Write the table of Paddle's operators: run it with an interpreter that has paddlepaddle 2.6.2.

    python tests/engine/program/saved/paddle/make_signatures.py

For each operator, but those of gradients: its slots of inputs (``*`` several Variables, ``?`` optional),
those of outputs, and its attributes with the number of their type, from the protos that Paddle registers.
"""

from __future__ import annotations

import json
from pathlib import Path

import paddle
from paddle.base import core
from paddle.base.proto import framework_pb2

TARGET = Path(__file__).parents[5] / "engine/program/saved/paddle/writes/signatures.json"
EVERYWHERE = {"op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr"}


def _slots(slots: object) -> str:
    return " ".join(s.name + "*" * s.duplicable + "?" * s.dispensable for s in slots)


def main() -> None:
    found = {}
    for data in core.get_all_op_protos():
        proto = framework_pb2.OpProto.FromString(data)
        if "_grad" in proto.type or proto.type.startswith("c_"):
            continue
        attributes = " ".join(f"{a.name}:{a.type}" for a in proto.attrs if a.name not in EVERYWHERE)
        found[proto.type] = [_slots(proto.inputs), _slots(proto.outputs), attributes]
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items()))
    TARGET.write_text(f'{{"version": "{paddle.__version__}", "operators": {{\n{lines}\n}}}}\n', "utf-8")


main()
