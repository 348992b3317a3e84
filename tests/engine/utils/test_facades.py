"""version, sysconfig and the parts of utils that look, refuse or arrange."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path

import pytest

import engine as paddle
from engine import sysconfig, version
from engine.core.errors import AbsentError, ArgumentError, DTypeError, FormatError, UnsupportedError
from engine.utils import cpp_extension, download, layers_utils


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        version.full_version == paddle.__version__ == ".".join([version.major, version.minor, version.patch])
    )
    version.show()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == ["full_version: 2.6.2", "major: 2", "minor: 6", "patch: 2", "rc: 0"]
    assert [line.partition(":")[0] for line in lines[5:]] == ["cuda", "cudnn", "xpu", "xpu_xccl", "cinn"]
    assert version.cudnn() == version.xpu() == version.xpu_xccl() == version.cinn() == "False"
    assert version.mkl() == "OFF"


def test_folders() -> None:
    assert (
        Path(sysconfig.get_include()).parent
        == Path(sysconfig.get_lib()).parent
        == Path(paddle.__file__).parent
    )


@pytest.mark.parametrize("name", cpp_extension.__all__)
def test_compiled_extensions_are_refused(name: str) -> None:
    arguments = {"setup": (), "get_build_directory": (), "load": ("name", ["a.cc"])}.get(name, (["a.cc"],))
    with pytest.raises(UnsupportedError, match=f"cpp_extension.{name}: compiled extensions are not loaded"):
        getattr(cpp_extension, name)(*arguments)


def test_downloads_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "WEIGHTS_HOME", str(tmp_path))
    address = "https://example.com/models/net.pdparams"
    with pytest.raises(AbsentError, match="nothing is downloaded here"):
        download.get_weights_path_from_url(address)
    (tmp_path / "net.pdparams").write_bytes(b"weights")
    found = download.get_weights_path_from_url(address, hashlib.md5(b"weights").hexdigest())
    assert found == str(tmp_path / "net.pdparams")
    with pytest.raises(FormatError, match="not 123; fetch it again"):
        download.get_weights_path_from_url(address, "123")
    assert download.is_url(address)
    assert not download.is_url("net.pdparams")


def test_lists_and_structures() -> None:
    assert layers_utils.convert_to_list(2, 3, "stride") == [2, 2, 2]
    assert layers_utils.convert_to_list((1, 2), 2, "stride") == [1, 2]
    for wrong in ([1], None, ["a", "b"]):
        with pytest.raises(ArgumentError, match="stride"):
            layers_utils.convert_to_list(wrong, 2, "stride")
    assert layers_utils.to_sequence(3) == [3]
    assert layers_utils.to_sequence((3,)) == (3,)
    layers_utils.assert_same_structure({"a": [1, 2]}, {"a": [3, 4]})
    layers_utils.assert_same_structure([1, (2,)], (1, [2]), check_types=False)
    with pytest.raises(ValueError, match="2 elements and 1"):
        layers_utils.assert_same_structure([1, 2], [1])
    with pytest.raises(ArgumentError, match="only one of them"):
        layers_utils.assert_same_structure([1, [2]], [[1], 2])
    with pytest.raises(DTypeError, match="one is list, the other tuple"):
        layers_utils.assert_same_structure([1], (1,))
    with pytest.raises(ArgumentError, match="the keys are"):
        layers_utils.assert_same_structure({"a": 1}, {"b": 1})
    assert importlib.import_module("engine.utils").layers_utils is layers_utils
