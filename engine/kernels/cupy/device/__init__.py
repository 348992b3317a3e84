"""The GPU itself: memory, streams, copies to it, recorded graphs."""
