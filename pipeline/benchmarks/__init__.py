"""Measurements of the whole product: ``python -m benchmarks``, from a checkout. Results are in ``docs/``."""
