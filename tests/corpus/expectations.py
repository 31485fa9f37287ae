"""The files of the corpus: ``corpus.toml`` and ``expectations.toml``, read without the product."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

CORPUS = Path(__file__).parent

Property: TypeAlias = Literal["specification", "permutation", "padding", "masked_irrelevance", "all_masked"]
PROPERTIES: tuple[Property, ...] = (
    "specification",
    "permutation",
    "padding",
    "masked_irrelevance",
    "all_masked",
)
INVARIANCES: tuple[Property, ...] = PROPERTIES[1:4]
"""What is claimed of a kernel with ``spec = "none"``."""

Axis: TypeAlias = str | int


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Argument(_Model):
    """An argument of a kernel, as in the manifest."""

    name: str
    role: Literal["features", "logits", "mask", "length", "parameter"]
    dtype: Literal["bool", "int32", "float16", "bfloat16", "float32", "float64"]
    shape: tuple[Axis, ...]


class Entry(_Model):
    """A kernel of the corpus, as in the manifest."""

    name: str
    function: str
    spec: Literal["attention", "none"]
    rows: Literal["n"]
    shapes: Literal["all"] | tuple[Literal["all"] | dict[str, int], ...]
    constraints: tuple[str, ...] = ()
    arithmetic: Literal["real", "extended"] = "real"
    arguments: tuple[Argument, ...]

    @property
    def theme(self) -> str:
        """The file of the kernel, without its extension."""
        return Path(self.function.split(":")[0]).stem

    @property
    def listed(self) -> tuple[dict[str, int], ...]:
        """The concrete shapes."""
        return () if self.shapes == "all" else tuple(s for s in self.shapes if isinstance(s, dict))

    @property
    def is_open(self) -> bool:
        """Whether the kernel is to be certified for all sizes."""
        return "all" in self.shapes

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of the shapes, in the order of their first appearance."""
        return tuple(dict.fromkeys(a for arg in self.arguments for a in arg.shape if isinstance(a, str)))

    @property
    def selection(self) -> Argument:
        """The mask, or the length."""
        return next(argument for argument in self.arguments if argument.role in ("mask", "length"))

    def having(self, *roles: str) -> tuple[Argument, ...]:
        """The arguments with these roles."""
        return tuple(argument for argument in self.arguments if argument.role in roles)

    @property
    def result_axes(self) -> tuple[Axis, ...]:
        """The axes of pooled features: those of the logits, then those of the features, without the rows."""
        outer = [axis for argument in self.having("logits") for axis in argument.shape if axis != self.rows]
        (features,) = self.having("features")
        return (*outer, *(axis for axis in features.shape if axis != self.rows and axis not in outer))

    @property
    def batch_axes(self) -> tuple[Axis, ...]:
        """Axes that tell bags apart: all arguments but the parameters have them.

        Without a named specification there is one bag.
        """
        if self.spec == "none":
            return ()
        shapes = [argument.shape for argument in self.arguments if argument.role != "parameter"]
        return tuple(axis for axis in self.result_axes if all(axis in shape for shape in shapes))

    def load(self) -> Callable[..., Any]:
        """The function."""
        file, name = self.function.split(":")
        function: Callable[..., Any] = getattr(module(file), name)
        return function


class Expectation(_Model):
    """What a kernel stands for, and what is to be found; see the head of the file."""

    verdict: Literal["verified", "refuted", "unproved", "unsupported"]
    practice: str
    breaks: tuple[Property, ...] = ()
    undefined: tuple[Property, ...] = ()
    floats: str | None = None


@cache
def module(file: str) -> ModuleType:
    """A file with kernels, named as in the manifest."""
    path = CORPUS / file
    spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def entries() -> tuple[Entry, ...]:
    """The kernels, in the order of the gallery."""
    tables = tomllib.loads((CORPUS / "corpus.toml").read_text(encoding="utf-8"))
    assert tables.keys() == {"kernel"}
    return tuple(map(Entry.model_validate, tables["kernel"]))


def expectations() -> dict[str, Expectation]:
    """The expectations by the names of the kernels."""
    tables = tomllib.loads((CORPUS / "expectations.toml").read_text(encoding="utf-8"))
    return {name: Expectation.model_validate(table) for name, table in tables.items()}
