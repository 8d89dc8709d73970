"""Structured regression, model-based metrics and nested tests."""
