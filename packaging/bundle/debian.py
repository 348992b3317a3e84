"""The two Debian packages: dependencies, control files, copyright files and lintian's overrides."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

from bundle.licences import Licence

ARCHITECTURE = "amd64"
MAINTAINER = "The Model Studio developers <model-studio@localhost>"
# Packages of Debian and Ubuntu, next to those of resources.system_libraries, with the libraries that the
# bundle needs of them. The oldest release with all of them is Debian 12, or Ubuntu 24.04.
MORE = {
    "libbz2-1.0": ("libbz2.so.1.0",),
    "libc6": (
        "ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "libresolv.so.2",
        "librt.so.1", "libutil.so.1",
    ),
    "libcrypt1": ("libcrypt.so.1",),
    "libffi8": ("libffi.so.8",),
    "libfreetype6": ("libfreetype.so.6",),
    "libgcc-s1": ("libgcc_s.so.1",),
    "libgssapi-krb5-2": ("libgssapi_krb5.so.2",),
    "libbrotli1": ("libbrotlidec.so.1", "libbrotlicommon.so.1"),
    "liblzma5": ("liblzma.so.5",),
    "libsqlite3-0": ("libsqlite3.so.0",),
    "libssl3": ("libcrypto.so.3", "libssl.so.3"),
    "libstdc++6": ("libstdc++.so.6",),
    "libuuid1": ("libuuid.so.1",),
    "libx11-6": ("libX11.so.6",),
    "libx11-xcb1": ("libX11-xcb.so.1",),
    "libxcb-glx0": ("libxcb-glx.so.0",),
    "libxcb-render0": ("libxcb-render.so.0",),
    "libxcb-shm0": ("libxcb-shm.so.0",),
    "libxcb-sync1": ("libxcb-sync.so.1",),
    "libxcb-util1": ("libxcb-util.so.1",),
    "libxcb-xfixes0": ("libxcb-xfixes.so.0",),
    "libxcb1": ("libxcb.so.1",),
    "libzstd1": ("libzstd.so.1",),
    "zlib1g": ("libz.so.1",),
}  # fmt: skip
# Needed on Wayland only, where every desktop has them: Qt takes X11 without them.
RECOMMENDED = {
    "libwayland-client0": ("libwayland-client.so.0",),
    "libwayland-cursor0": ("libwayland-cursor.so.0",),
    "libwayland-egl1": ("libwayland-egl.so.1",),
}
# Debian 13 and Ubuntu 24.04 have renamed them.
RENAMED = {"libglib2.0-0": "libglib2.0-0t64", "libssl3": "libssl3t64"}
FONTS = "fonts-dejavu-core"
CJK_FONTS = "fonts-noto-cjk"
OVERRIDES = {
    "bogus-mail-host": "the project has no address for mail",
    "bogus-mail-host-in-debian-changelog": "the project has no address for mail",
    "copyright-file-contains-full-apache-2-license": "it is part of the licence texts of wheels",
    "copyright-file-contains-full-gpl-license": "it is part of the licence texts of wheels",
    "custom-library-search-path": "libraries find each other by their place in the folder",
    "embedded-library": "libraries that wheels contain, as their projects tested them",
    "hardening-no-fortify-functions": "libraries from wheels",
    "hardening-no-pie": "PyInstaller's loader",
    "interpreter-in-usr-local": "a module of Python that starts with a line for a shell",
    "library-not-linked-against-libc": "data of ICU, and modules of Python that need nothing",
    "package-installs-python-pycache-dir": "the program runs its own Python, for which they are made",
    "script-not-executable": "modules of Python that start with a line for a shell",
    "shared-library-lacks-prerequisites": "data of ICU, and modules of Python that need nothing",
    "unstripped-binary-or-object": "strip breaks libraries whose paths patchelf has changed",
    "unusual-interpreter": "a module of Python that starts with a line for a shell",
}
OVERRIDES_OF_FAST = {
    tag: OVERRIDES[tag]
    for tag in (
        "bogus-mail-host",
        "bogus-mail-host-in-debian-changelog",
        "copyright-file-contains-full-apache-2-license",
        "package-installs-python-pycache-dir",
        "unstripped-binary-or-object",
    )
} | {"copyright-not-using-common-license-for-apache2": "it is part of the licence texts of the wheel"}


@dataclass(frozen=True)
class Package:
    """One Debian package: ``name``, ``version``, the lists of its control file, and the words of its text."""

    name: str
    version: str
    depends: tuple[str, ...]
    recommends: tuple[str, ...]
    summary: str
    text: str


def known_libraries(of_window: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """The package of each system library that may be needed; ``of_window`` is resources.system_libraries'."""
    return {
        library: package
        for table in (of_window, MORE, RECOMMENDED)
        for package, names in table.items()
        for library in names
    }


def depends(
    needed: dict[str, list[str]], of_window: dict[str, tuple[str, ...]], glibc: str
) -> tuple[str, ...]:
    """The packages that the bundle depends on. Refuses a library that no package of the tables has."""
    known = known_libraries(of_window)
    if unknown := sorted(needed.keys() - known.keys()):
        raise SystemExit(
            "needed by the bundle, but of no package in packaging/bundle/debian.py: "
            + ", ".join(f"{name} (by {needed[name][0]})" for name in unknown)
        )
    packages = {known[name] for name in needed} | set(of_window)
    found = [_alternatives(each) for each in sorted(packages - set(RECOMMENDED) - {"libc6"})]
    return (f"libc6 (>= {glibc})", *found)


def _alternatives(package: str) -> str:
    return f"{RENAMED[package]} | {package}" if package in RENAMED else package


def control(package: Package, size: int) -> str:
    """The control file; ``size`` is that of the installed files in bytes."""
    lines = [
        f"Package: {package.name}",
        f"Version: {package.version}",
        f"Architecture: {ARCHITECTURE}",
        f"Maintainer: {MAINTAINER}",
        f"Installed-Size: {-(-size // 1024)}",
        f"Depends: {', '.join(package.depends)}",
        *([f"Recommends: {', '.join(package.recommends)}"] if package.recommends else []),
        "Section: science",
        "Priority: optional",
        f"Description: {package.summary}",
        *(f" {line}" for line in textwrap.wrap(package.text, 76)),
    ]
    return "\n".join(lines) + "\n"


def copyright_file(licences: list[Licence], program: str) -> str:
    """The file ``copyright`` in Debian's machine-readable format: a paragraph for each part."""
    head = (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: {program}\n"
    )
    stars, texts = [], []
    for number, each in enumerate(licences):
        name = (
            each.short
            if each.short.isidentifier()
            else f"{each.short or each.name}-{number}".replace(" ", "-")
        )
        comment = f"Comment:\n{_indented(each.comment)}\n" if each.comment else ""
        files = "\n ".join(each.files)
        stars.append(f"Files: {files}\nCopyright: {each.holder}\nLicense: {name}\n{comment}")
        texts.append(f"License: {name}\n{_indented(each.text)}\n")
    return "\n".join([head, *stars, *texts])


def _indented(text: str) -> str:
    lines = [line.rstrip().expandtabs() for line in text.strip().splitlines()]
    return "\n".join(f" {line}" if line else " ." for line in lines)


def write_documents(folder: Path, package: Package, copyright_text: str, date: str) -> None:
    """Write what Debian's policy asks for in ``usr/share/doc``, and lintian's overrides."""
    doc = folder / "usr/share/doc" / package.name
    doc.mkdir(parents=True, exist_ok=True)
    (doc / "copyright").write_text(copyright_text, encoding="utf-8")
    change = (
        f"{package.name} ({package.version}) unstable; urgency=medium\n\n"
        "  * See CHANGELOG.md of the source.\n\n"
        f" -- {MAINTAINER}  {date}\n"
    )
    with (doc / "changelog.gz").open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(change.encode())
    rules = folder / "usr/share/lintian/overrides"
    rules.mkdir(parents=True, exist_ok=True)
    tags = OVERRIDES if package.name == "model-studio" else OVERRIDES_OF_FAST
    lines = [f"# {reason}\n{package.name}: {tag}\n" for tag, reason in tags.items()]
    (rules / package.name).write_text("".join(lines), encoding="utf-8")


def build(folder: Path, package: Package, target: Path, epoch: int, level: int) -> Path:
    """Write the package of the files in ``folder``, which belong to root, packed at ``level``."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    debian = folder / "DEBIAN"
    debian.mkdir()
    try:
        size = sum(path.stat().st_size for path in files)
        (debian / "control").write_text(control(package, size), encoding="utf-8")
        sums = subprocess.run(
            ["md5sum", *(path.relative_to(folder) for path in files)],
            cwd=folder, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        (debian / "md5sums").write_text(sums, encoding="utf-8")
        file = target / f"{package.name}_{package.version}_{ARCHITECTURE}.deb"
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-Zxz", f"-z{level}", "--build", folder, file],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
            stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    finally:
        shutil.rmtree(debian)
    return file
