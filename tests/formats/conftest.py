"""Reports to render."""

from __future__ import annotations

import pytest
from samples import corpus_report, hostile_report

from maskpool_verify.report import Report


@pytest.fixture(scope="session")
def corpus() -> Report:
    """Kernels of the corpus, one of each kind."""
    return corpus_report()


@pytest.fixture(scope="session")
def hostile() -> Report:
    """Names and messages full of what has a meaning in some format."""
    return hostile_report()


@pytest.fixture(params=["corpus", "hostile"])
def any_report(request: pytest.FixtureRequest) -> Report:
    """Both of them."""
    found: Report = request.getfixturevalue(request.param)
    return found
