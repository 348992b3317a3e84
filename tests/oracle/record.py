"""Records what PaddlePaddle does: run with an interpreter that has paddlepaddle==2.6.2 and numpy<2.

    python tests/oracle/record.py [FAMILY ...]

Each family of ``cases/`` (all by default) is written to ``recorded/FAMILY.json``, one call a line.
A call that is meant to raise has ``raises`` in its name; any other exception stops the recording.
"""

import gzip  # noqa: F401 - importing it after paddle crashes paddle 2.6.2
import importlib
import json
import platform
import subprocess
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1])]


def record(family: str, progress: Path) -> None:
    import numpy as np
    import paddle

    from tests.oracle.scope import Scope

    warnings.simplefilter("ignore")
    paddle.disable_signal_handler()
    paddle.set_device("cpu")
    lines, wrong = [], []
    for name, code in importlib.import_module(f"tests.oracle.cases.{family}").CALLS.items():
        progress.write_text(name)
        raised: list[BaseException] = []
        with paddle.utils.unique_name.guard():
            try:
                result = Scope(paddle, raised).run(code)
            except TypeError as error:
                wrong.append(f"{name}: {error}")
                continue
        if bool(raised) != ("raises" in name):
            wrong.append(f"{name}: {str(raised[0])[:600] if raised else 'does not raise'}")
            continue
        for error in raised:  # to be read by who records: is it the one that was meant?
            said = str(error).strip().splitlines()
            print(f"  {name}: {result['raises']}: {said[-1][:120] if said else ''}")
        entry = json.dumps({"code": code, "result": result}, separators=(",", ":"))
        lines.append(f"  {json.dumps(name)}: {entry}")
    if wrong:
        sys.exit("\n".join([f"{family}: not recorded:", *wrong]))
    head = {"paddle": paddle.__version__, "numpy": np.__version__, "python": platform.python_version()}
    text = "".join(f" {json.dumps(k)}: {json.dumps(v)},\n" for k, v in head.items())
    body = ",\n".join(lines)
    path = HERE / "recorded" / f"{family}.json"
    path.write_text("{\n" + text + ' "calls": {\n' + body + "\n }\n}\n", encoding="utf-8")
    progress.unlink()
    print(f"{family}: {len(lines)} calls, {path.stat().st_size} bytes")


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        record(arguments[1], Path(arguments[2]))
        return 0
    families = arguments or sorted(p.stem for p in (HERE / "cases").glob("*.py"))
    failed = False
    for family in families:  # each in a process of its own: a wrong call may end Paddle's
        progress = HERE / "recorded" / f".{family}.progress"
        done = subprocess.run([sys.executable, __file__, "--one", family, str(progress)], check=False)
        if done.returncode:
            where = progress.read_text() if progress.exists() else "at the start"
            print(f"{family}: ended with {done.returncode} in: {where}", file=sys.stderr)
            progress.unlink(missing_ok=True)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
