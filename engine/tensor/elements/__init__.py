"""Reading, writing and arranging the elements of a tensor."""
