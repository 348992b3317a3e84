"""Random numbers: generators, the sequences they draw from, and their states."""
