"""The same small jobs in the engine and in other libraries, each run as a worker process (protocol.py)."""
