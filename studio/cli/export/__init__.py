"""Export and quantization: commands."""
