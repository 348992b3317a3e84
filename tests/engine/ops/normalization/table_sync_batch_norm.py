"""Rows of the operators in ``engine/ops/normalization/sync_batch_norm.py``, in a process alone.

Results of several processes are checked in tests/engine/distributed/parallel_ranks.py.
"""

from __future__ import annotations

from tests.engine.ops.case import Case, row
from tests.engine.ops.normalization.table_batch_norm import (
    batch_norm,
    batch_norm_grad,
    norm_grad_sample,
    norm_sample,
)

CASES: list[Case] = [
    *row("sync_batch_norm", batch_norm, norm_sample(4, 3), norm_sample(2, 2, 2, 3, data_layout="NHWC"),
         norm_sample(2, 3, 2, is_test=True), grads="x scale bias", through=(0,)),
    *row("sync_batch_norm_grad", batch_norm_grad, norm_grad_sample(4, 3), norm_grad_sample(2, 2, 2, 2),
         norm_grad_sample(2, 3, 2, is_test=True))
]
