"""What a network reaches: metrics, predictions, and the samples that are shown with them."""
