"""What a file of weights holds, as ``inspect`` lists it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import engine as paddle
from engine.files.untrusted import guarded
from studio.session.predict.weight_files import describe_weights, is_weights_file

LISTED = [{"name": "fc.weight", "shape": [2, 3], "dtype": "bfloat16"}]


@pytest.mark.parametrize(
    ("name", "format", "form"),
    [
        ("w.pdparams", None, "a state that Model Studio saved"),
        ("w.pdparams", "paddle", "a pickle of paddle.save"),
        ("w.safetensors", None, "safetensors"),
        ("w.npz", None, "arrays of NumPy (.npz)"),
    ],
)
def test_tensors_of_each_form_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, format: str | None, form: str
) -> None:
    monkeypatch.setattr(guarded, "_is_child", True)
    path = str(tmp_path / name)
    paddle.save({"fc.weight": paddle.ones([2, 3], "bfloat16")}, path, format=format)
    assert is_weights_file(path)
    described = describe_weights(path)
    assert (described["form"], described["tensors"]) == (form, LISTED)
    assert (described["parameters"], described["others"]) == (6, 0)


def test_names_within_a_nest_and_other_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "_is_child", True)
    path = str(tmp_path / "c.pt")
    paddle.save({"model": {"w": paddle.ones([1])}, "epoch": 3, "more": [np.zeros(2)]}, path, format="paddle")
    described = describe_weights(path)
    assert [tensor["name"] for tensor in described["tensors"]] == ["model.w", "more.0"]
    assert described["others"] == 1


def test_models_and_other_files_are_not_weights(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert not is_weights_file(str(tmp_path / "a.txt"))
    assert not is_weights_file(str(tmp_path / "absent"))
