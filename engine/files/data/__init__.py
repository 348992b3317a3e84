"""Files of data sets: arrays that stay in their file and are read row by row, and archives."""
