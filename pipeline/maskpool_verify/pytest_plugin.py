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
from typing import TYPE_CHECKING, Any, Unpack

import pytest

from maskpool_verify.errors import MaskpoolError

if TYPE_CHECKING:
    from maskpool_verify.api import Argument, Described, EngineChoice, Report, StressReport
    from maskpool_verify.manifest import DType
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
        engine: EngineChoice = "auto",
        second_kernel: Mode = "auto",
        search_seconds: float | None = None,
        **described: Unpack[Described],
    ) -> Report:
        """Fail the test, with the counterexample if there is one, unless every property is proved.

        The arguments are those of :func:`maskpool_verify.api.verify`. Lean has to be installed
        (``maskpool-verify setup``); the first test that needs the library builds it, in a minute or two.
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
                engine=engine,
                second=second_kernel,
                search_seconds=seconds,
                **described,
            )
        except MaskpoolError as error:
            problem = str(error)
        else:
            if report.verdict == "verified":
                return report
            problem = text.to_text(report, width=text.WIDTH, colour=False, quiet=True)
        pytest.fail(problem, pytrace=False)

    def stress(
        self,
        function: Callable[..., Any],
        *,
        arguments: Mapping[str, Argument],
        dtypes: Sequence[DType] = (),
        quick: bool = True,
        budget: float = 60.0,
        seed: int = 0,
        **described: Unpack[Described],
    ) -> StressReport:
        """Fail the test if the compiled function, or its gradient, breaks a property on adversarial inputs.

        This is evidence and no proof. ``dtypes`` are float dtypes to run in besides those of ``arguments``;
        ``budget`` is in seconds; without ``quick`` there are large sizes too.
        """
        __tracebackhide__ = True
        from maskpool_verify import api  # noqa: PLC0415
        from maskpool_verify.formats import text  # noqa: PLC0415

        try:
            with api.kernel_of(function, arguments=arguments, **described) as kernel:
                manifest = api.Manifest(self.project / "maskpool.toml", (kernel,))
                report = api.stress(manifest, dtypes=dtypes, quick=quick, budget=budget, seed=seed)
        except MaskpoolError as error:
            problem = str(error)
        else:
            if report.exit_code == 0:
                return report
            problem = text.stress_to_text(report, width=text.WIDTH, colour=False, quiet=True)
        pytest.fail(problem, pytrace=False)


@pytest.fixture(scope="session")
def maskpool(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    """Proves properties of attention pooling kernels; see :class:`maskpool_verify.pytest_plugin.Verifier`."""
    cache = pytestconfig.cache  # there is none with -p no:cacheprovider
    return Verifier(cache.mkdir("maskpool") if cache else tmp_path_factory.mktemp("maskpool"))
