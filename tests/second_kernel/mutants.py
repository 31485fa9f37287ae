"""Damages one place of a proof at a time, and asks the native kernel about it; prints what it says, as JSON.

Of these mutants no kernel may accept one:

- ``exchanged``: in ``f α a`` with ``f : {α : Sort u} → (a : α) → ..``, ``α`` and ``a`` change places. If
  ``f a α`` were well typed, then ``a : Sort v``, hence ``α = Sort v``; and ``α : a``, hence
  ``a = Sort (v + 1)``, which is not in ``Sort v``.
- ``absurd``: the statement becomes ``∀ p : Prop, p``.
- ``projection``: a projection to a field that the structure does not have.
- ``levels``: a constant with one universe too many.
- ``binder``: the type of a bound variable is a number.

Other mutants may be right: then the changed term, or one around it short of the whole proof, has to be equal
by definition to what it was.

- ``swapped``: two neighbouring arguments change places.
- ``raised``: a universe of a constant is one higher.
- ``crossed``: the types of two neighbouring bound variables change places.
- ``shifted``: a projection to the next field.
- ``replaced``: a constant becomes another one with as many universes and as many arguments.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from ctypes import c_void_p
from dataclasses import replace
from pathlib import Path

from maskpool_verify.audit import World
from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x
from maskpool_verify.olean import make_name, parse_name
from maskpool_verify.second_kernel.abi import BOX_0, Installation, Lean, locate
from maskpool_verify.second_kernel.kernel import Kernel, KernelError
from maskpool_verify.second_kernel.replay import Replay

ABSURD = x.Pi(make_name("p"), x.Sort(x.Zero()), x.BVar(0), x.DEFAULT)

Path_ = list[tuple[x.Expr, int]]  # from the outside: a term, and which of its children is next


def paths(root: x.Expr) -> dict[int, tuple[x.Expr, x.Expr | None, int]]:
    """For each subterm, by id: itself, and one place where it is."""
    found: dict[int, tuple[x.Expr, x.Expr | None, int]] = {id(root): (root, None, 0)}
    stack = [root]
    while stack:
        e = stack.pop()
        for i, child in enumerate(x.children(e)):
            if id(child) not in found:
                found[id(child)] = (child, e, i)
                stack.append(child)
    return found


def path_to(e: x.Expr, found: dict[int, tuple[x.Expr, x.Expr | None, int]]) -> Path_:
    path: Path_ = []
    while True:
        _, parent, i = found[id(e)]
        if parent is None:
            return path[::-1]
        path.append((parent, i))
        e = parent


def with_child(e: x.Expr, i: int, child: x.Expr) -> x.Expr:
    match e:
        case x.App():
            return replace(e, **{("function", "argument")[i]: child})
        case x.Lam() | x.Pi():
            return replace(e, **{("type", "body")[i]: child})
        case x.Let():
            return replace(e, **{("type", "value", "body")[i]: child})
        case x.MData() | x.Proj():
            return replace(e, expr=child)
        case _:
            raise AssertionError(e)


def put(path: Path_, e: x.Expr) -> x.Expr:
    for parent, i in reversed(path):
        e = with_child(parent, i, e)
    return e


def closed(path: Path_, e: x.Expr) -> x.Expr:
    """``e`` with the binders around it."""
    for parent, i in reversed(path):
        if isinstance(parent, x.Lam | x.Pi) and i == 1:
            e = x.Lam(parent.name, parent.type, e, x.DEFAULT)
        elif isinstance(parent, x.Let) and i == 2:
            e = replace(parent, body=e)
    return e


def exchanged(e: x.Expr, world: World) -> x.Expr | None:
    if not (
        isinstance(e, x.App) and isinstance(e.function, x.App) and isinstance(e.function.function, x.Const)
    ):
        return None
    constant = world.get(e.function.function.name)
    match constant and constant.type:
        case x.Pi(_, x.Sort(), x.Pi(_, x.BVar(0))):
            return swapped(e, world)
    return None


def swapped(e: x.Expr, _: World) -> x.Expr | None:
    if isinstance(e, x.App) and isinstance(e.function, x.App) and e.argument is not e.function.argument:
        return x.App(x.App(e.function.function, e.argument), e.function.argument)
    return None


def projection(e: x.Expr, world: World) -> x.Expr | None:
    if not isinstance(e, x.Proj):
        return None
    structure = world.get(e.structure)
    assert isinstance(structure, c.Inductive)
    ctor = world.get(structure.ctors[0])
    assert isinstance(ctor, c.Constructor)
    return replace(e, index=ctor.num_fields)


def levels(e: x.Expr, _: World) -> x.Expr | None:
    return replace(e, levels=(*e.levels, x.Zero())) if isinstance(e, x.Const) else None


def binder(e: x.Expr, _: World) -> x.Expr | None:
    return replace(e, type=x.Lit(0)) if isinstance(e, x.Lam) else None


def raised(e: x.Expr, _: World) -> x.Expr | None:
    if not isinstance(e, x.Const) or not e.levels:
        return None
    return replace(e, levels=(x.Succ(e.levels[0]), *e.levels[1:]))


def crossed(e: x.Expr, _: World) -> x.Expr | None:
    if isinstance(e, x.Lam) and isinstance(e.body, x.Lam) and not x.alike(e.type, e.body.type):
        return replace(e, type=e.body.type, body=replace(e.body, type=e.type))
    return None


def shifted(e: x.Expr, world: World) -> x.Expr | None:
    past_the_end = projection(e, world)
    if not isinstance(e, x.Proj) or not isinstance(past_the_end, x.Proj) or past_the_end.index < 2:
        return None
    return replace(e, index=(e.index + 1) % past_the_end.index)


def arity(type_: x.Expr) -> int:
    count = 0
    while isinstance(type_, x.Pi):
        type_, count = type_.body, count + 1
    return count


def replaced(constants: list[c.Constant]) -> Mutate:
    """Takes the next of the ``constants`` with as many universes and arguments."""
    kinds: dict[tuple[int, int], list[c.Constant]] = {}
    for constant in constants:
        kinds.setdefault((len(constant.level_params), arity(constant.type)), []).append(constant)

    def mutate(e: x.Expr, world: World) -> x.Expr | None:
        if not isinstance(e, x.Const) or (old := world.get(e.name)) is None:
            return None
        others = [k for k in kinds.get((len(e.levels), arity(old.type)), []) if k.name is not e.name]
        return replace(e, name=others[len(str(e.name)) % len(others)].name) if others else None

    return mutate


Mutate = Callable[[x.Expr, World], x.Expr | None]


def mutants(
    kind: Mutate | None, theorems: list[c.Theorem], world: World, rng: random.Random
) -> Iterator[tuple[c.Theorem, list[tuple[x.Expr, x.Expr]]]]:
    """Theorems with a damaged proof; and the damaged term before and after, then those around it, closed."""
    while True:
        theorem = rng.choice(theorems)
        if kind is None:
            yield replace(theorem, type=ABSURD), []
            continue
        found = paths(theorem.value)
        places = [(e, new) for e, _, _ in found.values() if (new := kind(e, world)) is not None]
        if places:
            old, new = rng.choice(places)
            path = path_to(old, found)
            around = [
                (closed(path[:i], put(path[i:], old)), closed(path[:i], put(path[i:], new)))
                for i in range(len(path), 0, -1)
            ]
            yield replace(theorem, value=put(path, new)), around


def equality(kernel: Kernel, installation: Installation) -> Callable[[x.Expr, x.Expr], bool]:
    """The kernel's test whether two closed terms are equal by definition."""
    lean, native = kernel.lean, ctypes.CDLL(str(installation.library))
    for name, count in (
        ("lean_kernel_is_def_eq", 4),
        ("lean_mk_empty_local_ctx", 1),
        ("lean_elab_environment_update_base_after_kernel_add", 3),
    ):
        function = getattr(native, name)
        function.restype, function.argtypes = c_void_p, [c_void_p] * count
    # it asks for an environment of the elaborator: the empty one, with the constants of this kernel
    empty = lean.field(lean.call("l_Lean_mkEmptyEnvironment")(0, BOX_0), 0)
    assert kernel._environment is not None
    any_ = kernel.terms.declaration(c.Axiom(make_name("any"), (), ABSURD, False))
    environment = lean.keep(
        native.lean_elab_environment_update_base_after_kernel_add(
            empty, lean.retain(kernel._environment), any_
        )
    )
    context = lean.keep(native.lean_mk_empty_local_ctx(BOX_0))

    def equal(old: x.Expr, new: x.Expr) -> bool:
        terms = [kernel.terms.expr(e) for e in (old, new)]
        result = native.lean_kernel_is_def_eq(environment, context, *terms)
        return lean.tag(result) == 1 and lean.field(result, 0) >> 1 == 1

    return equal


def main() -> None:
    own, library, modules, count, swaps = json.loads(sys.argv[1])
    world = World(Path(own), [Path(d) for d in library])
    installation = locate()
    lean = Lean(installation)
    kernel = Kernel(lean)
    replay = Replay(world, kernel)
    replay.add(map(parse_name, modules))
    replay.finish()
    theorems = [k for m in world.modules.values() if m.own for k in m.data if isinstance(k, c.Theorem)]
    theorems.sort(key=lambda k: str(k.name))
    declared = [k for m in world.modules.values() if m.own for k in m.data if isinstance(k, c.Definition)]
    kinds: dict[str, Mutate | None] = {
        "swapped": swapped,
        "raised": raised,
        "crossed": crossed,
        "shifted": shifted,
        "replaced": replaced([*theorems, *(k for k in declared if k.safety == "safe")]),
    }
    if not swaps:
        kinds = {
            "exchanged": exchanged,
            "absurd": None,
            "projection": projection,
            "levels": levels,
            "binder": binder,
        }
    equal = equality(kernel, installation) if swaps else None
    refused: Counter[str] = Counter()
    accepted: list[str] = []
    harmless: Counter[str] = Counter()
    rng = random.Random(8)
    for kind, mutate in kinds.items():
        for i, (mutant, around) in zip(range(count), mutants(mutate, theorems, world, rng), strict=False):
            name = make_name("mutant", kind, i)
            try:
                kernel.add(kernel.terms.declaration(replace(mutant, name=name, all=(name,))), trial=True)
            except KernelError:
                refused[kind] += 1
                continue
            if equal is not None and any(equal(old, new) for old, new in around):
                harmless[kind] += 1
            else:
                accepted.append(f"{kind} in {mutant.name}")
    print(json.dumps({"refused": refused, "accepted": accepted, "equal": harmless}))


if __name__ == "__main__":
    main()
