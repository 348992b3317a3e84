"""Where the engine deliberately differs from Paddle 2.6.2: the recorded call, and the reason.

Keys are ``FAMILY:NAME``; a call listed here must really differ. Not listed: where Paddle's internals raise
RuntimeError, OSError, AssertionError, ... for a wrong argument, the engine raises one of its own errors
(``accepted`` in compare.py).
"""

DEVIATIONS: dict[str, str] = {
    "activation:log_softmax/wide": "Paddle cuts log_softmax off at -64; the engine gives the true value",
    "activation:selu/float64": (
        "Paddle rounds scale and alpha to float32 even for float64; the engine keeps them"
    ),
    "activation:hardsigmoid/float64": (
        "Paddle rounds slope and offset to float32 even for float64; the engine keeps them"
    ),
}
