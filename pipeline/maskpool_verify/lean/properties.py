"""The theorems that a kernel of the manifest has to have, with their statements.

The list depends on the manifest alone: on the kernel's arguments, its shapes and its specification, never on
what certificates happen to contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from maskpool_verify.lean.names import binders, dotted
from maskpool_verify.lean.syntax import list_text
from maskpool_verify.manifest import ArgumentSpec, Kernel, Shape

Property: TypeAlias = Literal[
    "translation", "specification", "permutation", "masked_irrelevance", "all_masked", "padding"
]
PROPERTIES: tuple[Property, ...] = (
    "translation",
    "specification",
    "permutation",
    "padding",
    "masked_irrelevance",
    "all_masked",
)
ROOT = "certificates"
"""The directory of the generated files, and the first component of their module names and namespaces."""


def shape_name(shape: Shape) -> str:
    """``n4_d3`` for ``{"n": 4, "d": 3}``."""
    return "_".join(f"{symbol}{size}" for symbol, size in shape.items())


@dataclass(frozen=True)
class Theorem:
    """A theorem that has to exist.

    ``name`` are the components of its Lean name; ``module`` is the module that has to declare it;
    ``binders`` and ``conclusion`` are its statement; ``proves`` is the property; ``shape`` is the shape of
    the kernel, and ``padded_shape`` the larger one that a padding theorem relates it to; ``proof`` is the
    text after ``:=``.
    """

    name: tuple[str, ...]
    module: str
    proves: Property
    shape: Shape
    padded_shape: Shape | None
    binders: tuple[str, ...]
    conclusion: tuple[str, str]
    proof: str

    @property
    def dotted(self) -> str:
        """The Lean name, as Lean prints it: without the quotes that reserved words need in a source."""
        return ".".join(self.name)

    @property
    def statement(self) -> str:
        """The statement on one line."""
        left, right = self.conclusion
        return f"∀ {' '.join(self.binders)}, {left} = {right}"


def trace_module(kernel: Kernel, shape: Shape) -> str:
    """The module with the program at one shape."""
    return f"{ROOT}.{kernel.name}.{shape_name(shape)}"


def properties_module(kernel: Kernel) -> str:
    """The module with the theorems about the programs of a kernel."""
    return f"{ROOT}.{kernel.name}.properties"


def _prime(name: str) -> str:
    return f"{name[:-1]}'»" if name.endswith("»") else f"{name}'"


def _junk(name: str) -> str:
    return f"junk_{name.strip('«»')}"


def tensor(spec: ArgumentSpec, entries: str, shape: Shape) -> str:
    """``Tensor R [4, 3]``; ``entries`` is the type of the numbers."""
    return f"Tensor {'Bool' if spec.dtype == 'bool' else entries} {list_text(spec.sizes(shape))}"


@dataclass(frozen=True)
class Call:
    """The arguments of a kernel under their names as bound variables."""

    kernel: Kernel
    shape: Shape

    @property
    def arguments(self) -> tuple[tuple[ArgumentSpec, str], ...]:
        specs = self.kernel.arguments
        namespaces = [shape_name(shape) for shape in self.kernel.shapes]
        return tuple(zip(specs, binders((spec.name for spec in specs), namespaces), strict=True))

    def name(self, role: Literal["features", "logits", "mask"]) -> str:
        return next(name for spec, name in self.arguments if spec.role == role)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(name for spec, name in self.arguments if spec.role == "parameter")

    def binder(self, spec: ArgumentSpec, *names: str, brackets: str = "()") -> str:
        return f"{brackets[0]}{' '.join(names)} : {tensor(spec, 'R', self.shape)}{brackets[1]}"

    def binders(self, entries: str = "R") -> tuple[str, ...]:
        return tuple(f"({name} : {tensor(spec, entries, self.shape)})" for spec, name in self.arguments)

    def eval(self, *values: str, program: str = "program") -> str:
        """The program applied to ``values``, or to the arguments themselves."""
        inputs = values or tuple(name for _, name in self.arguments)
        return f"{program}.eval [] ({', '.join((*inputs, '()'))})"

    def values(self, **of_role: str) -> tuple[str, ...]:
        """The arguments, with those of some roles replaced; ``{}`` stands for the name."""
        return tuple(of_role.get(spec.role, "{}").format(name) for spec, name in self.arguments)

    @property
    def is_pool(self) -> str:
        """The proof that the program is attention pooling, for the present parameters."""
        return f"(isPool {' '.join(self.parameters)})" if self.parameters else "isPool"


def attention_theorems(kernel: Kernel) -> Iterator[Theorem]:
    """The theorems of a kernel whose specification is attention pooling."""
    for shape in kernel.shapes:
        call = Call(kernel, shape)
        namespace = (ROOT, kernel.name, shape_name(shape))
        module = properties_module(kernel)
        names = [name for _, name in call.arguments]
        logits, features, mask = call.name("logits"), call.name("features"), call.name("mask")
        rows = shape[kernel.rows]

        yield Theorem(
            (*namespace, "translation"),
            trace_module(kernel, shape),
            "translation",
            shape,
            None,
            ("{α : Type} [Ops α]", *call.binders("α")),
            (call.eval(), f"readable {' '.join(names)}"),
            "by\n  unfold program readable Kernel.eval\n  translate_equations",
        )
        real = "{R : Type} [RealArith R]"
        yield Theorem(
            (*namespace, "specification"),
            module,
            "specification",
            shape,
            None,
            (real, *call.binders()),
            (call.eval(), f"pool {logits} {features}.rows {mask}"),
            "by\n  funext i\n  rw [translation]\n  simp only [readable, shared]\n  mask_pool",
        )
        permuted = call.values(features="{}.permute σ", logits="{}.permute σ", mask="{}.permute σ")
        yield Theorem(
            (*namespace, "permutation"),
            module,
            "permutation",
            shape,
            None,
            (real, f"(σ : Fin {rows} ≃ Fin {rows})", *call.binders()),
            (call.eval(*permuted), call.eval()),
            f"{call.is_pool}.permutation σ {logits} {features} {mask}",
        )
        primed = call.values(features=_prime(features), logits=_prime(logits))
        agree = (
            f"(h_features : ∀ i, {mask} i = true → {features}.rows i = {_prime(features)}.rows i)",
            f"(h_logits : ∀ i, {mask} i = true → {logits} i = {_prime(logits)} i)",
        )
        yield Theorem(
            (*namespace, "masked_irrelevance"),
            module,
            "masked_irrelevance",
            shape,
            None,
            (
                real,
                *(
                    call.binder(
                        spec,
                        name,
                        *([_prime(name)] if spec.role in ("features", "logits") else []),
                        brackets="()" if spec.role == "parameter" else "{}",
                    )
                    for spec, name in call.arguments
                ),
                *agree,
            ),
            (call.eval(), call.eval(*primed)),
            f"{call.is_pool}.masked_irrelevance h_logits h_features",
        )
        yield Theorem(
            (*namespace, "all_masked"),
            module,
            "all_masked",
            shape,
            None,
            (real, *(call.binder(spec, name) for spec, name in call.arguments if spec.role != "mask")),
            (call.eval(*call.values(mask="fun _ => false")), "fun _ => 0"),
            f"{call.is_pool}.all_masked {logits} {features}",
        )
    for short, long in kernel.padding_pairs():
        call = Call(kernel, short)
        logits, features, mask = call.name("logits"), call.name("features"), call.name("mask")
        extra = {**short, kernel.rows: long[kernel.rows] - short[kernel.rows]}
        junk = tuple(
            f"({_junk(name)} : {tensor(spec, 'R', extra)})"
            for spec, name in call.arguments
            if spec.role in ("features", "logits")
        )
        padded = call.values(
            features=f"{features}.pad {_junk(features)}",
            logits=f"{logits}.pad {_junk(logits)}",
            mask=f"{mask}.pad (k := {extra[kernel.rows]}) fun _ => false",
        )
        below, above = shape_name(short), shape_name(long)
        of_parameters = "".join(f" {name}" for name in call.parameters)
        first, second = (
            f"({name}.isPool{of_parameters})" if of_parameters else f"{name}.isPool"
            for name in (below, above)
        )
        yield Theorem(
            (ROOT, kernel.name, f"padding_{below}_{above}"),
            properties_module(kernel),
            "padding",
            short,
            long,
            ("{R : Type} [RealArith R]", *call.binders(), *junk),
            (call.eval(*padded, program=f"{above}.program"), call.eval(program=f"{below}.program")),
            f"{first}.padding {second} {logits} {features} {mask} {_junk(logits)} {_junk(features)}",
        )


def theorems(kernel: Kernel) -> tuple[Theorem, ...]:
    """All theorems that the manifest asks for, in the order of their files."""
    return tuple(attention_theorems(kernel))


WIDTH = 110


def wrapped(parts: Sequence[str], first: str, indent: str) -> str:
    """``first`` and ``parts``, separated by spaces and broken into lines of at most ``WIDTH`` columns."""
    lines = [first]
    for part in parts:
        if len(lines[-1]) + 1 + len(part) <= WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(indent + part)
    return "\n".join(lines)


def declaration(theorem: Theorem) -> str:
    """The theorem as Lean source, without its namespace."""
    left, right = theorem.conclusion
    head = wrapped((*theorem.binders, ":"), f"theorem {dotted(theorem.name[-1])}", "    ")
    one_line = f"    {left} = {right} :="
    body = one_line
    if len(one_line) > WIDTH:
        shown = wrapped(re.split(r"(?<=,) ", f"{left} ="), "   ", "        ")
        body = f"{shown}\n      {right} :="
    if theorem.proof.startswith("by\n"):
        return f"{head}\n{body} {theorem.proof}"
    return f"{head}\n{body}\n  {theorem.proof}"
