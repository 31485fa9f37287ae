"""Many statements in one Lean module, and what Lean says about each; JAX functions as such statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from maskpool_verify import dims
from maskpool_verify.engine.protocol import Engine
from maskpool_verify.importer import import_program
from maskpool_verify.lean import syntax
from maskpool_verify.lean.readable import ReadableFunction, read_jaxpr, tensor_type
from maskpool_verify.lowering import lowered
from maskpool_verify.manifest import ArgumentSpec, Kernel
from maskpool_verify.program import Program
from maskpool_verify.tracing import Aval, FlatJaxpr, trace

HEADER = """module
{imports}
@[expose] public noncomputable section
open MaskPool
"""


def errors(
    engine: Engine, project: Path, modules: Mapping[str, Mapping[str, str]], imports: Sequence[str]
) -> dict[str, list[str]]:
    """The errors of every claim.

    Args:
        modules: for each module its claims, as Lean text by name; a name must not be in two modules.
    """
    owners: dict[str, list[tuple[int, str]]] = {}
    for module, claims in modules.items():
        text = HEADER.format(imports="\n".join(f"public import {name}" for name in imports))
        owners[module] = []
        for name, claim in claims.items():
            owners[module].append((text.count("\n") + 2, name))
            text += f"\n{claim}\n"
        file = project / (module.replace(".", "/") + ".lean")
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    results = engine.build(project, list(modules))
    found: dict[str, list[str]] = {name: [] for claims in modules.values() for name in claims}
    for module, starts in owners.items():
        assert results[module].status != "skipped", results[module].messages
        messages = [message for message in results[module].messages if message.severity == "error"]
        assert len(messages) < 100, f"{module}: Lean stops after 100 errors; make more modules of it"
        for message in messages:
            assert message.position is not None, message.text
            assert message.position.line >= starts[0][0], message.text
            owner = [name for line, name in starts if line <= message.position.line][-1]
            found[owner].append(message.text)
    return found


def parts(name: str, claims: Mapping[str, str], count: int) -> dict[str, dict[str, str]]:
    """``claims`` spread evenly over modules ``name1``, ``name2``, ..."""
    longest_first = sorted(claims, key=lambda claim: -len(claims[claim]))
    return {
        f"{name}{part + 1}": {claim: claims[claim] for claim in longest_first[part::count]}
        for part in range(count)
    }


@dataclass(frozen=True)
class Translated:
    """A JAX function, read twice."""

    flat: FlatJaxpr
    program: Program
    readable: ReadableFunction

    @property
    def names(self) -> list[str]:
        return [argument.name for argument in self.program.arguments]

    def types(self) -> dict[str, str]:
        """The type of every name in the readable function."""
        arguments = {name: tensor_type(aval) for name, aval in zip(self.names, self.flat.inputs, strict=True)}
        return {**arguments, **{line.name: line.type for line in self.readable.lines}}

    @property
    def symbols(self) -> tuple[str, ...]:
        """The sizes that are left open."""
        return self.program.symbols

    @property
    def binders(self) -> str:
        typed = zip(self.names, self.flat.inputs, strict=True)
        sizes = f"{{{' '.join(self.symbols)} : Nat}} " if self.symbols else ""
        return f"{{α : Type}} [Ops α] {sizes}" + " ".join(
            f"({name} : {tensor_type(aval)})" for name, aval in typed
        )

    @property
    def definition(self) -> str:
        """The readable function, called ``readable``."""
        lines = [f"def readable {self.binders} : {tensor_type(self.flat.output_aval)} :="]
        lines += [f"  share {line.name} : {line.type} := {line.value};" for line in self.readable.lines]
        return "\n".join([*lines, f"  {self.readable.result}"])

    def claim(self, label: str) -> str:
        """Program, function, and the theorem that they agree; the proof is the one in certificates."""
        return "\n".join(
            [
                f"namespace {label}",
                *(f"abbrev {name} : Dim := .var {number}" for number, name in enumerate(self.symbols)),
                f"def program : {syntax.kernel_type(self.program)} :=",
                *(f"  {line}" for line in syntax.equation_lines(self.program)),
                self.definition,
                f"theorem translation {self.binders} :",
                f"    program.eval (α := α) [{', '.join(self.symbols)}] ({', '.join([*self.names, '()'])}) =",
                f"      readable (α := α) {' '.join(self.names)} := by",
                "  unfold program readable Kernel.eval",
                "  translate_equations",
                f"end {label}",
            ]
        )

    def with_line(self, number: int, value: str) -> Translated:
        """The readable function with another value in a line."""
        lines = list(self.readable.lines)
        lines[number] = replace(lines[number], value=value)
        return replace(self, readable=ReadableFunction(tuple(lines), self.readable.result))


def flat(function: Callable[..., Any], *inputs: Aval) -> FlatJaxpr:
    return lowered(trace(function, inputs, label="Kernel", root=Path(__file__).parent))


def translated(function: Callable[..., Any], *inputs: Aval, names: Sequence[str] = ()) -> Translated:
    """Trace a function of any arguments, import it, and read it as a Lean function.

    ``names`` are those of the arguments, by default ``x0``, ``x1``, ...
    """
    jaxpr = flat(function, *inputs)
    names = names or [f"x{number}" for number in range(len(inputs))]
    arguments = tuple(
        ArgumentSpec(name=name, role="parameter", dtype=aval.dtype, shape=aval.shape)  # type: ignore[arg-type]
        for name, aval in zip(names, inputs, strict=True)
    )
    kernel = Kernel(
        name="test", function="test.py:f", spec="attention", rows="n", shapes=(), arguments=arguments
    )
    symbols = sorted({name for aval in inputs for size in aval.shape for name in dims.symbols(size)})
    program = import_program(jaxpr, kernel, {name: name for name in symbols}).program
    return Translated(jaxpr, program, read_jaxpr(jaxpr, names))
