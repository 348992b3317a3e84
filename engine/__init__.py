"""Model Studio's engine: deep learning with PaddlePaddle's programming model on NumPy and CuPy."""
