"""References that tables of ``engine/ops/reductions`` share: results of operators, computed another way."""

from __future__ import annotations

import numpy as np

TIES = np.array([[1.0, 3.0, 3.0, 2.0], [2.0, 2.0, 1.0, 2.0]])


NAN = np.array([[1.0, np.nan, 3.0, 2.0], [4.0, 1.0, 2.0, 3.0]])
