"""CSV files as tables: lines, columns, values, and the rows that a model is fed."""
