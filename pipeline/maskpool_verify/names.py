"""Lean identifiers for names that come from Python."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

# Reserved words of Lean 4.28 and of the library, as far as they are Python identifiers. Quoting one that is
# not reserved is harmless.
_KEYWORDS = frozenset(
    """
    Prop Sort Type abbrev add_decl_doc all assume at attribute axiom binder_predicate
    builtin_initialize by calc catch class coinductive constant declare_syntax_cat decreasing_by def
    deriving do elab elab_rules else end example exists export extends false finally for forall from
    fun generalizing have haveI hiding if import in include infix infixl infixr inductive init_quot
    initialize instance lambda let letI local macro macro_rules match matches meta module mut mutual
    namespace noncomputable nomatch nofun notation omit open opaque partial postfix prefix prelude
    private protected public quot raw reduce rec register_simp_attr renaming return run_cmd scoped
    section seal set_option share show sorry stop structure suffices syntax termination_by then
    theorem this true try unif_hint universe universes unless unsafe unseal using variable variables
    where while with
    """.split()  # noqa: SIM905 - a list of a hundred strings is not easier to read
)

# Names that the generated files use themselves, or open from the library.
_TAKEN = re.compile(
    r"t\d+|[ijkqrR]|program|readable|scores?|translation|specification|instance_of_symbolic|symbolic"
    r"|permutation|padding|masked_irrelevance|all_masked|extra|row|certificates|true|false|decide|inside\d*"
    r"|floordiv|mod|Bool|Fin|Int|Nat|Unit|Index|Dim|Kernel|Ops|RealArith|Tensor|all|max|min|exp|log|tanh|logistic"
    r"|fsum|fmin|fprod|fmax|fdot|fany|fall|isum|iprod|imax|imin|[fi]cumulative"
    r"|pool|shared|fill|valuation|weight|mass|f16|bf16|f32|f64|i32|i64|bool"
)
# The padding rows of an argument ``x`` are called ``junk_x``, and a hypothesis about it ``h_x``.
_PREFIXES = ("junk_", "h_")


def identifier(name: str) -> str:
    """``name`` as one component of a Lean name."""
    return f"«{name}»" if name in _KEYWORDS else name


def symbol_names(names: Iterable[str]) -> tuple[str, ...]:
    """Distinct names in Lean for sizes that are left open.

    A name that is taken gets a trailing underscore; one that begins like those of padding rows or of
    hypotheses gets ``size_`` in front.
    """
    return _distinct(names, "size_", _KEYWORDS)


def binders(names: Iterable[str], taken: Collection[str] = ()) -> tuple[str, ...]:
    """Distinct names of bound variables for the arguments ``names`` of a kernel.

    A name that the generated files use for something else, or that is in ``taken``, gets a trailing
    underscore; one that begins like those of padding rows or of hypotheses gets ``arg_`` in front.
    """
    return tuple(map(identifier, _distinct(names, "arg_", taken)))


def _distinct(names: Iterable[str], prefix: str, taken: Collection[str]) -> tuple[str, ...]:
    result: list[str] = []
    for name in names:
        candidate = f"{prefix}{name}" if name.startswith(_PREFIXES) else name
        while _TAKEN.fullmatch(candidate) or candidate in taken or candidate in result:
            candidate += "_"
        result.append(candidate)
    return tuple(result)


def dotted(*components: str) -> str:
    """A Lean name."""
    return ".".join(map(identifier, components))
