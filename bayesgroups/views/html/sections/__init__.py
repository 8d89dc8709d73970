"""The parts of the page: each function reads a report and gives plain data, which a template of the same name shows."""
