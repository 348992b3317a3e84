"""Foreign files with right hashes: refused by their structure or by the child; a crash is a refusal too."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from engine.core.errors import FormatError
from engine.files.native.image import ImageError, _Reader, read_image
from engine.files.native.userblock import NO_SAVE_ID, SIZE, make_user_block
from engine.files.state import read_state, write_state
from engine.files.untrusted import guarded

Build = Callable[[h5py.File], object]
ROOT = Path(__file__).resolve().parents[4]
X = '{"x":{"$array":"/x","dtype":"<f4"}}'


def external_link(file: h5py.File) -> None:
    file["x"] = h5py.ExternalLink("/etc/passwd", "/x")


def soft_link(file: h5py.File) -> None:
    file["x"] = h5py.SoftLink("/structure")


def virtual_dataset(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((4,), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "x", (4,))
    file.create_virtual_dataset("x", layout)


def external_storage(file: h5py.File) -> None:
    file.create_dataset("x", (4,), "f4", external=[("/etc/passwd", 0, 16)])


def chunked(file: h5py.File) -> None:
    file.create_dataset("x", data=np.zeros(4, "f4"), chunks=(2,))


def compressed(file: h5py.File) -> None:
    file.create_dataset("x", data=np.zeros(4, "f4"), compression="gzip")


def huge_and_never_stored(file: h5py.File) -> None:
    file.create_dataset("x", (2**40,), "f4")


def huge_and_chunked(file: h5py.File) -> None:
    file.create_dataset("x", (2**40,), "f4", chunks=(2**20,))


def compact(file: h5py.File) -> None:
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((4,)), creation)


def another_type(file: h5py.File) -> None:
    file["x"] = np.zeros(4, "f8")


def texts_of_any_length(file: h5py.File) -> None:
    file.create_dataset("x", data=["a"], dtype=h5py.string_dtype())


def references(file: h5py.File) -> None:
    file.create_dataset("x", data=[file.ref], dtype=h5py.ref_dtype)


def opaque(file: h5py.File) -> None:
    file.create_dataset("x", data=np.zeros(4, "V4"))


def compound(file: h5py.File) -> None:
    file.create_dataset("x", data=np.zeros(4, "f4,i4"))


def no_data(file: h5py.File) -> None:
    file.create_dataset("x", data=h5py.Empty("f4"))


def group_instead(file: h5py.File) -> None:
    file.create_group("x")


def named_type(file: h5py.File) -> None:
    file["x"] = np.dtype("f4")


def more_than_named(file: h5py.File) -> None:
    file["x"] = np.zeros(4, "f4")
    file["y"] = np.zeros(4, "f4")


def attribute_on_data(file: h5py.File) -> None:
    file["x"] = np.zeros(4, "f4")
    file["x"].attrs["a"] = 1


def attribute_on_root(file: h5py.File) -> None:
    file["x"] = np.zeros(4, "f4")
    file.attrs["more"] = np.zeros(3)


def attribute_of_another_type(file: h5py.File) -> None:
    file["x"] = np.zeros(4, "f4")
    file.attrs["kind"] = "state"  # of variable length


def big_attribute(file: h5py.File) -> None:
    file["x"] = np.zeros(4, "f4")
    file.attrs.create("kind", "s", dtype=h5py.string_dtype("utf-8", 60_000))


BAD = {
    external_link: "'x' is a link to another file",
    soft_link: "'x' is a soft link",
    virtual_dataset: "in other datasets",
    external_storage: "in another file or filtered",
    chunked: "in chunks",
    compressed: "in chunks",
    huge_and_never_stored: "claims 4398046511104 bytes",
    huge_and_chunked: "in chunks",
    compact: "in its header",
    another_type: "stored as float64, its structure says float32",
    texts_of_any_length: "stored as object",
    references: "stored as object",
    opaque: r"stored as \|V4",
    compound: "stored as",
    no_data: "has no shape",
    group_instead: "/x is not a dataset",
    named_type: "/x is not a dataset",
    more_than_named: "holds 3 objects, its structure names 2",
    attribute_on_data: "/x has attributes",
    attribute_on_root: "5 root attributes",
    attribute_of_another_type: "'kind' is of another type",
    big_attribute: "'kind' is of another type",
}


@pytest.mark.parametrize("build", BAD, ids=lambda build: build.__name__)
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_structure_that_we_do_not_write(forge: Callable[..., Path], build: Build, libver: str) -> None:
    with pytest.raises(ImageError, match=BAD[build]):
        read_image(forge(build, document=X, libver=libver).read_bytes())


@pytest.mark.parametrize(
    "build", [external_link, virtual_dataset, huge_and_never_stored], ids=lambda b: b.__name__
)
def test_it_is_the_child_that_refuses(
    forge: Callable[..., Path], build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = forge(build, document=X)

    def no_parsing(*_: object) -> None:
        raise AssertionError("the parent parsed the file")

    monkeypatch.setattr("engine.files.native.container.decode", no_parsing)
    with pytest.raises(FormatError, match=BAD[build]) as caught:
        read_state(path)
    assert str(path) in str(caught.value)


def alias(file: h5py.File) -> None:
    """The same bytes under several names would fill the memory with a small file."""
    file["x"] = np.zeros(1000, "f4")
    file["y"] = file["x"]
    file["z"] = file["x"]


DOCUMENTS = {
    "{": "not JSON",
    "[" * 100_000: "nested deeper than 300",
    "[" * 400 + "]" * 400: "nested deeper",
    "[" + "[]," * 200_000 + "0]": "too many values for its length: about 2. MB of memory",
    "NaN": "the bare word NaN",
    '{"$array":"/x"}': "an array '/x' of dtype None",
    '{"$array":"/x","dtype":"O"}': "of dtype 'O'",
    '{"$array":["/x"],"dtype":"<f4"}': "names an array",
    '{"$array":"x","dtype":"<f4"}': "badly: 'x'",
    '{"$array":"/a/../x","dtype":"<f4"}': "badly",
    '{"$array":"/a//x","dtype":"<f4"}': "badly",
    '[{"$array":"/x","dtype":"<f4"},{"$array":"/x","dtype":"<f4"}]': "an array twice",
    '[{"$array":"/x","dtype":"<f4"},{"$array":"/x/y","dtype":"<f4"}]': "as a dataset and as something else",
    '{"$array":"/structure","dtype":"<f4"}': "as a dataset and as something else",
    '{"$array":"/y","dtype":"<f4"}': "component not found|'y'|HDF5 can't read",
    "1": "holds 2 objects, its structure names 1",
    '{"x":{"$array":"/x","dtype":"|b1"}}': "stored as float32, its structure says bool",
    '{"x":{"$array":"/x","dtype":"<c8"}}': "complex numbers has shape",
}


@pytest.mark.parametrize(("document", "words"), DOCUMENTS.items(), ids=lambda text: text[:20])
def test_documents_that_we_do_not_write(forge: Callable[..., Path], document: str, words: str) -> None:
    def build(file: h5py.File) -> None:
        file["x"] = np.zeros(4, "f4")

    with pytest.raises(ImageError, match=words):
        read_image(forge(build, document=document).read_bytes())


@pytest.mark.parametrize(
    "node",
    [
        '{"$what":1}',
        '{"$tuple":1}',
        '{"$dict":[[1]]}',
        '{"$dict":[[[1],1]]}',
        '{"$float":"1"}',
        '{"$complex":[1]}',
        '{"$complex":["a",1]}',
        '{"$bytes":"?"}',
        '{"$scalar":"00","dtype":"<f4"}',
        '{"$scalar":"00","dtype":"|O"}',
        '{"a":1,"$x":2}',
    ],
)
def test_nodes_that_we_do_not_write(forge: Callable[..., Path], node: str) -> None:
    with pytest.raises(ImageError, match="holds a malformed"):
        read_image(forge(lambda file: None, document=node).read_bytes()).tree()


def test_the_same_bytes_under_many_names(forge: Callable[..., Path]) -> None:
    document = json.dumps([{"$array": f"/{name}", "dtype": "<f4"} for name in "xyz"])
    with pytest.raises(ImageError, match="claim more than the"):
        read_image(forge(alias, document=document).read_bytes())


def test_a_shape_that_was_enlarged_afterwards(tmp_path: Path, forge: Callable[..., Path]) -> None:
    def build(file: h5py.File) -> None:
        file["x"] = np.zeros(12_345, "f4")

    data = forge(build, document=X).read_bytes()
    enlarged = data
    for written, claimed in ((12_345, 2**40), (4 * 12_345, 4 * 2**40)):  # the shape, then the bytes it takes
        assert written.to_bytes(8, "little") in data
        enlarged = enlarged.replace(written.to_bytes(8, "little"), claimed.to_bytes(8, "little"))
    # Newer releases of HDF5 see it themselves.
    with pytest.raises(ImageError, match=r"claims 4398046511104 bytes|invalid dataset size"):
        read_image(enlarged)
    with pytest.raises(ImageError, match="HDF5 can't read it"):
        read_image(data[:-40_000])
    with (
        h5py.File(tmp_path / "forged.h5") as file,
        pytest.raises(ImageError, match=r"claims 49380 bytes, the file of .* does not hold them"),
    ):
        _Reader(file.id, data[:-40_000]).read()


def test_mutations_with_a_right_hash_end_in_a_refusal_or_a_tree(tmp_path: Path) -> None:
    """In this very process: what libhdf5 sees of a file has been narrowed down to its structure."""
    write_state(tmp_path / "a.h5", {"w": np.arange(4, dtype="float32"), "g": {"n": np.arange(3)}})
    good = (tmp_path / "a.h5").read_bytes()
    rng = random.Random(0)
    refused = 0
    # Text and data, after the structure of HDF5 itself: what a mutation of that can do is the child's.
    start = good.index(b'{"w"')
    for _ in range(300):
        data = bytearray(good)
        data[rng.randrange(start, start + 90)] = rng.randrange(256)
        try:
            read_image(bytes(data)).tree()
        except ImageError:
            refused += 1
    assert 100 < refused < 300


@pytest.mark.parametrize("seed", range(4))
def test_mutated_structure_goes_to_the_child(tmp_path: Path, seed: int) -> None:
    write_state(tmp_path / "a.h5", {"w": np.arange(4, dtype="float32")})
    payload = bytearray((tmp_path / "a.h5").read_bytes()[SIZE:])
    rng = random.Random(seed)
    for _ in range(20):
        payload[rng.choice([index for index, byte in enumerate(payload) if byte])] = rng.randrange(256)
    (tmp_path / "a.h5").write_bytes(make_user_block(payload, NO_SAVE_ID, None) + payload)
    with pytest.raises(FormatError, match=r"a\.h5: (not a valid|the file made the reader crash)"):
        read_state(tmp_path / "a.h5")


CHILDREN = {
    "import os; os.abort()": "signal 6",
    "import ctypes; ctypes.string_at(8)": "signal 11",
    "while True: pass": "not finished after 1 s",
    "import sys; sys.exit(3)": "exit code 3 without a verdict",
    "print('nonsense')": "exit code 0 without a verdict",
    "print('{}')": "exit code 0 without a verdict",
    "print(3)": "exit code 0 without a verdict",
    "print('{\"refused\": null}'); import sys; sys.exit(1)": "exit code 1 without a verdict",
}


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(("script", "words"), CHILDREN.items())
def test_a_child_without_a_yes_is_a_refusal(tmp_path: Path, script: str, words: str) -> None:
    child = tmp_path / "child.py"
    child.write_text(script)
    limits = guarded.Limits(memory=2**29, cpu_seconds=10, wall_seconds=1.0)
    with pytest.raises(FormatError, match=f"x.h5: the file made the reader crash.*{words}"):
        guarded.run_child({"files": [{"shown": "x.h5"}]}, limits, child)


def test_a_child_that_can_not_start_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unsign: Callable[[Path], Path]
) -> None:
    write_state(tmp_path / "a.h5", 1)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no python"))
    with pytest.raises(FormatError, match=r"could not be\s+started.*repair the installation"):
        read_state(unsign(tmp_path / "a.h5"))


def test_the_child_checks_the_very_bytes_that_the_parent_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unsign: Callable[[Path], Path]
) -> None:
    path = tmp_path / "a.h5"
    write_state(path, 1)
    unsign(path)
    real = guarded.run_child

    def replaced_meanwhile(*args: object) -> None:
        write_state(path, 2)
        real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(guarded, "run_child", replaced_meanwhile)
    with pytest.raises(FormatError, match="changed while it was read"):
        read_state(path)


def test_a_verdict_is_remembered_for_the_same_bytes_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unsign: Callable[[Path], Path]
) -> None:
    started = []
    real = guarded.run_child
    monkeypatch.setattr(guarded, "run_child", lambda *args: (started.append(1), real(*args)))
    for value in (1, 1, 2):
        write_state(tmp_path / "a.h5", value)
        assert read_state(unsign(tmp_path / "a.h5")) == value
    assert len(started) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux enforces them")
def test_limits_of_the_child() -> None:
    script = """
import sys
import types
# As in the child: the import of the whole engine alone can take the second of processor time.
package = types.ModuleType("engine")
package.__path__ = ["engine"]
sys.modules["engine"] = package
from engine.files.untrusted.limits import limit_this_process
limit_this_process(64 * 1024**2, 1)
bytes(32 * 1024**2)
try:
    bytes(256 * 1024**2)
except MemoryError:
    print("memory", flush=True)
try:
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open(sys.argv[1], "wb") as file:
        file.write(b"x")
except OSError:
    print("file", flush=True)
while True:
    pass
"""
    done = subprocess.run(
        [sys.executable, "-c", script, os.devnull + "x"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["memory", "file"]
    assert done.returncode in (-9, -24)


def test_the_child_runs_without_the_rest_of_the_engine(
    tmp_path: Path, unsign: Callable[[Path], Path]
) -> None:
    """Its start is what every foreign file costs: nothing of the engine but this room and the errors."""
    write_state(tmp_path / "a.h5", 1)
    unsign(tmp_path / "a.h5")
    script = """
import io, json, runpy, sys
sys.stdin = io.TextIOWrapper(io.BytesIO(sys.argv[1].encode()))
runpy.run_path(sys.argv[2], run_name="__main__")
ours = sorted(name for name in sys.modules if name.split(".")[0] in ("engine", "platformdirs"))
print("\\n" + " ".join(ours))
"""
    from engine.files.native.userblock import parse_user_block

    data = (tmp_path / "a.h5").read_bytes()
    digest = parse_user_block(data[:SIZE], len(data), tmp_path).digest.hex()
    request = {
        "folders": [str(Path(h5py.__file__).parent.parent)],
        "engine": str(ROOT / "engine"),
        "memory": 2**30,
        "cpu_seconds": 60,
        "files": [
            {
                "path": str(tmp_path / "a.h5"),
                "shown": "a.h5",
                "sha256": digest,
                "kind": "state",
                "max_version": 1,
                "foreign": False,
            }
        ],
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, json.dumps(request), str(guarded.CHILD)],
        capture_output=True,
        text=True,
        check=True,
    )
    verdict, modules = done.stdout.split("\n")[:2]
    assert json.loads(verdict) == {"refused": None}
    assert modules.split() == [
        "engine",
        "engine.core",
        "engine.core.errors",
        "engine.files",
        "engine.files.native",
        "engine.files.native.checked",
        "engine.files.native.compressed",
        "engine.files.native.image",
        "engine.files.native.tree",
        "engine.files.native.userblock",
        "engine.files.plain",
        "engine.files.reading",
        "engine.files.untrusted",
        "engine.files.untrusted.limits",
    ]
