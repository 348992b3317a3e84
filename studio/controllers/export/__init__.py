"""Export and quantization: joins view models to widgets."""
