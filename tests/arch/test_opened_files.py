"""Files are opened for reading by resources.regular_files; what is not has its reason here."""

from __future__ import annotations

import pytest

from tests.arch.opened_files import opened_paths
from tests.arch.repository_files import ROOT, repository_files

_OURS = "a file of the installed packages"
_KERNEL = "the kernel's own files: processes, memory, processors"
_CODE = "Python code that runs, which may read anything itself"
_TRACE = "lines of code that Python has read already"
_PIPE = "pipes of our own processes, which are to be pipes"
_NOTHING = "the null device"
_PRIVATE = "a file that its own process or its parent wrote into a folder of its own"
_NEW = "opened for writing; what lies there must be a regular file"

EXCEPTIONS = {
    "engine/core/alias/on_path/paddle.py": (_OURS, {"runpy.run_path"}),
    "engine/core/alias/on_path/paddleslim.py": (_OURS, {"runpy.run_path"}),
    "engine/core/models/local_imports.py": (
        _CODE,
        {"importlib.util.spec_from_file_location", "Path.read_bytes"},
    ),
    "engine/core/operators/operator.py": (_TRACE, {"linecache.getline"}),
    "engine/distributed/launch/channel.py": (_PIPE, {"os.open"}),
    "engine/distributed/launch/guard.py": ("a pipe, and this project's file", {"os.open", "runpy.run_path"}),
    "engine/distributed/launch/leftovers.py": (_KERNEL, {"Path.read_text"}),
    "engine/distributed/launch/memory.py": (_KERNEL, {"Path.read_text"}),
    "engine/distributed/processes/spawned.py": (_CODE, {"runpy.run_path"}),
    "engine/distributed/worker.py": ("both of the next two", {"Path.read_text", "runpy.run_path"}),
    "engine/files/journal.py": (_NEW, {"os.open"}),
    "engine/files/native/image.py": ("reads bytes in memory", {"h5py.File"}),
    "engine/files/untrusted/hdf5_layout_child.py": ("its parent has opened it; limits hold", {"h5py.File"}),
    "engine/files/untrusted/limits.py": (_KERNEL, {"open"}),
    "engine/hub.py": (_CODE, {"importlib.util.spec_from_file_location"}),
    "engine/inference/process_main.py": (_NOTHING, {"os.open"}),
    "engine/io/transport.py": ("memory without a file", {"mmap.mmap"}),
    "engine/jit/convert/source.py": (_TRACE, {"linecache.getlines"}),
    "engine/jit/tracebacks.py": (_TRACE, {"linecache.getline"}),
    "engine/kernels/cpu/cores.py": (_KERNEL, {"Path.read_text"}),
    "engine/kernels/cupy/source.py": (_OURS, {"Path.read_text"}),
    "engine/kernels/cupy/writer.py": (_OURS, {"Path.read_text"}),
    "engine/kernels/fast/compiler.py": (_OURS, {"Path.read_bytes"}),
    "engine/kernels/fast/object_cache.py": ("looks at owner and links too", {"os.open"}),
    "engine/onnx/checking.py": (_PRIVATE, {"np.load"}),
    "engine/onnx/deployed/predict.py": (
        "a program of its own, which runs without this one on files that its user names",
        {"Image.open", "Path.read_bytes", "Path.read_text", "np.load"},
    ),
    "engine/onnx/run_files.py": (_PRIVATE, {"np.load"}),
    "engine/program/saved/paddle/writes/signatures.py": (_OURS, {"Path.read_text"}),
    "engine/run.py": (_CODE, {"SourceFileLoader"}),
    "engine/training/deploy.py": (_OURS, {"Path.read_text"}),
    "engine/vision/datasets/strokes.py": (_OURS, {"Path.read_bytes"}),
    "resources/blas_core.py": (_KERNEL, {"Path.open"}),
    "resources/help_pages.py": (_OURS, {"Path.read_text"}),
    "resources/locks.py": ("reads 1000 bytes and never waits", {"os.open"}),
    "resources/memory.py": (_KERNEL, {"open"}),
    "resources/regular_files.py": ("the way itself", {"open", "os.open"}),
    "resources/replacing.py": (_NEW, {"os.open"}),
    "resources/settings/rules.py": (_OURS, {"Path.read_text"}),
    "studio/cli/watched.py": (_NOTHING, {"os.open"}),
    "studio/session/code/templates.py": (_OURS, {"Path.read_text"}),
    "studio/session/project/project_copy.py": (
        "copies the project's own folders; pipes in them are an error of the copy",
        {"shutil.copytree"},
    ),
    "studio/session/project/sample_projects.py": (_OURS, {"Path.read_bytes"}),
    "studio/session/sweep/machine.py": (_KERNEL, {"Path.read_text"}),
    "studio/session/work/worker.py": (_KERNEL, {"Path.read_text"}),
    "studio/windows/help_window.py": (_OURS, {"QImage"}),
    "studio/windows/trash.py": ("moves the file and opens nothing", {"QFile"}),
    "widgets/icons.py": (_OURS, {"Path.read_text"}),
}


def test_files_are_opened_by_one_module_alone() -> None:
    found: dict[str, set[str]] = {}
    lines = {}
    for path in repository_files("engine", "resources", "studio", "widgets"):
        if path.suffix == ".py":
            name = path.relative_to(ROOT).as_posix()
            for line, function in opened_paths(path.read_text(encoding="utf-8")):
                found.setdefault(name, set()).add(function)
                lines[name, function] = line
    others = [
        f"{name}:{lines[name, function]}: {function} opens any path; use resources.regular_files"
        for name, functions in found.items()
        for function in functions - EXCEPTIONS.get(name, ("", set()))[1]
    ]
    assert others == []
    assert {name: functions for name, (_, functions) in EXCEPTIONS.items()} == found, "remove the exception"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("open(path)", "open"),
        ("with open(path, 'rb') as file: pass", "open"),
        ("open(path, mode)", "open"),
        ("path.open('rb')", "Path.open"),
        ("(folder / name).open()", "Path.open"),
        ("self.path.open(encoding='utf-8')", "Path.open"),
        ("Path(name).read_text()", "Path.read_text"),
        ("os.open(path, os.O_RDONLY)", "os.open"),
        ("np.load(path)", "np.load"),
        ("np.fromfile(path)", "numpy.fromfile"),
        ("Image.open(path)", "Image.open"),
        ("zipfile.ZipFile(path)", "zipfile.ZipFile"),
        ("tarfile.open(path, 'r:')", "tarfile.open"),
        ("h5py.File(path, 'r')", "h5py.File"),
        ("mmap.mmap(file.fileno(), 0)", "mmap.mmap"),
        ("QImage(path)", "QImage"),
        ("open(path, 'wb')", ""),
        ("path.open('a')", ""),
        ("os.open(path, os.O_WRONLY | os.O_CREAT)", ""),
        ("dialog.open()", ""),
        ("h5py.File(path, 'w')", ""),
        ("QImage(3, 4, kind)", ""),
        ("np.load(io.BytesIO(data))", ""),
        ("with open_regular(path) as file, Image.open(file) as image: pass", ""),
        ("def f(file: IO[bytes]): return gzip.GzipFile(fileobj=file)", ""),
        ("def f():\n  with open_regular(p) as file: pass\ndef g(file): return np.load(file)", "np.load"),
    ],
)
def test_ways_of_opening_are_found(line: str, name: str) -> None:
    assert [found for _, found in opened_paths(line)] == ([name] if name else [])
