"""Builds the bundle for Linux: python packaging/build.py OUT [--wheel FILE] [--quick] [--level N]

OUT gets a folder that runs where it is copied to (laid out as an AppDir), the same as ``.tar.xz``, and the
Debian packages ``model-studio`` and ``model-studio-fast`` (llvmlite, which compiles kernels). Everything is
taken from a wheel, which is built from this checkout unless one is given, and from the versions and hashes in
``bundle.txt``. It runs on Debian 12 or newer and on Ubuntu, with the Python that the bundle will have, which
must have a shared library; it needs binutils. With SOURCE_DATE_EPOCH the archives have the same bytes each
time.
"""

from __future__ import annotations

import argparse
import email.utils
import marshal
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import types
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import Distribution
from pathlib import Path

from bundle import contents, debian, licences

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging" / "bundle"
PROGRAM = contents.PROGRAM
INSTALLED = Path("usr/lib") / PROGRAM
APP_ID = "io.github.model_studio.model_studio"
SIZES = (16, 24, 32, 48, 64, 128, 256)
TEXT = (
    "A desktop application for training small neural networks and looking inside them. It contains its own "
    "deep-learning engine, which follows the programming model of PaddlePaddle, and its own Python."
)
FAST_TEXT = (
    "llvmlite with LLVM, with which Model Studio compiles kernels for the processor that it runs on. "
    "Training is several times as fast with it; results are the same within rounding."
)


@dataclass(frozen=True)
class Builder:
    """One build: ``work`` is a folder that is deleted afterwards, ``epoch`` the time that all files get, and
    ``level`` says how hard xz compresses."""

    out: Path
    work: Path
    epoch: int
    level: int

    @property
    def python(self) -> Path:
        """The Python of the environment with the wheel and all that it needs."""
        return self.work / "environment/bin/python"

    def run(self, *words: object, folder: Path | None = None) -> None:
        """Run a program with the clock and the order of hashes fixed."""
        variables = {
            "SOURCE_DATE_EPOCH": str(self.epoch),
            "PYTHONHASHSEED": "1",
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
        }
        subprocess.run([str(word) for word in words], cwd=folder, env={**os.environ, **variables}, check=True)

    def environment(self, wheel: Path | None) -> Path:
        """Install the wheel and the locked packages; returns site-packages."""
        _said("installing the packages of packaging/bundle.txt")
        self.run(sys.executable, "-m", "venv", self.work / "environment")
        lock = ROOT / "packaging/bundle.txt"
        self.run(self.python, "-m", "pip", "install", "-q", "--require-hashes", "-r", lock)
        if wheel is None:
            _said("building the wheel")
            made = self.work / "wheel"
            program = f"import hatchling.build as b; b.build_wheel({str(made)!r})"
            self.run(self.python, "-c", program, folder=ROOT)
            (wheel,) = made.glob("*.whl")
        self.run(self.python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel)
        return self.work / f"environment/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"

    def program(self) -> Path:
        """Let PyInstaller make the folder with the program, Python's library and what starts it."""
        _said("PyInstaller")
        words = (
            "--noconfirm",
            "--log-level",
            "WARN",
            "--distpath",
            self.work / "dist",
            "--workpath",
            self.work / "p",
        )
        self.run(self.python, "-m", "PyInstaller", *words, HERE / "program.spec", folder=self.work)
        return self.work / "dist" / PROGRAM

    def fill(self, folder: Path, site: Path, packages: dict[str, Distribution]) -> None:
        """Add the standard library and the packages to PyInstaller's folder."""
        _said("library and packages")
        inside = folder / "_internal"
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        library = inside / "lib" / version
        contents.copy_library(library, inside / version / "lib-dynload", Path(sys.base_prefix))
        contents.copy_packages(site, library / "site-packages", packages.values())
        contents.strip(inside / version / "lib-dynload")
        contents.strip_file(next(inside.glob("libpython*.so.*")))
        contents.compile_sources(inside / "lib", Path("/") / INSTALLED / "_internal/lib")
        name_frozen(inside / "base_library.zip")

    def share(self, root: Path, site: Path, version: str) -> None:
        """Write what a desktop reads: entry, icons, types of files, description, manual page."""
        share, source = root / "usr/share", HERE / "share"
        day = datetime.fromtimestamp(self.epoch, UTC).date().isoformat()
        for name, target in (
            (f"{PROGRAM}.desktop", "applications"),
            (f"{PROGRAM}.xml", "mime/packages"),
            (f"{APP_ID}.metainfo.xml", "metainfo"),
            (f"{PROGRAM}.1", "man/man1"),
        ):
            text = (
                (source / name)
                .read_text(encoding="utf-8")
                .replace("@VERSION@", version)
                .replace("@DATE@", day)
            )
            (share / target).mkdir(parents=True)
            (share / target / name).write_text(text, encoding="utf-8")
        self.run("gzip", "-9n", share / "man/man1" / f"{PROGRAM}.1")
        image = site / "resources/icons" / f"{PROGRAM}.svg"
        icons = share / "icons/hicolor"
        (icons / "scalable/apps").mkdir(parents=True)
        shutil.copyfile(image, icons / "scalable/apps" / image.name)
        self.run(self.python, HERE / "draw_icon.py", image, icons, *SIZES)

    def settle(self, root: Path) -> None:
        """Give all files below ``root`` the same time and plain modes."""
        for path in sorted(root.rglob("*"), reverse=True):
            if not path.is_symlink():
                program = path.is_dir() or (path.name == PROGRAM and contents.is_library(path))
                path.chmod(0o755 if program else 0o644)
            os.utime(path, (self.epoch, self.epoch), follow_symlinks=False)

    def archive(self, folder: Path) -> Path:
        """Pack ``folder`` as ``.tar.xz``, in the order of names."""

        def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
            info.uid = info.gid = 0
            info.uname = info.gname = "root"
            info.mtime = self.epoch
            return info

        target = folder.with_name(f"{folder.name}.tar.xz")
        tar = self.work / "bundle.tar"
        with tarfile.open(tar, "w", format=tarfile.GNU_FORMAT) as opened:
            for path in [folder, *sorted(folder.rglob("*"))]:
                opened.add(path, path.relative_to(folder.parent).as_posix(), recursive=False, filter=plain)
        self.run("xz", f"-{self.level}", "-T2", "--force", tar)
        return Path(shutil.move(f"{tar}.xz", target))


def name_frozen(archive: Path) -> None:
    """Mark the modules in PyInstaller's archive as frozen: their code names files that exist nowhere, which
    the engine would take for the user's."""

    def named(code: types.CodeType, file: str) -> types.CodeType:
        inner = (named(each, file) if isinstance(each, types.CodeType) else each for each in code.co_consts)
        return code.replace(co_filename=file, co_consts=tuple(inner))

    with zipfile.ZipFile(archive) as opened:
        files = {info.filename: opened.read(info) for info in opened.infolist()}
    with zipfile.ZipFile(archive, "w") as opened:
        for name, data in sorted(files.items()):
            if name.endswith(".pyc"):
                module = name.removesuffix(".pyc").removesuffix("/__init__").replace("/", ".")
                data = data[:16] + marshal.dumps(named(marshal.loads(data[16:]), f"<frozen {module}>"))
            opened.writestr(zipfile.ZipInfo(name), data)


def _said(text: str) -> None:
    print(f"{datetime.now(UTC):%H:%M:%S} {text}", flush=True)


def as_app(root: Path) -> None:
    """Make ``root`` an AppDir, from which AppImage's tool makes one file; it also runs as it is."""
    (root / PROGRAM).symlink_to(INSTALLED / PROGRAM)
    (root / "AppRun").symlink_to(INSTALLED / PROGRAM)
    (root / f"{PROGRAM}.desktop").symlink_to(f"usr/share/applications/{PROGRAM}.desktop")
    (root / f"{PROGRAM}.svg").symlink_to(f"usr/share/icons/hicolor/scalable/apps/{PROGRAM}.svg")
    (root / ".DirIcon").symlink_to(f"usr/share/icons/hicolor/256x256/apps/{PROGRAM}.png")
    texts = root / "licences"
    texts.mkdir()
    for name in ("Apache-2.0", "GPL-2", "GPL-3", "LGPL-3"):
        shutil.copyfile(Path("/usr/share/common-licenses") / name, texts / f"{name}.txt")


def build(builder: Builder, wheel: Path | None, quick: bool) -> list[Path]:
    """Build everything; returns what was written."""
    site = builder.environment(wheel)
    sys.path.insert(0, str(site))  # for `packaging`, and for resources as the wheel has them
    whole = contents.closure(site, PROGRAM)
    packages = contents.closure(site, PROGRAM, without=(contents.FAST,))
    root = builder.out / f"{PROGRAM}-{packages[PROGRAM].version}-linux-{platform.machine()}"
    shutil.rmtree(root, ignore_errors=True)
    (root / "usr/lib").mkdir(parents=True)
    folder = Path(shutil.move(builder.program(), root / INSTALLED))
    builder.fill(folder, site, packages)
    builder.share(root, site, packages[PROGRAM].version)
    (root / "usr/bin").mkdir()
    (root / "usr/bin" / PROGRAM).symlink_to(Path("..") / INSTALLED.relative_to("usr") / PROGRAM)
    written = [root, build_package(builder, root, packages)]
    as_app(root)
    builder.settle(root)
    if not quick:
        fast = {name: each for name, each in whole.items() if name not in packages}
        more = builder.out / f"{PROGRAM}-fast"
        shutil.rmtree(more, ignore_errors=True)
        written += [more, build_fast(builder, more, site, fast, packages[PROGRAM].version)]
        _said("archives")
        written += [builder.archive(root), builder.archive(more)]
    return written


def build_package(builder: Builder, root: Path, packages: dict[str, Distribution]) -> Path:
    """The Debian package of the program, whose files are in ``root``."""
    from resources.system_libraries import PACKAGES

    _said(f"the package {PROGRAM}")
    own, folder = packages[PROGRAM], root / INSTALLED
    release = debian.Package(
        PROGRAM,
        own.version,
        (*debian.depends(contents.system_libraries(folder), PACKAGES, contents.glibc(folder)), debian.FONTS),
        (*debian.RECOMMENDED, debian.CJK_FONTS, f"{PROGRAM}-fast"),
        "studio for training small neural networks and looking inside",
        TEXT,
    )
    parts = licences.all_of(
        own, packages.values(), Path(sysconfig.get_path("stdlib")), platform.python_version()
    )
    text = debian.copyright_file(parts, "Model Studio")
    debian.write_documents(root, release, text, email.utils.formatdate(builder.epoch))
    builder.settle(root)
    written = debian.build(root, release, builder.out, builder.epoch, builder.level)
    shutil.rmtree(root / "usr/share/lintian")
    return written


def build_fast(
    builder: Builder, root: Path, site: Path, packages: dict[str, Distribution], version: str
) -> Path:
    """The Debian package of llvmlite, which is written to ``root``."""
    name = f"{PROGRAM}-fast"
    _said(f"the package {name}")
    contents.copy_packages(site, root / INSTALLED / "fast", packages.values())
    contents.compile_sources(root / INSTALLED / "fast", Path("/") / INSTALLED / "fast")
    libraries = debian.depends(contents.system_libraries(root), {}, contents.glibc(root))
    release = debian.Package(
        name,
        version,
        (f"{PROGRAM} (= {version})", *libraries),
        (),
        "compiled kernels for Model Studio",
        FAST_TEXT,
    )
    texts = [licences.of_package(each, "fast") for each in packages.values()]
    text = debian.copyright_file(texts, "llvmlite")
    debian.write_documents(root, release, text, email.utils.formatdate(builder.epoch))
    builder.settle(root)
    written = debian.build(root, release, builder.out, builder.epoch, builder.level)
    shutil.rmtree(root / "usr/share/lintian")
    return written


def main() -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="folder for the results")
    parser.add_argument("--wheel", type=Path, help="the wheel to take, instead of building one")
    parser.add_argument("--quick", action="store_true", help="for tests: the folder and its package only")
    parser.add_argument("--level", type=int, default=6, help="how hard xz compresses, 0 to 9 (default 6)")
    options = parser.parse_args()
    if sys.platform != "linux":
        parser.error("it builds on Linux; docs/guide/install.md says what was not tried elsewhere")
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        parser.error(f"{sys.executable} has no shared library, which PyInstaller needs; take another Python")
    os.umask(0o022)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=options.out) as work:
        epoch = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
        builder = Builder(options.out.resolve(), Path(work).resolve(), epoch, options.level)
        wheel = options.wheel.resolve() if options.wheel else None
        for path in build(builder, wheel, options.quick):
            kind = "folder" if path.is_dir() else "file"
            print(f"{kind} {path}: {contents.size(path) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
