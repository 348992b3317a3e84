"""QuantizationView: the report that the page Export shows, of an export just made or of files that stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from psygnal import Signal, SignalGroupDescriptor

if TYPE_CHECKING:
    from engine.quantization.report import QuantizationReport


@dataclass
class QuantizationView:
    """Plain values.

    ``prefix`` is that of the files that the report is about, ``run`` the folder of the run that they are of,
    empty where it is not known. ``message`` says why there is no report to show, or that one is being read.
    ``layer`` is the name of the chosen layer. ``images`` has the images (uint8) of changed answers by
    their place in the test data, as far as they are read; ``why_no_images`` says why there are none.
    """

    prefix: str = ""
    run: str = ""
    report: QuantizationReport | None = None
    loading: bool = False
    message: str = ""
    layer: str = ""
    why_no_images: str = ""
    images: dict[int, NDArray[np.uint8]] = field(default_factory=dict)

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()
    images_changed: ClassVar[Signal] = Signal()
