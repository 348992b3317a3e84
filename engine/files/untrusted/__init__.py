"""Files that this installation did not write: read first by child processes with limits."""
