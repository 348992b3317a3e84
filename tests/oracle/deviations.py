"""Where the engine deliberately differs from Paddle 2.6.2: the recorded call, and the reason.

Keys are ``FAMILY:NAME``; a call listed here must really differ. Not listed: where Paddle's internals raise
RuntimeError, OSError, AssertionError, ... for a wrong argument, the engine raises one of its own errors
(``accepted`` in compare.py).
"""

DEVIATIONS: dict[str, str] = {}
