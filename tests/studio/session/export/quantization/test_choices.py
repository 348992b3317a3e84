"""What is typed of a quantization, where its files go, and the script that does it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.quantization.calibration import ALGORITHMS as THERE
from engine.quantization.calibration import FEWEST_BITS, MOST_BITS
from engine.quantization.calibration.weights import KINDS
from engine.quantization.options import ROUNDINGS
from resources.settings.quantize import FEWEST_BITS as FEWEST
from resources.settings.quantize import MOST_BITS as MOST
from resources.settings.quantize import QUANTIZE_SETTINGS
from studio.session.export.export_view import ExportViewModel
from studio.session.export.quantization.choices import QuantizeChoices
from studio.session.export.quantization.job import Quantize
from studio.session.project.session_script import SessionScript


def test_the_window_offers_what_the_engine_has() -> None:
    assert {name for name, _ in QUANTIZE_SETTINGS["algo"].choices} == set(THERE) - {"paddle_KL"}
    assert {name for name, _ in QUANTIZE_SETTINGS["weight_type"].choices} == set(KINDS)
    assert {name for name, _ in QUANTIZE_SETTINGS["rounding"].choices} == set(ROUNDINGS)
    assert (FEWEST, MOST) == (FEWEST_BITS, MOST_BITS)


def test_patterns_as_people_list_them() -> None:
    read = QUANTIZE_SETTINGS["skip"].parse
    assert read(" conv1, fc*\tfc* ,") == ("conv1", "fc*")
    assert read("") == ()
    with pytest.raises(ValueError, match=r"a bracket is not closed: got 'fc\[1'"):
        read("conv1 fc[1")


@pytest.mark.parametrize(("text", "points"), [("", None), (" 0.5 ", 0.5), ("0,5 %", 0.5), ("0", 0.0)])
def test_a_target_as_people_write_it(text: str, points: float | None) -> None:
    assert QUANTIZE_SETTINGS["target_drop"].parse(text) == points


@pytest.mark.parametrize("text", ["a lot", "-1", "101", "nan", "inf"])
def test_an_invalid_target_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be .*got .*; give e\.g\. 0\.5"):
        QUANTIZE_SETTINGS["target_drop"].parse(text)


def test_layers_that_a_pattern_names_are_not_named_again() -> None:
    chosen = QuantizeChoices(skip=("fc*",)).without(["fc1", "conv1", "conv1"])
    assert chosen.skip == ("fc*", "conv1")
    assert [chosen.skips(name) for name in ("fc9", "conv1", "conv2")] == [True, True, False]


def test_quantized_files_stand_next_to_those_in_float() -> None:
    view = ExportViewModel()
    view.choose_run("/runs/a")
    view.choose(method="post_training")
    assert Path(view.prefix).name == "model-int8"
    view.choose(weight_bits=4)
    assert Path(view.prefix).name == "model-int4"
    view.choose_run("/runs/b")
    assert view.prefix == str(Path("/runs/b/inference/model-int4"))
    view.prefix = str(Path(view.prefix).with_name("mine"))
    view.choose(method="none")
    assert Path(view.prefix).name == "mine"


def test_the_script_quantizes_again() -> None:
    script = SessionScript()
    chosen = QuantizeChoices(
        "qat", weight_bits=4, weight_type="abs_max", epochs=2, skip=("conv1", "fc*"), target_drop=0.5
    )
    script.record(Quantize("/runs/a", "/runs/a/inference/model-int4", "best", chosen))
    assert script.text().splitlines()[-1] == (
        '"$STUDIO" quantize /runs/a --qat --epochs 2 --target-drop 0.5 --weight-bits 4 '
        "--activation-bits 8 --weight-type abs_max --skip conv1 --skip 'fc*' --checkpoint best "
        '--out "$FOLDER"/exports/a/model-int4'
    )
