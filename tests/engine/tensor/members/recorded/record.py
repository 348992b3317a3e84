"""Records how PaddlePaddle prints tensors: run with an interpreter that has paddlepaddle==2.6.2 and numpy<2.

python tests/engine/tensor/members/recorded/record.py > tests/engine/tensor/members/recorded/printed.json
"""

import gzip  # noqa: F401 - importing it after paddle crashes paddle 2.6.2
import json
import sys

import numpy as np

CASES = {
    "scalar": "np.float32(2.5)",
    "whole": "np.array([1, 2, 3], 'float32')",
    "mixed": "np.array([[1, 2.5], [-3.25, 4]], 'float32')",
    "negative": "np.array([-1.5, -2, 0], 'float32')",
    "tiny": "np.array([1e-9, 1, 123456.789], 'float32')",
    "special": "np.array([np.nan, np.inf, -np.inf, 1.5], 'float32')",
    "integers": "np.array([[1, -20], [300, 4]])",
    "int32": "np.arange(3).astype('int32')",
    "booleans": "np.array([True, False])",
    "double": "np.linspace(0, 1, 4)",
    "three dimensions": "np.arange(24).reshape(2, 3, 4).astype('float32') / 7",
    "four dimensions": "np.arange(8).reshape(1, 2, 2, 2)",
    "long": "np.arange(40).astype('float32') / 3",
    "summary": "np.arange(2000).astype('float32')",
    "summary of a matrix": "np.arange(3000).reshape(50, 60)",
    "empty": "np.zeros((0,), 'float32')",
}

if __name__ == "__main__":
    import paddle

    printed = {name: str(paddle.to_tensor(eval(code))) for name, code in CASES.items()}
    json.dump(
        {"version": paddle.__version__, "numpy": np.__version__, "printed": printed}, sys.stdout, indent=1
    )
