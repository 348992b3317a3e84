"""Names that users' files and scripts contain do not disappear; new ones may come."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.names import names_now, recorded_names


@pytest.mark.parametrize("own", ["own"], indirect=True)
def test_no_name_disappears(project: Path) -> None:
    now = names_now(project)
    gone = {
        what: sorted(missing)
        for what, names in recorded_names().items()
        if (missing := {*names} - {*now.get(what, [])})
    }
    assert gone == {}


def test_the_record_has_what_matters_most() -> None:
    names = recorded_names()
    assert {"kept", "taken", "replay"} <= {*names["keys of a Program's operator that have a value"]}
    assert {"format", "kind", "product", "version"} == {*names["HDF5 attributes"]}
    assert {"--resume", "--json", "--lr"} <= {*names["options of model-studio train"]}
    assert {"start", "export", "page_predict"} <= {*names["command ids"]}
    assert {"MODEL_STUDIO_DATA", "MODEL_STUDIO_KERNELS", "PADDLE_TRAINER_ID"} <= {
        *names["environment variables"]
    }
    assert sum(map(len, names.values())) > 1000
