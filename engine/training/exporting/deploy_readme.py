"""The README of a deployed folder: how its model is fed from Python, C++, JavaScript and OpenVINO."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from resources.settings.export import ExportSettings

_TEXT = """\
# {title}

{about}`model.onnx` predicts {predicts}. It runs in ONNX Runtime and in other programs that
read ONNX (opset 17).

## Python

    pip install numpy pillow onnxruntime
    python predict.py {sample}
    python predict.py --check

`predict.py` prepares {inputs} as in the training and prints a line of JSON for each sample. `--check`
compares the results for `{sample}` with those in `expected.json`: exit status 0 if they agree, 3 if they
differ, 1 if it failed.

## Input and output

- Input `{name}`: float32 {shape}{batch}. {values}
- Output `{output}`: float32, {outputs}, in the order of `labels.txt`.{scores}

## C++ (ONNX Runtime)

```cpp
#include <onnxruntime_cxx_api.h>

#include <vector>

int main() {{
    Ort::Env env;
    Ort::Session session(env, ORT_TSTR("model.onnx"), Ort::SessionOptions{{}});
    std::vector<float> values({count});  // fill these with a sample
    std::vector<int64_t> shape{{{sizes}}};
    auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    auto input = Ort::Value::CreateTensor<float>(
        memory, values.data(), values.size(), shape.data(), shape.size());
    const char* inputs[] = {{"{name}"}};
    const char* outputs[] = {{"{output}"}};
    auto results = session.Run(Ort::RunOptions{{nullptr}}, inputs, &input, 1, outputs, 1);
    const float* scores = results[0].GetTensorData<float>();
    return scores == nullptr;
}}
```

## JavaScript (onnxruntime-node; in a browser onnxruntime-web)

In Node.js, a file `NAME.mjs` next to the model; in a browser the name of the model is its address.

```js
import * as ort from "onnxruntime-node";

const session = await ort.InferenceSession.create("model.onnx");
const values = new Float32Array({count}); // fill these with a sample
const results = await session.run({{ "{name}": new ort.Tensor("float32", values, [{sizes}]) }});
console.log(results["{output}"].data);
```

## OpenVINO

```python
import numpy as np
import openvino as ov

model = ov.Core().compile_model("model.onnx", "CPU")
values = np.zeros(({sizes},), np.float32)  # fill these with a sample
print(model([values])[0])
```
"""


def readme(info: Mapping[str, Any], settings: ExportSettings, sample: str, output: str) -> str:
    """The text for a model with this information."""
    spec = info["data_spec"]
    shape = [int(size) for size in spec["shape"]]
    classes = spec["task"] == "classes"
    labels = spec["classes"] if classes else spec["targets"]
    about = [getattr(settings, name) for name in ("description",) if getattr(settings, name)]
    about += [f"{name.title()}: {getattr(settings, name)}." for name in ("author", "license")]
    lines = [line for line in about if not line.endswith(": .")]
    return _TEXT.format(
        title=settings.title or "A model",
        about="".join(f"{line}\n\n" for line in lines),
        predicts=f"one of {len(labels)} classes" if classes else ", ".join(labels),
        sample=sample,
        inputs={"images": "images", "table": "rows of CSV files"}.get(spec["kind"], "arrays (.npy, .npz)"),
        name=settings.input_name,
        output=output,
        shape=[1 if settings.fixed else "batch", *shape],
        batch=", always one sample" if settings.fixed else "",
        values=_values(spec),
        outputs=f"{len(labels)} {'scores' if classes else 'numbers'} for each sample",
        scores=" The largest score is the class; softmax gives probabilities." if classes else "",
        count=math.prod(shape),
        sizes=", ".join(map(str, [1, *shape])),
    )


def _values(spec: Mapping[str, Any]) -> str:
    """What the values of a sample are."""
    columns = [each for each in spec["columns"] if each["role"] == "input"]
    if spec["kind"] == "images":
        order = "red, green and blue" if spec["shape"][0] == 3 else "grey"
        return f"Values from 0 to 1, {order}, channels first; normalization is part of the model."
    if not columns:
        return "Values as in the training; normalization is part of the model."
    kinds = {"number": "a number", "date": "days since 1970-01-01"}
    rows = [
        f"\n  - `{each['name']}`: "
        + (
            "0 for any other word, else from 1: " + ", ".join(map(str, each["words"]))
            if each["words"]
            else kinds.get(each["type"], "a number")
        )
        for each in columns
    ]
    return "The columns in this order; normalization is part of the model." + "".join(rows)
