"""The fixture ``maskpool`` of pytest: a test that fails unless every property of a kernel is proved.

    def test_pool(maskpool):
        maskpool.verify(
            pool,
            arguments={
                "features": {"role": "features", "dtype": "float32", "shape": ["n", "d"]},
                "logits": {"role": "logits", "dtype": "float32", "shape": ["n"]},
                "mask": {"role": "mask", "dtype": "bool", "shape": ["n"]},
            },
        )

pytest loads this module whenever the package is installed, so JAX is imported only when a test needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from maskpool_verify.errors import MaskpoolError

if TYPE_CHECKING:
    from maskpool_verify.api import Argument, EngineChoice, Report
    from maskpool_verify.second_kernel import Mode


@dataclass(frozen=True)
class Verifier:
    """What the fixture ``maskpool`` gives. ``project`` keeps what Lean has built between runs."""

    project: Path

    def verify(
        self,
        function: Callable[..., Any],
        *,
        arguments: Mapping[str, Argument],
        rows: str = "n",
        spec: Literal["attention", "none"] = "attention",
        shapes: str | Sequence[str | Mapping[str, int]] = "all",
        result: Sequence[str | int] | None = None,
        engine: EngineChoice = "auto",
        second_kernel: Mode = "auto",
        search_seconds: float | None = None,
    ) -> Report:
        """Fail the test, with the counterexample if there is one, unless every property is proved.

        The arguments are those of :func:`maskpool_verify.api.verify`. Lean has to be installed
        (``maskpool-verify setup``); the first test that needs the library builds it, in about a minute.
        """
        __tracebackhide__ = True
        from maskpool_verify import api  # noqa: PLC0415  # JAX, only when it is needed
        from maskpool_verify.formats import text  # noqa: PLC0415

        seconds = api.SEARCH_SECONDS if search_seconds is None else search_seconds
        try:
            report = api.verify(
                function,
                arguments=arguments,
                project=self.project,
                rows=rows,
                spec=spec,
                shapes=shapes,
                result=result,
                engine=engine,
                second=second_kernel,
                search_seconds=seconds,
            )
        except MaskpoolError as error:
            problem = str(error)
        else:
            if report.verdict == "verified":
                return report
            problem = text.to_text(report, width=text.WIDTH, colour=False, quiet=True)
        pytest.fail(problem, pytrace=False)


@pytest.fixture(scope="session")
def maskpool(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    """Proves properties of attention pooling kernels; see :class:`maskpool_verify.pytest_plugin.Verifier`."""
    cache = pytestconfig.cache  # there is none with -p no:cacheprovider
    return Verifier(cache.mkdir("maskpool") if cache else tmp_path_factory.mktemp("maskpool"))
