"""Only regular files are opened, without waiting, and no more of them is read than a limit."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from resources import regular_files
from resources.regular_files import (
    NotRegularError,
    open_regular,
    open_regular_text,
    path_problem,
    read_regular,
    read_regular_text,
)

posix = pytest.mark.skipif(os.name == "nt", reason="pipes and devices are files on POSIX")


def refusal(path: Path | str, **options: Any) -> str:
    with pytest.raises(OSError, match=r"not a |at most|it grew|became shorter") as caught:
        read_regular(path, **options)
    assert caught.value.filename == str(path)
    return str(caught.value.strerror)


@posix
def test_pipe_is_refused_without_waiting_or_waking_its_writer(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert refusal(pipe) == "a named pipe, not a regular file"
    (tmp_path / "link").symlink_to(pipe)
    assert refusal(tmp_path / "link") == "a named pipe, not a regular file"
    opened = threading.Event()

    def write() -> None:
        with pipe.open("wb"):
            opened.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(20):
            refusal(pipe)
        assert not opened.is_set()
    finally:
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        writer.join(10)
        os.close(reader)
    assert not writer.is_alive()


@posix
def test_device_socket_and_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "zero").symlink_to("/dev/zero")
    assert refusal(tmp_path / "zero") == "a device, not a regular file"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        assert refusal(tmp_path / "socket") == "a socket, not a regular file"
    with pytest.raises(NotRegularError, match="a folder, not a regular file"):
        open_regular(tmp_path)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="Linux shows its processes as files")
def test_files_of_the_kernel_are_refused() -> None:
    assert refusal("/proc/self/status") == "a file of the kernel, not a regular file"


@posix
def test_pipe_that_takes_the_name_of_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.write_bytes(b"x")
    os.mkfifo(pipe)
    real = os.open

    def swapped(path: str, *flags: int) -> int:
        os.replace(pipe, file)
        return real(path, *flags)

    monkeypatch.setattr(regular_files.os, "open", swapped)
    assert refusal(file) == "a named pipe, not a regular file"


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_regular(file, 5) == b"12345"
    assert refusal(file, limit=4) == "the file has 5 bytes, at most 4 are read"
    os.truncate(file, 1 << 40)  # takes no room on the disk
    assert "1,099,511,627,776 bytes, at most 10,000,000" in refusal(file)


@pytest.mark.parametrize(("to", "how"), [(9, "grew"), (2, "became shorter")])
def test_file_that_changes_its_length_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: int, how: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    opened = regular_files.open_regular

    class Changed:
        """The status of an open file, after which the file changes."""

        st_size = 5

    def changing(*given: Any) -> Any:
        stream = opened(*given)
        monkeypatch.setattr(regular_files.os, "fstat", lambda _: os.truncate(file, to) or Changed)
        return stream

    monkeypatch.setattr(regular_files, "open_regular", changing)
    assert refusal(file) == f"it {how} while it was read"


def test_text_has_the_ends_of_lines_that_python_reads(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes("a\r\nb\rc\n\u00e9".encode())
    assert read_regular_text(file) == file.read_text(encoding="utf-8") == "a\nb\nc\n\u00e9"
    with open_regular_text(file, newline="") as stream:
        assert stream.readline() == "a\r\n"


@posix
def test_problems_of_paths_are_words_of_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    found = [path_problem(tmp_path / name) for name in ("file", "pipe", ".", "none", "n" * 300, "a\0b")]
    missing = "does not exist"
    assert found[:2] == ["", "is a named pipe, not a regular file"]
    assert found[2:] == ["is a folder, not a regular file", missing, missing, missing]


def test_links_to_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link") == b"x"
