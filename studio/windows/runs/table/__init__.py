"""The page Runs: the table of runs above the diagrams."""
