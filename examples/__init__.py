"""Programs to read and run: the package at work, published results run again, comparisons."""
