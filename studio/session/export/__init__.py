"""Export and quantization: view models, jobs and state, without Qt."""
