"""Functions on sparse tensors, COO and CSR; ``paddle.sparse`` has them under their public names."""

from engine.tensor.sparse import methods as methods
