"""Random and hostile inputs: each is answered rightly or refused in the words of the package."""
