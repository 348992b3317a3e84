"""Makes ``recorded/all_attributes.pdmodel`` with the protobuf classes of paddlepaddle 2.6.2, which must be
installed.

Run as ``python tests/engine/files/paddle/make_recorded.py``.
"""

from pathlib import Path

from paddle.base.proto import framework_pb2 as proto


def main() -> None:
    program = proto.ProgramDesc()
    program.version.version = 2006002
    pair = program.op_version_map.pair.add()
    pair.op_name, pair.op_version.version = "leaky_relu", 1
    block = program.blocks.add()
    block.idx, block.parent_idx = 0, -1
    tensor = block.vars.add()
    tensor.name, tensor.persistable, tensor.stop_gradient = "w_0", True, True
    tensor.type.type = proto.VarType.LOD_TENSOR
    tensor.type.lod_tensor.tensor.data_type = proto.VarType.FP32
    tensor.type.lod_tensor.tensor.dims.extend([-1, 300])
    tensor.type.lod_tensor.lod_level = 0
    for name, kind in (("feed", "FEED_MINIBATCH"), ("scopes", "STEP_SCOPES")):
        variable = block.vars.add()
        variable.name, variable.type.type = name, getattr(proto.VarType, kind)
    array = block.vars.add()
    array.name, array.type.type = "grown", proto.VarType.LOD_TENSOR_ARRAY
    array.type.tensor_array.tensor.data_type = proto.VarType.INT64
    array.type.tensor_array.lod_level = 0
    op = block.ops.add()
    op.type = "everything"
    for slots, slot, names in (
        (op.inputs, "X", ["w_0", "é"]),
        (op.inputs, "Y", []),
        (op.outputs, "Out", ["o"]),
    ):
        var = slots.add()
        var.parameter = slot
        var.arguments.extend(names)
    values = {
        "INT": ("i", -3),
        "FLOAT": ("f", 0.001),
        "STRING": ("s", "SAME"),
        "INTS": ("ints", [1, -1]),
        "FLOATS": ("floats", [0.1, 1e-5]),
        "STRINGS": ("strings", ["a", ""]),
        "BOOLEAN": ("b", True),
        "BOOLEANS": ("bools", [True, False]),
        "BLOCK": ("block_idx", 1),
        "LONG": ("l", 1 << 40),
        "BLOCKS": ("blocks_idx", [1, 2]),
        "LONGS": ("longs", [-(1 << 40), 7]),
        "FLOAT64S": ("float64s", [0.1]),
        "VAR": ("var_name", "w_0"),
        "VARS": ("vars_name", ["w_0", "o"]),
        "FLOAT64": ("float64", 1e300),
    }
    for name, (field, value) in values.items():
        attr = op.attrs.add()
        attr.name, attr.type = name.lower(), getattr(proto, name)
        if isinstance(value, list):
            getattr(attr, field).extend(value)
        else:
            setattr(attr, field, value)
    for name in ("SCALAR", "SCALARS"):
        attr = op.attrs.add()
        attr.name, attr.type = name.lower(), getattr(proto, name)
        for kind, field, value in (
            ("BOOLEAN", "b", True),
            ("LONG", "i", 5),
            ("FLOAT64", "r", 0.5),
            ("COMPLEX128", "c", 1j),
        ):
            scalar = attr.scalars.add() if name == "SCALARS" else attr.scalar
            if name == "SCALAR" and kind != "FLOAT64":
                continue
            scalar.type = getattr(proto.Scalar, kind)
            if field == "c":
                scalar.c.r, scalar.c.i = value.real, value.imag
            else:
                setattr(scalar, field, value)
    block.forward_block_idx = -1
    path = Path(__file__).parent / "recorded" / "all_attributes.pdmodel"
    path.write_bytes(program.SerializeToString())


if __name__ == "__main__":
    main()
