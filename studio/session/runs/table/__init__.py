"""The table of runs: its columns, filter, order and rows as plain values."""
