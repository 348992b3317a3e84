"""Models that paddlepaddle 2.6.2 saved, read here: outputs, weights, gradients; see make_recorded.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import AbsentError, FormatError
from engine.core.program_desc import Attr, AttrType, ProgramDesc, weight_names
from engine.files.paddle.lod_tensor import lod_tensor_parts, parse_lod_tensors
from engine.files.paddle.program_desc import parse_program, program_bytes
from engine.files.untrusted import guarded
from engine.jit.saved.model_files import kind_of, read_model_files

RECORDED = Path(__file__).parent / "recorded"
NAMES = sorted(path.stem for path in RECORDED.glob("*.npz"))


@pytest.fixture(autouse=True)
def _in_this_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read without the process that reads a third-party file first, but where that is tested."""
    if "child" not in request.node.name:
        monkeypatch.setattr(guarded, "_is_child", True)


def values(name: str) -> dict[str, Any]:
    with np.load(RECORDED / f"{name}.npz") as found:
        return {key: found[key] for key in found}


def arrays(found: dict[str, Any], letter: str) -> list[Any]:
    return [found[f"{letter}{n}"] for n in range(len(found)) if f"{letter}{n}" in found]


def require_close(found: Any, wanted: Any) -> None:
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    largest = float(np.abs(wanted.astype("f8")).max(initial=0)) or 1
    np.testing.assert_allclose(found.astype("f8"), wanted.astype("f8"), rtol=0, atol=1e-5 * largest)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_gives_the_outputs_that_paddle_gave(name: str) -> None:
    recorded = values(name)
    assert kind_of(RECORDED / name) == "paddle"
    net = paddle.jit.load(str(RECORDED / name))
    found = paddle.utils.flatten(net(*[paddle.to_tensor(a) for a in arrays(recorded, "i")]))
    wanted = arrays(recorded, "o")
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        require_close(one.numpy(), other)


@pytest.mark.parametrize("name", ["lenet", "lstm"])
def test_a_model_is_trained_further_with_the_gradients_of_paddle(name: str) -> None:
    recorded = values(name)
    with paddle.utils.unique_name.guard():  # the parameters then have the names in the file
        net = paddle.jit.load(str(RECORDED / name))
    net.train()
    found = paddle.utils.flatten(net(*[paddle.to_tensor(a) for a in arrays(recorded, "i")]))
    for one, other in zip(found, arrays(recorded, "o"), strict=True):
        require_close(one.numpy(), other)
    sum(paddle.mean(x * x) for x in found).backward()
    parameters = {p.name: p for p in net.parameters()}
    assert parameters.keys() == {key[2:] for key in recorded if key.startswith("g:")}
    for key, parameter in parameters.items():
        require_close(parameter.grad.numpy(), recorded[f"g:{key}"])


def test_the_weights_are_those_of_the_file_bit_for_bit() -> None:
    files = read_model_files(RECORDED / "resnet")
    data = (RECORDED / "resnet.pdiparams").read_bytes()
    for name, array in zip(sorted(files.weights), parse_lod_tensors(data, None, "x"), strict=True):
        assert files.weights[name].tobytes() == array.tobytes()
    with paddle.utils.unique_name.guard():
        net = paddle.jit.load(str(RECORDED / "resnet"))
    state = net.state_dict()
    assert {v.name: v.numpy().tobytes() for v in state.values()} == {
        name: array.tobytes() for name, array in files.weights.items()
    }


def test_a_static_program_is_loaded_by_load_inference_model() -> None:
    recorded = values("static")
    paddle.enable_static()
    try:
        executor = paddle.static.Executor()
        program, feeds, fetches = paddle.static.load_inference_model(str(RECORDED / "static"), executor)
        assert feeds == ["x", "second"]  # by the columns of the feed operators, which stand in reverse
        found = executor.run(program, dict(zip(feeds, arrays(recorded, "i"), strict=True)), fetches)
    finally:
        paddle.disable_static()
    for one, other in zip(found, arrays(recorded, "o"), strict=True):
        require_close(one, other)


def program(name: str) -> ProgramDesc:
    return parse_program((RECORDED / f"{name}.pdmodel").read_bytes(), name)


def refused(folder: Path, changed: ProgramDesc, weights: str = "branches") -> str:
    """The message that a changed Program is refused with."""
    (folder / "m.pdmodel").write_bytes(program_bytes(changed))
    (folder / "m.pdiparams").write_bytes((RECORDED / f"{weights}.pdiparams").read_bytes())
    with pytest.raises(FormatError) as caught:
        paddle.jit.load(str(folder / "m"))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(folder / "m.pdmodel"))
    return str(caught.value)


def test_all_unknown_operators_are_named_at_once(tmp_path: Path) -> None:
    changed = program("branches")
    changed.blocks[0].ops[3].type, changed.blocks[1].ops[0].type = "first_strange", "second_strange"
    assert "here: 'first_strange', 'second_strange'" in refused(tmp_path, changed)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda o: o.inputs.update(Y=["never"]), "reads 'never', which nothing before it computes"),
        (
            lambda o: o.attrs.update(alpha=Attr(AttrType.FLOAT, 2.0)),
            "attribute 'alpha' = 2.0 is not supported",
        ),
        (lambda o: o.inputs.update(Z=["x"]), "its input Z is not supported"),
        (lambda o: o.inputs.update(X=[]), "its input X is missing"),
        (lambda o: o.inputs.update(X=["x", "x"]), "slot X has 2 variables where it takes one"),
        (lambda o: o.outputs.update(Out=["linear_10.w_0"]), "writes the weight 'linear_10.w_0'"),
    ],
)
def test_an_unfit_file_is_refused_with_the_operator(change: Any, reason: str, tmp_path: Path) -> None:
    changed = program("branches")
    change(changed.blocks[0].ops[1])
    text = refused(tmp_path, changed)
    assert reason in text
    assert "block 0, operator 0 (matmul_v2)" in text


def test_blocks_that_do_not_belong_to_their_operator_are_refused(tmp_path: Path) -> None:
    for value, reason in ((0, "sub_block is 0"), (9, "sub_block is 9"), (2, "that of another operator, too")):
        changed = program("branches")
        found = [o for o in changed.blocks[0].ops if o.type == "conditional_block"]
        found[0].attrs["sub_block"] = Attr(AttrType.BLOCK, 2)
        found[1].attrs["sub_block"] = Attr(AttrType.BLOCK, value)
        assert reason in refused(tmp_path, changed)


def test_damage_is_found_in_a_child_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for suffix in ("pdmodel", "pdiparams"):
        (tmp_path / f"m.{suffix}").write_bytes((RECORDED / f"branches.{suffix}").read_bytes())
    (tmp_path / "m.pdiparams").write_bytes(b"\0" * 100)
    monkeypatch.setattr("engine.files.paddle.model.parse_lod_tensors", None)  # not reached here
    with pytest.raises(FormatError, match=r"m\.pdiparams: .*tensor version 0 and a description of 0 bytes"):
        paddle.jit.load(str(tmp_path / "m"))


def test_weights_that_are_missing_or_too_many_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.pdmodel").write_bytes((RECORDED / "branches.pdmodel").read_bytes())
    with pytest.raises(AbsentError, match=r"m\.pdiparams: there is no such file"):
        paddle.jit.load(str(tmp_path / "m"))
    weights = (RECORDED / "branches.pdiparams").read_bytes()
    for data, reason in (
        (weights[:-1], "tensor 2 of 2: 63 bytes of values"),
        (weights + weights, "bytes of values too many"),
    ):
        (tmp_path / "m.pdiparams").write_bytes(data)
        with pytest.raises(FormatError, match=rf"m\.pdiparams: .*{reason}"):
            paddle.jit.load(str(tmp_path / "m"))


def test_a_model_of_1x_has_a_file_for_each_weight(tmp_path: Path) -> None:
    names = weight_names(program("branches"))
    (tmp_path / "__model__").write_bytes((RECORDED / "branches.pdmodel").read_bytes())
    found = parse_lod_tensors((RECORDED / "branches.pdiparams").read_bytes(), len(names), "w")
    for name, array in zip(names, found, strict=True):
        (tmp_path / name).write_bytes(b"".join(bytes(part) for part in lod_tensor_parts(array)))
    recorded = values("branches")
    for path in (tmp_path, tmp_path / "__model__"):
        net = paddle.jit.load(str(path))
        require_close(net(paddle.to_tensor(recorded["i0"]))[0].numpy(), recorded["o0"])


def test_information_names_weights_and_says_what_is_trained(tmp_path: Path) -> None:
    variables = read_model_files(RECORDED / "resnet").info["variables"]
    assert variables["batch_norm2d_0.w_0"]["structured_name"] == "stem.1.weight"
    assert variables["batch_norm2d_0.w_0"]["parameter"]
    assert not variables["batch_norm2d_0.w_1"]["parameter"]  # the running mean
    for suffix in ("pdmodel", "pdiparams"):
        (tmp_path / f"m.{suffix}").write_bytes((RECORDED / f"resnet.{suffix}").read_bytes())
    without = read_model_files(tmp_path / "m").info["variables"]
    assert {n: v["parameter"] for n, v in without.items()} == {
        n: v["parameter"] for n, v in variables.items()
    }
    (tmp_path / "m.pdiparams.info").write_bytes(b"\x80\x02]q\x00.")
    with pytest.raises(FormatError, match=r"m\.pdiparams\.info: it does not describe weights"):
        read_model_files(tmp_path / "m")


def test_operators_of_paddle_3_that_are_not_read_are_named_with_the_remedy(tmp_path: Path) -> None:
    data = (RECORDED / "lenet_3.json").read_bytes()
    (tmp_path / "m.json").write_bytes(
        data.replace(b'"1.relu"', b'"1.if"').replace(b'"1.add"', b'"1.strange"')
    )
    (tmp_path / "m.pdiparams").write_bytes((RECORDED / "lenet_3.pdiparams").read_bytes())
    with pytest.raises(
        FormatError, match=r"m\.json: .*'pd_op\.if', 'pd_op\.strange'.*FLAGS_enable_pir_api=0"
    ):
        paddle.jit.load(str(tmp_path / "m"))
    (tmp_path / "m.json").write_bytes(data[:-100])
    with pytest.raises(FormatError, match=r"m\.json: not a Program that Paddle 3 wrote"):
        paddle.jit.load(str(tmp_path / "m"))
