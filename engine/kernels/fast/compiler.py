"""Compiles kernels with LLVM on a background thread, and caches their object code on disk.

:func:`function` gives a handle at once; its address is available when the compiler, or the cache, has
returned the code. A kernel that can't be compiled leaves one line in the log, and its caller stays with
NumPy.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.kernels.fast.target import target
from resources import compiling, threads

if TYPE_CHECKING:
    from engine.kernels.fast.object_cache import ObjectCache

PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
Build = Callable[[Any, str], Any]
Job = Callable[[], object]

_log = logging.getLogger(__name__)


_logged: set[str] = set()  # reasons; the first is logged, since what stops one kernel often stops all


def log_failure(error: Exception, what: str) -> None:
    """Log in one line that a kernel was not compiled. After the first failure of the process, only the log's
    debug level has further ones, each reason once."""
    reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    if reason in _logged:
        return
    level = logging.DEBUG if _logged else logging.WARNING
    _logged.add(reason)
    _log.log(level, "kernels: one was not compiled, NumPy computes instead: %s (%s)", reason, what[:200])


@cache
def available() -> bool:
    """Whether llvmlite, which compiles, is installed; :func:`load` says whether it can be used."""
    return find_spec("llvmlite") is not None


def load() -> str:
    """Load llvmlite; returns why it can't be used and what to do, or an empty text."""
    return _loaded() if available() else f"llvmlite is not installed; run: {compiling.INSTALL}"


@cache
def _loaded() -> str:
    try:
        import llvmlite.binding as llvm
        from llvmlite import ir  # noqa: F401 - the makers need it

        llvm.get_host_cpu_name()  # the library itself is loaded with its first function
    except Exception as error:  # a file is missing, damaged or of another system, or memory is short
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return f"llvmlite can't be loaded ({reason}); run: {compiling.REINSTALL}"
    return ""


@cache
def log_problem(why: str) -> None:
    """Log once that no kernel is compiled, and why."""
    _log.warning("kernels: NumPy computes: %s", why)


def _nothing() -> None:
    """The request has no answer that anything waits for."""


class Handle:
    """One kernel: ``address`` is None until it is compiled; ``call(args, begin, end)`` runs it then.

    ``failed`` is True where it never will be.
    """

    __slots__ = ("_done", "_owner", "address", "call", "failed", "from_cache", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        self.address: int | None = None
        self.call: Any = None
        self.failed = False
        self.from_cache = False
        self._done = threading.Event()
        self._owner: Any = None  # whose end would free the code

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is compiled, at most so long; whether it can be called."""
        self._done.wait(seconds)
        return self.address is not None

    def _finish(self, address: int | None, from_cache: bool, owner: Any) -> None:
        self._owner = owner
        if address is not None:
            self.call = PROTOTYPE(address)
            self.from_cache = from_cache
        self.failed = address is None
        self.address = address
        self._done.set()


class Compiler:
    """Turns descriptions of kernels into addresses, one after the other, on a thread that ends when idle."""

    def __init__(
        self, cache: ObjectCache | None = None, open_cache: Callable[[], ObjectCache | None] | None = None
    ) -> None:
        self.cache = cache
        self._open_cache = open_cache  # called in the thread, before its first kernel
        self._handles: dict[str, Handle] = {}
        self._waiting: deque[tuple[Job, Job]] = deque()  # what to do, and what to call where it is dropped
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._threadless = False
        self._machine: Any = None
        self._engine: Any = None

    def function(self, key: str, build: Build) -> Handle:
        """The kernel that ``build(module, name)`` writes; ``key`` names all that its code depends on.

        Sources of this folder and of ``kernels/steps``, CPU and release of llvmlite are added to ``key``.
        ``build`` is called in another thread, and only where the cache has no code for the key; it puts the
        function ``name`` into the ``llvmlite.ir.Module``.
        """
        with self._lock:
            found = self._handles.get(key)
            if found is None:
                found = self._handles[key] = Handle(key)
                self._append(partial(self._compile, found, build), partial(found._finish, None, False, None))
        return found

    def at_once(self, key: str, build: Build) -> Handle:
        """The same when the kernel is compiled, or never will be. A job in the compiler's thread compiles it
        itself: makers need its address in other kernels."""
        found = self.function(key, build)
        if threading.current_thread() is self._thread:
            self._compile(found, build)
        else:
            found.wait()
        return found

    def submit(self, job: Job, dropped: Job = _nothing) -> None:
        """Call ``job`` in the compiler's thread, after earlier requests; ``dropped`` where that fails or
        can't be: there is no memory for the thread, or the process exits."""
        with self._lock:
            self._append(job, dropped)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until no work is left, at most ``seconds``; returns whether none is."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return self._thread is None

    def stop(self) -> None:
        """Cancel waiting compilations and wait for running ones: the process exits."""
        with self._lock:
            thread = self._thread
            self._drop()
        if thread is not None:
            thread.join()

    def _append(self, job: Job, dropped: Job) -> None:
        self._waiting.append((job, dropped))
        if self._threadless:
            self._drop()
        elif self._thread is None:
            self._thread = threading.Thread(target=self._work, name="kernel compiler", daemon=True)
            try:
                threads.start(self._thread)
            except (MemoryError, RuntimeError) as error:  # NumPy computes from here on
                self._thread, self._threadless = None, True
                self._drop()
                log_failure(error, "the compiler's thread")

    def _drop(self) -> None:
        """Let those who wait know that nothing comes."""
        while self._waiting:
            self._waiting.popleft()[1]()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                job, dropped = self._waiting.popleft()
            try:
                job()
            except Exception as error:  # such as no memory for LLVM's library; later jobs run all the same
                log_failure(error, "a request")
                dropped()

    def _compile(self, handle: Handle, build: Build) -> None:
        if handle.address is not None or handle.failed:
            return  # a job needed it before
        address, from_cache = None, False
        try:
            address, from_cache = self._compiled(handle.key, build)
        except Exception as error:  # any error of the generator or LLVM: NumPy stays
            log_failure(error, handle.key)
        handle._finish(address, from_cache, self._engine)

    def _compiled(self, key: str, build: Build) -> tuple[int, bool]:
        import llvmlite.binding as llvm

        if self._engine is None:
            self._start()
        digest = hashlib.sha256(f"{key}\n{identity()}".encode()).hexdigest()
        name = f"kernel_{digest[:32]}"
        code = None if self.cache is None else self.cache.read(digest)
        from_cache = code is not None
        if code is None:
            code = self._object_code(build, name)
            if self.cache is not None:
                self.cache.write(digest, code)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        address = self._engine.get_function_address(name)
        if not address:
            raise RuntimeError(f"the code has no function {name}")
        return address, from_cache

    def _start(self) -> None:
        import llvmlite.binding as llvm

        if self._open_cache is not None:
            self.cache = self._open_cache()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()
        self._machine = _machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine)

    def _object_code(self, build: Build, name: str) -> bytes:
        code: bytes = self._machine.emit_object(_optimized(build, name, self._machine))
        return code


def _machine() -> Any:
    """LLVM's machine of the target."""
    import llvmlite.binding as llvm

    cpu = target()
    found = llvm.Target.from_triple(llvm.get_process_triple())
    return found.create_target_machine(cpu=cpu.cpu, features=cpu.features, opt=3, jit=True)


def _optimized(build: Build, name: str, machine: Any) -> Any:
    """LLVM's module with the function that ``build`` writes."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    module = ir.Module(name, context=ir.Context())
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    build(module, name)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False  # the vectors are written out
    with llvm.create_pass_builder(machine, options) as builder:
        passes = builder.getModulePassManager()
        passes.run(parsed, builder)
    return parsed


def assembly(build: Build) -> str:
    """The assembly of what ``build`` writes, for the target that is assumed at the moment."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = _machine()
    text: str = machine.emit_assembly(_optimized(build, "kernel", machine))
    return text


@cache
def identity() -> str:
    """All but a kernel's own key that its code depends on: the sources of this folder and of
    ``kernels/steps``, CPU, llvmlite, LLVM."""
    import llvmlite
    import llvmlite.binding as llvm

    sources = hashlib.sha256()
    here = Path(__file__).parent
    for folder in (here, here.parent / "steps"):
        for path in sorted(folder.rglob("*.py")):
            sources.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    version = ".".join(map(str, llvm.llvm_version_info))
    return "\n".join(
        (
            sources.hexdigest(),
            llvmlite.__version__,
            version,
            llvm.get_process_triple(),
            target().cpu,
            target().features,
        )
    )


_compiler: Compiler | None = None
_making = threading.Lock()


def compiler() -> Compiler:
    """The compiler of this process, with the cache in this person's folder."""
    global _compiler
    with _making:
        if _compiler is None:
            _compiler = Compiler(open_cache=_user_cache)
            atexit.register(_compiler.stop)
        return _compiler


def _user_cache() -> ObjectCache | None:
    from engine.kernels.fast.object_cache import user_cache  # not with the first plan

    return user_cache()


def function(key: str, build: Build) -> Handle:
    """The kernel of this process with that key; see :meth:`Compiler.function`."""
    return compiler().function(key, build)


def _forget() -> None:
    """A forked child has no compiling thread: it begins anew. Kernels that are compiled stay usable."""
    global _compiler, _making
    _compiler, _making = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
