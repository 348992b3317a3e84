"""Plans as CUDA graphs: recorded once, then replayed."""
