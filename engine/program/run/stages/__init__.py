"""The stages that make a plan, one module each: choose, fuse, place, write."""
