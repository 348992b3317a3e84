"""Programs as plain values for files, and what is not believed of them."""
