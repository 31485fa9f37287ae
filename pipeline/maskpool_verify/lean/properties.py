"""The theorems that a kernel of the manifest has to have, with their statements.

The list depends on the manifest alone: on the kernel's arguments, its shapes and its specification, never on
what certificates happen to contain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from maskpool_verify.lean import invariance, selection
from maskpool_verify.lean.bags import (
    EXTRA,
    OPEN,
    Bag,
    coordinate,
    entry,
    finite,
    hypothesis,
    index_text,
    junk,
    prime,
    shape_name,
)
from maskpool_verify.lean.lines import WIDTH, attempt, indented, wrapped
from maskpool_verify.lean.syntax import list_text
from maskpool_verify.manifest import ROW_ROLES, ArgumentSpec, Kernel, OptionalProperty, Role, Shape
from maskpool_verify.names import dotted

Property: TypeAlias = Literal[
    "translation",
    "instance",
    "specification",
    "permutation",
    "masked_irrelevance",
    "all_masked",
    "padding",
    "masked_irrelevance_any_arithmetic",
    "all_masked_any_arithmetic",
]
PROPERTIES: tuple[Property, ...] = (
    "translation",
    "instance",
    "specification",
    "permutation",
    "padding",
    "masked_irrelevance",
    "all_masked",
    "masked_irrelevance_any_arithmetic",
    "all_masked_any_arithmetic",
)
ROOT = "certificates"
"""The directory of the generated files, and the first component of their module names and namespaces."""

_NO_LAW = "maskpool: the checker of invariance has no law for the axes of this mask"

REAL = "{R : Type} [RealArith R]"
ANY = "{α : Type} [Ops α]"


@dataclass(frozen=True)
class Theorem:
    """A theorem that has to exist.

    ``name`` are the components of its Lean name; ``module`` is the module that has to declare it;
    ``binders`` and ``conclusion`` are its statement; ``proves`` is the property; ``shape`` is the shape of
    the kernel, and ``padded_shape`` the larger one that a padding theorem relates it to; ``proof`` is the
    text after ``:=``. One that is not ``required`` is tried, and a kernel without it can be verified.
    """

    name: tuple[str, ...]
    module: str
    proves: Property
    shape: Shape
    padded_shape: Shape | None
    binders: tuple[str, ...]
    conclusion: tuple[str, str]
    proof: str
    required: bool = True

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


def optional_module(kernel: Kernel) -> str:
    """The module with the theorems that a kernel need not have."""
    return f"{ROOT}.{kernel.name}.any_arithmetic"


def proved_module(module: str) -> str:
    """The module with those theorems of ``module`` that are proved, where others are not."""
    kernel, _, name = module.rpartition(".")
    return f"{kernel}.proved_{name}"


# -- the specification


@dataclass(frozen=True)
class Pooling:
    """The bag that a kernel pools, as the specification reads it.

    ``score_axes`` are the axes of the logits beside the rows, where the kernel computes them itself.
    """

    bag: Bag
    score_axes: tuple[str, ...] = ()

    @property
    def kernel(self) -> Kernel:
        return self.bag.kernel

    def row_shape(self) -> tuple[str | int, ...]:
        """The axes of the features of one instance."""
        kernel = self.kernel
        return tuple(a for a in kernel.features.shape if a != kernel.rows and a not in kernel.batch_axes)

    def row_coordinates(self) -> tuple[str, ...]:
        """Where row ``r`` of the features is read, for the index ``q`` of the result and ``j`` of a row."""
        kernel, own = self.kernel, self.row_shape()
        return tuple(
            "r.1"
            if axis == kernel.rows
            else coordinate("q", kernel.result_axes.index(axis))
            if axis in kernel.batch_axes
            else coordinate("j", own.index(axis))
            for axis in kernel.features.shape
        )

    def _own_score_axes(self) -> tuple[str, ...]:
        return tuple(axis for axis in self.score_axes if axis not in self.kernel.batch_axes)

    def score_type(self) -> str:
        """The type of the logit of one instance: a number, or one for each head."""
        axes = self._own_score_axes()
        return f"Tensor α {list_text([self.bag.shape[axis] for axis in axes])}" if axes else "α"

    def row(self, features: str) -> str:
        """The row ``r`` of a tensor of features, at the index ``q`` of the result."""
        if self.bag.is_plain:
            return f"({features}.rows r)"
        return f"(fun {'j' if self.row_shape() else '_'} => {entry(features, self.row_coordinates())})"

    def score(self, row: str) -> str:
        """``score`` applied to ``row`` and to the parameters, at the index ``q`` of the result."""
        kernel = self.kernel
        given = [
            row if spec.role == "features" else self.bag.name(spec)
            for spec in kernel.having("features", "parameter")
        ]
        applied = f"score {' '.join(given)}"
        axes = self._own_score_axes()
        at = [coordinate("q", kernel.result_axes.index(axis)) for axis in axes]
        return entry(applied, at) if axes else applied

    def value(self) -> str:
        """The right-hand side of the specification."""
        kernel, bag = self.kernel, self.bag
        logits, selection = kernel.argument("logits"), kernel.selection
        features = bag.name(kernel.features)
        row = "r" if bag.is_plain else f"r : Index [{bag.rows}]"
        if logits is None:
            weighed = f"(fun {row} => {self.score(self.row(features))})"
        elif bag.is_vector(logits):
            weighed = bag.name(logits)
        else:
            weighed = f"(fun {row} => {entry(bag.name(logits), bag.at(logits, 'r.1'))})"
        counts = entry(bag.name(selection), bag.at(selection, "r.1"))
        if selection.role == "length":
            mask = f"(fun r => decide ((r.1.val : Int) < {counts}))"
        else:
            mask = bag.name(selection) if bag.is_vector(selection) else f"(fun r => {counts})"
        read = entry(features, bag.at(kernel.features, "r.1"))
        pooled = f"fun q => pool {weighed} (fun r (_ : Unit) => {read}) {mask} ()"
        if bag.is_plain:
            pooled = f"pool {weighed} {features}.rows {mask}"
        if kernel.arithmetic == "real":
            return pooled
        axes = kernel.result_axes
        return finite(pooled, [bag.shape[axis] if isinstance(axis, str) else axis for axis in axes])


# -- the theorems


@dataclass(frozen=True)
class _Writer:
    """The theorems about a kernel at one shape; ``pooling`` is set if its specification is pooling."""

    bag: Bag
    pooling: Pooling

    @property
    def kernel(self) -> Kernel:
        return self.bag.kernel

    @property
    def is_extended(self) -> bool:
        """Whether the theorems are about infinities and NaN as well."""
        return self.kernel.arithmetic == "extended"

    @property
    def namespace(self) -> tuple[str, ...]:
        return (ROOT, self.kernel.name, shape_name(self.bag.shape))

    def theorem(
        self, name: str, proves: Property, binders: Sequence[str], conclusion: tuple[str, str], proof: str
    ) -> Theorem:
        law_free = proves in ("translation", "instance")
        module = trace_module(self.kernel, self.bag.shape) if law_free else properties_module(self.kernel)
        first = (ANY, *self.bag.sizes) if law_free else (REAL, *self.bag.sizes, *self.bag.hypotheses)
        return Theorem(
            (*self.namespace, name),
            module,
            proves,
            self.bag.shape,
            None,
            (*first, *binders),
            conclusion,
            proof,
        )

    def translation(self) -> Theorem:
        """The program is the readable function, over any arithmetic."""
        names = " ".join(self.bag.names.values())
        return self.theorem(
            "translation",
            "translation",
            self.bag.binders("α"),
            (self.bag.call(converted=False), f"readable {names}"),
            "by\n  unfold program readable Kernel.eval\n  translate_equations",
        )

    def instance(self) -> Theorem:
        """The program at one shape is the program for all sizes at these sizes, over any arithmetic."""
        sizes = f"[{', '.join(str(self.bag.shape[symbol]) for symbol in self.kernel.open_shape)}]"
        inputs = index_text(tuple(self.bag.names.values()))
        return self.theorem(
            "instance_of_symbolic",
            "instance",
            self.bag.binders("α"),
            (f"program.eval [] {inputs}", f"{OPEN}.program.eval {sizes} {inputs}"),
            f"by\n  rw [{OPEN}.translation]\n  unfold program {OPEN}.readable Kernel.eval"
            "\n  instance_equations",
        )

    def specification(self) -> Theorem:
        unfolded = ["readable", "shared"]
        if self.kernel.computes_logits:
            unfolded += ["score", "scores"]
        if any(s.dtype != "bool" for s in self.kernel.having("mask")):
            unfolded.append("Tensor.indicator")
        tactic = "extended_pool" if self.is_extended else "mask_pool"
        return self.theorem(
            "specification",
            "specification",
            self.bag.bound(),
            (self.bag.call(), self.pooling.value()),
            f"by\n  rw [translation]\n  tensor_ext\n  simp only [{', '.join(unfolded)}]\n  {tactic}",
        )

    # -- one bag in another order

    def permutation(self) -> Theorem:
        kernel, bag = self.kernel, self.bag
        batch = kernel.batch_axes
        rows = f"Fin {bag.rows} ≃ Fin {bag.rows}"
        bags = [f"Fin {bag.shape[axis]}" for axis in batch]
        order = f"(σ : {' → '.join([*bags, rows])})"

        def permuted(spec: ArgumentSpec) -> str:
            if not batch and spec.shape[0] == kernel.rows:
                return f"{bag.name(spec)}.permute σ"
            moved = bag.own(spec, f"{bag.order(spec.shape)} {bag.own_row(spec)}")
            return f"fun q => {entry(bag.name(spec), moved)}"

        own = bag.order(kernel.result_axes)
        rows_index = f"({own}).index" if batch else f"{own}.index"
        hypotheses: list[str] = []
        mask = "fun _ => rfl"
        if (length := kernel.argument("length")) is not None:
            read = entry(bag.name(length), bag.own(length, ""))
            index = f"(q : Index {list_text(length.sizes(bag.shape))}) " if length.shape else ""
            hypotheses.append(
                f"(h_valid : ∀ {index}(r : Fin {bag.rows}), "
                f"((({bag.order(length.shape)} r).val : Int) < {read}) ↔ (r.val : Int) < {read})"
            )
            point = f"{index_text(bag.at(length, ''))} " if length.shape else ""
            mask = f"fun r => decide_eq_decide.2 (h_valid {point}r.1).symm"
        lemma = f"pool_reorder {rows_index} (fun _ => rfl) (fun _ => rfl) ({mask})"
        proof = self._proof(invariance.permutation(bag), ".permutation", self._by_specification(lemma))
        return self.theorem(
            "permutation",
            "permutation",
            (order, *bag.bound(), *hypotheses),
            (bag.call(dict.fromkeys(ROW_ROLES, permuted)), bag.call()),
            proof,
        )

    def _proof(self, checked: str | None, law: str, by_specification: str) -> str:
        """The proof of an invariance: by the term ``checked`` if the checker accepts, else by tactics.

        Without a specification there is nothing but the checker, which is one for real numbers; if it refuses
        the law, Lean says where.
        """
        if self.is_extended:
            checked = None
        if self.kernel.spec == "none":
            if checked is None:
                return f'by\n  fail "{_NO_LAW}"'
            if (otherwise := invariance.first_difference(self.bag, law)) is None:
                return indented(checked, "  ")
            return attempt(checked, otherwise)
        if checked is None:
            return f"by\n  {indented(by_specification, '  ')}"
        return attempt(checked, by_specification)

    @property
    def _specification(self) -> str:
        """The specification, applied to the hypotheses on sizes."""
        return _applied("specification", self.bag.assumed)

    def _by_specification(
        self, lemma: str, specifications: tuple[str, str] | None = None, then: str = ""
    ) -> str:
        """Tactics that rewrite by the specification and apply a lemma about ``pool`` to each bag.

        ``then`` are tactics for what the lemma leaves open.
        """
        start = f"by_specifications {' '.join(specifications or (self._specification,) * 2)}"
        if self.is_extended:
            start += "\nrefine congrArg Tensor.finite ?_"
        step = "refine" if then else "exact"
        if self.bag.is_plain:
            return f"{start}\n{step} {lemma}{then}"
        return f"{start}\nfunext q\napply congrFun\n{step} {lemma}{then}"

    # -- what masked rows hold

    def _two_bags(self, numbers: str) -> tuple[tuple[str, ...], tuple[str, str]]:
        """Two bags that agree in the rows that count: their binders, and that they have the same result."""
        kernel, bag = self.kernel, self.bag
        changed = kernel.having("features", "logits")
        binders = []
        for spec in kernel.arguments:
            names = [bag.name(spec)] + ([prime(bag.name(spec))] if spec in changed else [])
            brackets = "()" if spec.role == "parameter" else "{}"
            typed = f"{' '.join(names)} : {bag.quantified(spec, numbers)}"
            binders.append(f"{brackets[0]}{typed}{brackets[1]}")
        primed: dict[Role, Callable[[ArgumentSpec], str]] = {
            role: lambda spec: prime(bag.name(spec)) for role in ("features", "logits")
        }
        return (*binders, *map(self._agreement, changed)), (bag.call(), bag.call(primed))

    def masked_irrelevance(self) -> Theorem:
        kernel, bag = self.kernel, self.bag
        changed = kernel.having("features", "logits")
        binders, conclusion = self._two_bags("R")
        checked = invariance.masked_irrelevance(bag, changed)
        if kernel.spec == "none":
            proof = self._proof(checked, ".irrelevance", "")
        else:
            logits = kernel.argument("logits")
            same_logit = self._point(logits, "hr") if logits is not None else self._same_score()
            free = "d" if bag.is_plain else "_"
            then = (
                f"\n· intro r hr; exact {same_logit}"
                f"\n· intro r hr {free}; exact {self._point(kernel.features, 'hr')}"
            )
            proof = self._proof(
                checked, ".irrelevance", self._by_specification("pool_congr _ _ _ ?_ ?_", then=then)
            )
        return self.theorem("masked_irrelevance", "masked_irrelevance", binders, conclusion, proof)

    def _condition(self, spec: ArgumentSpec) -> tuple[tuple[str, ...], str]:
        """When the entry ``q`` of an argument counts: further variables, and the condition."""
        kernel, bag = self.kernel, self.bag
        selection = kernel.selection
        own = {axis: coordinate("q", number) for number, axis in enumerate(spec.shape)}
        more = [axis for axis in selection.shape if isinstance(axis, str) and axis not in own]
        names = dict(zip(more, ("i", "j", "k", "l"), strict=False))
        read = entry(bag.name(selection), [own.get(axis) or names[str(axis)] for axis in selection.shape])
        binders = tuple(f"({name} : Fin {bag.shape[axis]})" for axis, name in names.items())
        row = bag.own_row(spec)
        return binders, f"{read} = true" if selection.role == "mask" else f"({row}.val : Int) < {read}"

    def _agreement(self, spec: ArgumentSpec) -> str:
        """``(h_x : ∀ q, mask (q.1, ()) = true → x q = x' q)``"""
        name = self.bag.name(spec)
        binders, condition = self._condition(spec)
        variables = " ".join((f"(q : Index {list_text(spec.sizes(self.bag.shape))})", *binders))
        return f"({hypothesis(name)} : ∀ {variables}, {condition} → {name} q = {prime(name)} q)"

    def _point(self, spec: ArgumentSpec, given: str, coordinates: Sequence[str] | None = None) -> str:
        """The hypothesis on ``spec`` at the coordinates where the specification reads it."""
        kernel, bag = self.kernel, self.bag
        whole_row = bag.is_plain and spec.role == "features"
        point = "(r.1, d)" if whole_row else index_text(coordinates or bag.at(spec, "r.1"))
        selection = kernel.selection
        more = [axis for axis in selection.shape if axis not in spec.shape]
        extra = "".join(f" {coordinate('q', kernel.result_axes.index(axis))}" for axis in more)
        condition = given if selection.role == "mask" else f"(of_decide_eq_true {given})"
        return f"{hypothesis(bag.name(spec))} {point}{extra} {condition}"

    def _same_score(self) -> str:
        """Rows that agree have the same logit."""
        pooling = self.pooling
        bound = "d" if self.bag.is_plain else "j"
        same = self._point(self.kernel.features, "hr", pooling.row_coordinates())
        return f"congrArg (fun row => {pooling.score('row')}) (funext fun {bound} => {same})"

    # -- bags without valid rows

    def all_masked(self) -> Theorem:
        kernel, bag = self.kernel, self.bag
        selection = kernel.selection
        proves: Property = "all_masked"
        zero = "Extended.finite 0" if self.is_extended else "0"
        if bag.is_plain and selection.role == "mask":
            empty = bag.call({"mask": lambda _: "fun _ => false"})
            return self.theorem(
                proves,
                proves,
                bag.bound(masks=False),
                (empty, f"fun _ => {zero}"),
                self._all_masked("Tensor.finite", "pool_all_masked _ _ _ fun _ => rfl"),
            )
        sizes = [bag.shape[axis] if isinstance(axis, str) else axis for axis in kernel.result_axes]
        index = f"(q : Index {list_text(sizes)})"
        if selection.role == "mask":
            read = entry(bag.name(selection), bag.at(selection, "r"))
            hypothesis = f"(h_mask : ∀ r, {read} = false)"
            masked = f"fun r : Index [{bag.rows}] => h_mask r.1"
        else:
            read = entry(bag.name(selection), bag.at(selection, ""))
            hypothesis = f"(h_length : {read} ≤ 0)"
            masked = f"fun _ : Index [{bag.rows}] => decide_eq_false (by omega)"
        lemma = f"pool_all_masked _ _ _ ({masked})"
        point = "q" if bag.is_plain else "()"
        return self.theorem(
            proves,
            proves,
            (*bag.bound(), index, hypothesis),
            (f"{bag.call()} q", zero),
            self._all_masked("Extended.finite", f"congrFun ({lemma}) {point}"),
        )

    # -- over any arithmetic

    def _optional(
        self,
        property_: OptionalProperty,
        facts: Sequence[str],
        binders: Sequence[str],
        conclusion: tuple[str, str],
        proof: str,
    ) -> Theorem:
        return Theorem(
            (*self.namespace, property_),
            optional_module(self.kernel),
            property_,
            self.bag.shape,
            None,
            (ANY, *facts, *self.bag.sizes, *binders),
            conclusion,
            proof,
            required=property_ in self.kernel.require,
        )

    def masked_irrelevance_any_arithmetic(self) -> Theorem:
        proof = selection.masked_irrelevance(self.bag)
        return self._optional("masked_irrelevance_any_arithmetic", (), *self._two_bags("α"), proof)

    def all_masked_any_arithmetic(self) -> Theorem:
        empty = self.bag.call({"mask": lambda _: "fun _ => false"})
        return self._optional(
            "all_masked_any_arithmetic",
            (selection.FACTS,),
            self.bag.bound("α", masks=False),
            (empty, "fun _ => Ops.lit 0 1"),
            selection.all_masked(self.bag),
        )

    def _all_masked(self, finite: str, lemma: str) -> str:
        """The proof by a lemma on ``pool``; ``finite`` makes its values numbers among infinities and NaN."""
        exact = f"congrArg {finite} ({lemma})" if self.is_extended else lemma
        return f"by\n  by_specification {self._specification}\n  exact {exact}"

    # -- further masked rows

    def padding(self, longer: Shape | None = None) -> Theorem:
        """The bag with further masked rows; ``longer`` is its shape where sizes are numbers."""
        kernel, bag = self.kernel, self.bag
        rows = kernel.rows
        if longer is None:
            extra, total, of = EXTRA, f"{bag.rows} + {EXTRA}", ""
        else:
            extra = str(int(longer[rows]) - int(bag.shape[rows]))
            total, of = str(longer[rows]), f"(m := {bag.rows}) (n := {extra}) "

        def padded(spec: ArgumentSpec) -> str:
            name = bag.name(spec)
            if spec.shape[0] == rows and spec.role != "mask":
                return f"{name}.pad {junk(name)}"
            if spec.shape[0] == rows and kernel.selection.shape == (rows,):
                return f"{name}.pad {'' if longer is None else f'(k := {extra}) '}fun _ => false"
            old = entry(name, bag.own(spec, "r"))
            new = "false" if spec.role == "mask" else entry(junk(name), bag.own(spec, "r"))
            bound = "_" if new == "false" else "r"
            return f"fun q => Fin.addCases {of}(fun r => {old}) (fun {bound} => {new}) {bag.own_row(spec)}"

        junk_rows = tuple(
            f"({junk(bag.name(spec))} : {bag.type(spec, 'R', **{rows: int(extra) if longer else extra})})"
            for spec in kernel.having("features", "logits")
        )
        hypotheses = []
        masks = "read_padded"
        if (length := kernel.argument("length")) is not None:
            index = f"∀ q, {bag.name(length)} q" if length.shape else f"{bag.name(length)} ()"
            hypotheses.append(f"(h_length : {index} ≤ {bag.rows})")
            point = f" {index_text(bag.at(length, ''))}" if length.shape else ""
            masks = f"(have := h_length{point}; read_padded)"
        if longer is None:
            name, above, below = (*self.namespace, "padding"), "", ""
        else:
            above, below = f"{shape_name(longer)}.", f"{shape_name(bag.shape)}."
            name = (ROOT, kernel.name, f"padding_{shape_name(bag.shape)}_{shape_name(longer)}")
        short_call = bag.call(program=f"{below}program")
        lengthened = bag.call(dict.fromkeys(ROW_ROLES, padded), program=f"{above}program", rows=total)
        specifications = (f"{above}specification", f"{below}specification")
        longer_hypotheses: tuple[str, ...] = ()
        if longer is None:
            longer_hypotheses, hold = self._padded_hypotheses(total)
            specifications = (_applied("specification", hold), self._specification)
        proof = self._proof(
            invariance.padding(bag, self._row_exists()),
            "(.padding true)" if self._row_exists() else ".padding",
            self._by_specification("pool_append ?_ ?_ ?_ ?_", specifications, f" <;> intro r <;> {masks}"),
        )
        sizes = bag.sizes
        if longer is None:
            sizes = (sizes[0].replace(" : Nat", f" {EXTRA} : Nat"),)
        return Theorem(
            name,
            properties_module(kernel),
            "padding",
            bag.shape,
            longer,
            (REAL, *sizes, *bag.hypotheses, *longer_hypotheses, *bag.bound(), *junk_rows, *hypotheses),
            (lengthened, short_call),
            proof,
        )

    def _padded_hypotheses(self, total: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The constraints on the sizes of the padded bag, with ``total`` rows.

        Returns those that do not follow from the constraints on the other bag, as binders, and how
        the specification of the padded bag is applied to proofs of all.
        """
        bag = self.bag
        rows = bag.rows
        binders, hold = [], []
        for name, constraint in bag.assumed.items():
            if rows not in constraint.symbols:
                hold.append(name)
            elif constraint.grows_with(rows):
                hold.append("(by omega)")
            else:
                hold.append(prime(name))
                binders.append(f"({prime(name)} : {constraint.lean({rows: total})})")
        if "(by omega)" in hold:
            sizes = {**bag.shape, self.kernel.rows: total}
            hold[:0] = [f"({bag.shape[symbol]} := {size})" for symbol, size in sizes.items()]
        return tuple(binders), tuple(hold)

    def _row_exists(self) -> str | None:
        """The proof that there is a row, if the constraints say so."""
        rows = self.bag.rows
        if not self.bag.is_open or not self.kernel.given.implies_positive(rows):
            return None
        return f"(show 0 < {rows} by omega)"


def _applied(theorem: str, arguments: Iterable[str]) -> str:
    """A theorem, applied to arguments if there are any, as an argument of a tactic."""
    given = " ".join((theorem, *arguments))
    return given if given == theorem else f"({given})"


def _theorems(kernel: Kernel, score_axes: tuple[str, ...]) -> Iterator[Theorem]:
    attention = kernel.spec == "attention"
    for shape in kernel.shapes:
        of_program = program_theorem(kernel, shape)
        yield of_program
        if of_program.proves == "instance":
            continue
        bag = Bag(kernel, shape)
        writer = _Writer(bag, Pooling(bag, score_axes))
        if attention:
            yield writer.specification()
        yield writer.permutation()
        if bag.is_open:
            yield writer.padding()
        yield writer.masked_irrelevance()
        if attention:
            yield writer.all_masked()
    for short, long in kernel.padding_pairs():
        bag = Bag(kernel, short)
        yield _Writer(bag, Pooling(bag, score_axes)).padding(long)
    yield from optional_theorems(kernel)


def program_theorem(kernel: Kernel, shape: Shape) -> Theorem:
    """The theorem about the program at one shape, over any arithmetic: what it is."""
    bag = Bag(kernel, shape)
    writer = _Writer(bag, Pooling(bag))
    return writer.instance() if kernel.is_open and not bag.is_open else writer.translation()


def optional_theorems(kernel: Kernel) -> Iterator[Theorem]:
    """The theorems over any arithmetic, which a kernel has to have only if the manifest requires them."""
    if kernel.optional_obstacle() is not None:
        return
    bag = Bag(kernel, kernel.open_shape)
    writer = _Writer(bag, Pooling(bag))
    yield writer.masked_irrelevance_any_arithmetic()
    if kernel.spec == "attention":
        yield writer.all_masked_any_arithmetic()


def theorems(kernel: Kernel, score_axes: tuple[str, ...] = ()) -> tuple[Theorem, ...]:
    """All theorems that the manifest asks for, in the order of their files.

    ``score_axes`` are the axes of logits that the kernel computes itself, beside the rows: they occur in
    statements, not in names.
    """
    return tuple(_theorems(kernel, score_axes))


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
