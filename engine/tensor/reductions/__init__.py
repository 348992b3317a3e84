"""Functions along axes: sums and extremes, running ones, statistics."""
