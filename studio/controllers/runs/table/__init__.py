"""The page Runs: what fills its table."""
