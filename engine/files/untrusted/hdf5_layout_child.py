"""The child process that locates the datasets of an untrusted HDF5 file: a script that
engine.files.untrusted.hdf5_layout runs.

It reads one JSON request from standard input and writes one JSON answer. Only this process lets libhdf5 see
the file; the numbers themselves are read by the parent, from the places that this one names.
"""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import h5py


def main() -> None:
    """Look at the file of the request and write what is in it, or why it is refused."""
    request: dict[str, Any] = json.load(sys.stdin.buffer)
    sys.path.extend(request["folders"])
    for name in ("engine", "resources"):  # an empty package finds the modules below it
        package = types.ModuleType(name)
        package.__path__ = [str(Path(request["engine"]).with_name(name))]
        sys.modules[name] = package
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    import h5py
    import numpy as np  # noqa: F401  (before the limit on memory)

    from engine.files.untrusted.limits import limit_this_process

    limit_this_process(request["memory"], request["cpu_seconds"])
    answer: dict[str, Any]
    try:
        with h5py.File(request["path"], "r") as file:
            if file.userblock_size:
                answer = {"refused": "it has a user block, so it is a file of another program"}
            else:
                answer = {"datasets": datasets(file, request["most_objects"], request["most_chunks"])}
    except MemoryError:
        answer = {"refused": "looking into it takes more memory than its size explains"}
    except Exception as error:
        answer = {"refused": " ".join(str(error).split())[:300] or type(error).__name__}
    sys.stdout.write(json.dumps(answer))


def datasets(file: h5py.File, most_objects: int, most_chunks: int) -> list[dict[str, Any]]:
    """Every dataset that hard links lead to, with where its numbers lie."""
    import h5py

    found: list[dict[str, Any]] = []
    waiting: list[tuple[str, Any]] = [("", file)]
    seen = 0
    while waiting:
        path, group = waiting.pop()
        for name in group:
            seen += 1
            if seen > most_objects:
                raise ValueError(f"more than {most_objects} objects")
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                continue
            item = group[name]
            if isinstance(item, h5py.Dataset):
                found.append(describe(f"{path}{name}", item, most_chunks))
            elif isinstance(item, h5py.Group):
                waiting.append((f"{path}{name}/", item))
    return found


def describe(name: str, item: h5py.Dataset, most_chunks: int) -> dict[str, Any]:
    """One dataset as plain values; ``unusable`` says why its numbers can't be read."""
    plain = {"name": name, "shape": list(item.shape or ()), "dtype": item.dtype.str}
    if item.shape is None or item.dtype.kind not in "buifS":
        return {**plain, "unusable": f"not numbers but {item.dtype}"}
    if item.is_virtual or item.external:
        return {**plain, "unusable": "its numbers lie in other files"}
    pipeline = item.id.get_create_plist()
    filters = [pipeline.get_filter(number)[0] for number in range(pipeline.get_nfilters())]
    if item.chunks is None:
        offset = item.id.get_offset()
        return (
            {**plain, "offset": offset} if offset is not None else {**plain, "unusable": "it holds nothing"}
        )
    count = item.id.get_num_chunks()
    if count > most_chunks:
        return {**plain, "unusable": f"it lies in {count} pieces, over {most_chunks}"}
    chunks: list[list[int]] = []
    item.id.chunk_iter(
        lambda info: chunks.append([*info.chunk_offset, info.filter_mask, info.byte_offset, info.size])
    )
    return {**plain, "chunk": list(item.chunks), "filters": filters, "chunks": chunks}


if __name__ == "__main__":
    main()
