"""Questions put to tallies and reports."""
