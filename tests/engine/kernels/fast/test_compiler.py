"""Handles, the background thread, and the code cached on disk."""

import ctypes
import os
import subprocess
import sys
import threading

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.fast import compiler as compiler_module
from engine.kernels.fast import vectors as v
from engine.kernels.fast.compiler import Compiler
from engine.kernels.fast.object_cache import ObjectCache


def _answer(number):
    def build(module, name):
        frame = v.Frame(module, name)
        v.store(frame.builder, v.I64(number), frame.pointer(0))
        return frame.close()

    return build


def _result(handle):
    assert handle.wait(60)
    result = ctypes.c_int64()
    handle.call((ctypes.c_int64 * 1)(ctypes.addressof(result)), 0, 1)
    return result.value


def _refuse(module, name):
    raise AssertionError("the cache has this code")


def test_one_key_is_compiled_once():
    compiler = Compiler()
    first = compiler.function("a", _answer(41))
    assert compiler.function("a", _refuse) is first
    assert _result(first) == 41
    assert _result(compiler.function("b", _answer(42))) == 42
    assert not first.from_cache


def test_a_job_of_the_compiler_has_a_kernel_at_once():
    compiler, met = Compiler(), []
    compiler.submit(lambda: met.append(compiler.at_once("a", _answer(41))))
    later = compiler.at_once("b", _answer(42))
    assert [_result(handle) for handle in (*met, later)] == [41, 42]
    assert compiler.function("a", _refuse) is met[0]
    assert compiler.wait(60)


@pytest.fixture(autouse=True)
def _no_failure_before(monkeypatch):
    monkeypatch.setattr(compiler_module, "_logged", set())


def test_requests_that_fail_are_one_line_of_the_log(caplog):
    def fails():
        raise OSError("no room for\nthe library")

    def fails_otherwise():
        raise MemoryError("no room for another")

    compiler = Compiler()
    for each in (fails, fails, fails_otherwise):
        compiler.submit(each)
    assert _result(compiler.function("a", _answer(41))) == 41
    assert compiler.wait(60)
    assert [record.getMessage() for record in caplog.records] == [
        "kernels: one was not compiled, NumPy computes instead: OSError: no room for the library (a request)"
    ]
    caplog.clear()


def test_code_is_cached_for_the_next_process(tmp_path):
    folder = tmp_path / "kernels"
    _result(Compiler(ObjectCache(folder)).function("a", _answer(41)))
    again = Compiler(ObjectCache(folder)).function("a", _refuse)
    assert _result(again) == 41
    assert again.from_cache


@pytest.mark.parametrize(
    "change",
    [lambda c: c[:-1], lambda c: c[:99] + bytes([c[99] ^ 1]) + c[100:], lambda c: b"", lambda c: c[:20]],
)
def test_code_that_was_changed_is_compiled_anew(tmp_path, change):
    folder = tmp_path / "kernels"
    _result(Compiler(ObjectCache(folder)).function("a", _answer(41)))
    (file,) = folder.iterdir()
    file.write_bytes(change(file.read_bytes()))
    again = Compiler(ObjectCache(folder)).function("a", _answer(41))
    assert _result(again) == 41
    assert not again.from_cache
    assert _result(Compiler(ObjectCache(folder)).function("a", _refuse)) == 41


def test_code_of_another_key_is_not_taken(tmp_path):
    folder = tmp_path / "kernels"
    _result(Compiler(ObjectCache(folder)).function("a", _answer(41)))
    (file,) = folder.iterdir()
    cache = ObjectCache(folder)
    other = "0" * 64
    file.rename(folder / f"{other}.kernel")
    assert cache.read(other) is None
    assert not list(folder.iterdir())


def test_a_failure_is_logged_in_one_line(caplog):
    compiler = Compiler()

    def broken(module, name):
        raise ValueError("no such loop")

    handle = compiler.function("bad", broken)
    assert not handle.wait(60)
    assert handle.failed
    assert not compiler.function("bad", broken).wait(60)
    assert [r.getMessage() for r in caplog.records] == [
        "kernels: one was not compiled, NumPy computes instead: ValueError: no such loop (bad)"
    ]
    assert _result(compiler.function("good", _answer(1))) == 1


def test_without_a_thread_numpy_computes(caplog, monkeypatch):
    # Its first call finds no memory, before it can say that it has begun.
    monkeypatch.setattr(threading.Thread, "_bootstrap", lambda thread: threading._limbo.pop(thread))
    monkeypatch.setattr("resources.threads.SECONDS", 0.02)
    compiler = Compiler()
    compiler.submit(pytest.fail)
    handle = compiler.function("a", _answer(41))
    assert handle.failed
    assert not handle.wait(0)
    assert compiler.wait(0)
    assert [r.getMessage() for r in caplog.records] == [
        "kernels: one was not compiled, NumPy computes instead: MemoryError: the thread "
        "'kernel compiler' does not begin (the compiler's thread)"
    ]


def test_stopping_waits_for_running_compilations_and_drops_the_rest():
    compiler = Compiler()
    begun, go = threading.Event(), threading.Event()

    def slow():
        begun.set()
        go.wait(60)

    compiler.submit(slow)
    assert begun.wait(60)
    dropped = compiler.function("a", _answer(41))
    stopping = threading.Thread(target=compiler.stop)
    stopping.start()
    go.set()
    stopping.join(60)
    assert not stopping.is_alive()
    assert dropped.address is None


def test_a_process_may_end_while_kernels_are_compiled():
    code = (
        "from engine.kernels.fast import vectors as v\n"
        "from engine.kernels.fast.compiler import function\n"
        "def build(module, name):\n"
        "    frame = v.Frame(module, name)\n"
        "    return frame.close()\n"
        "for n in range(40): function(str(n), build)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


# -- the folder ----------------------------------------------------------------------------------------------
KEYS = [f"{n:064x}" for n in range(8)]


def test_the_least_recently_used_code_is_removed_first(tmp_path):
    cache = ObjectCache(tmp_path / "kernels", limit=4000)
    for n, key in enumerate(KEYS[:3]):
        cache.write(key, bytes(968))
        os.utime(cache.folder / f"{key}.kernel", (1000 + n, 1000 + n))
    assert cache.read(KEYS[0]) == bytes(968)  # now it is the newest
    cache.write(KEYS[3], bytes(968))
    assert len(list(cache.folder.iterdir())) == 4
    cache.write(KEYS[4], bytes(968))
    assert [n for n, key in enumerate(KEYS[:5]) if cache.read(key)] == [0, 3, 4]


def test_code_that_is_too_large_is_not_cached(tmp_path):
    cache = ObjectCache(tmp_path / "kernels")
    cache.write(KEYS[0], bytes(5 << 20))
    assert not list(cache.folder.iterdir())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of POSIX")
def test_the_folder_is_private(tmp_path):
    folder = tmp_path / "kernels"
    cache = ObjectCache(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    ObjectCache(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o770)
    with pytest.raises(PermissionError, match="others may write"):
        ObjectCache(folder)
    folder.chmod(0o700)
    cache.write(KEYS[0], b"code")
    (folder / f"{KEYS[0]}.kernel").chmod(0o666)
    assert cache.read(KEYS[0]) is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="links of POSIX")
def test_links_are_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "kernels").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotADirectoryError):
        ObjectCache(tmp_path / "kernels")
    cache = ObjectCache(tmp_path / "elsewhere")
    cache.write(KEYS[0], b"code")
    file = cache.folder / f"{KEYS[0]}.kernel"
    file.rename(tmp_path / "moved")
    file.symlink_to(tmp_path / "moved")
    assert cache.read(KEYS[0]) is None
