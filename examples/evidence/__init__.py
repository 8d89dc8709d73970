"""Pages of evidence, made from records and from computations that run in seconds."""
