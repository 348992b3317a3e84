"""Child: one process of a model, from its start to its end."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import FormatError
from engine.core.models.limits import ENVIRONMENT, ModelLimits
from engine.files.untrusted import child as children
from engine.inference.wire import Message, Most, receive, send
from engine.kernels.cpu.threads import USERS_WORD

SCRIPT = Path(__file__).with_name("process_main.py")
# Where the child's user keeps the key that says which files are own, how many threads compute, and with which
# kernels: others round otherwise.
_VARIABLES = (
    "HOME",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "XDG_DATA_HOME",
    "WIN_PD_OVERRIDE_LOCAL_APPDATA",
    *USERS_WORD,
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "NPY_DISABLE_CPU_FEATURES",
)


class Child:
    """One process, from its start to its end."""

    def __init__(self, limits: ModelLimits | None, server: str) -> None:
        self.reason: str | None = None  # why this side ended it
        self._lock = threading.Lock()
        packages = ("numpy", "h5py", "platformdirs", "threadpoolctl", "engine")
        setup = {"folders": children.import_folders(*packages), "server": server}
        variables = children.environment(*_VARIABLES)
        if limits is not None:
            variables[ENVIRONMENT] = str(limits)
        try:
            self.process = subprocess.Popen(
                children.command(SCRIPT),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=variables,
                cwd=str(SCRIPT.parent),
                creationflags=children.NO_WINDOW,
            )
        except OSError as error:
            raise FormatError(
                f"model process: not started: {error}; close other programs, or repair the installation"
            ) from error
        # Nothing else waits for a process that is killed from outside between two requests.
        self._reaper = threading.Thread(target=self.process.wait, name="model-process-reaper", daemon=True)
        try:
            self._reaper.start()
            self._requests.write(json.dumps(setup).encode() + b"\n")
            self._requests.flush()
        except OSError:  # it is gone already, which the first answer will show
            pass
        except BaseException:
            self.end()
            raise

    @property
    def _requests(self) -> Any:
        return self.process.stdin

    def ask(
        self,
        request: dict[str, Any] | None,
        arrays: Sequence[np.ndarray[Any, Any]],
        seconds: float | None,
        most: Most,
    ) -> Message:
        """Send a request and wait for the answer; after ``seconds`` the process is ended."""
        timer = None
        if seconds is not None:
            timer = threading.Timer(seconds, self.stop, ("seconds",))
            timer.daemon = True
            timer.start()
        try:
            if request is not None:
                send(self._requests, request, arrays)
            answers: Any = self.process.stdout
            return receive(answers, most)
        finally:
            if timer is not None:
                timer.cancel()

    def stop(self, reason: str) -> None:
        """Kill the process; may be called from any thread. The first reason is the one that counts."""
        with self._lock:
            self.reason = self.reason or reason
            self.process.kill()

    def end(self) -> None:
        """Kill it if it is still there, and free what it held. Only by the thread that asks."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self.process.wait()
        if self._reaper.ident is not None:
            self._reaper.join()
