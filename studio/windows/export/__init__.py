"""Export and quantization: pages, panels and dialogs."""
