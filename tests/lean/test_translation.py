"""Lean accepts every right translation, and refuses every wrong one.

Both readings of a JAX function are independent code; a theorem compares them. Here the theorem has to go
through for every primitive and for random functions, and has to fail as soon as one of the two is changed.

Lean takes half a second and more for a theorem: a few that cover everything are tried always, and all of
them with ``-m slow``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from claims import Translated, errors, parts, translated
from primitives import CASES
from random_functions import random_function

from maskpool_verify import dims
from maskpool_verify.engine.protocol import Engine
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.importer import SUPPORTED_PRIMITIVES
from maskpool_verify.manifest import DType
from maskpool_verify.program import ArrayType, Equation, Program, Var

IMPORTS = ["MaskPool.Certificate.Translation"]
SEEDS = range(20)
OTHER = "maskpool: this equation of the program is not the one of the readable function"
EXTENTS = pytest.mark.parametrize(
    "every", [pytest.param(False, id="few"), pytest.param(True, id="all", marks=pytest.mark.slow)]
)
OTHER_RESULT = "maskpool: the program does not return what the readable function returns"


PRIMITIVES = {name: translated(case.function, *case.inputs) for name, case in CASES.items()}


def random_functions() -> Iterator[tuple[str, Translated]]:
    for seed in SEEDS:
        function, inputs = random_function(seed)
        yield f"random_{seed}", translated(function, *inputs)


FUNCTIONS = {**PRIMITIVES, **dict(random_functions())}


def by_name(x: Any) -> Any:
    """All functions of one number that the two readings tell apart by nothing but their names."""
    for name, case in PRIMITIVES.items():
        if [line.value for line in case.readable.lines] == [f"fun j => Ops.apply .{name} (x0 j)"]:
            x = CASES[name].function(x)
    return x


def uses(case: Translated) -> set[tuple[str, str]]:
    """The primitives of a function, each with the kind of numbers that it gives."""
    return {(e.primitive, e.result.dtype.rstrip("0123456789")) for e in case.program.equations}


def few_functions() -> dict[str, Translated]:
    """Some of the functions that use together what all of them use."""
    functions = {"by_name": translated(by_name, *CASES["sqrt"].inputs), **FUNCTIONS}
    # a theorem costs Lean about as much as five equations do
    costs = {name: 5 + len(case.readable.lines) for name, case in functions.items()}
    missing = set[tuple[str, str]]().union(*map(uses, functions.values()))
    few: dict[str, Translated] = {}
    while missing:
        name = max(functions, key=lambda name: len(uses(functions[name]) & missing) / costs[name])
        few[name] = functions[name]
        missing -= uses(functions[name])
    return few


def test_the_functions_use_every_primitive_and_every_dtype() -> None:
    equations = [e for case in FUNCTIONS.values() for e in case.program.equations]
    used = {equation.primitive for equation in equations}
    assert used | {"stop_gradient", "copy", "copy_p"} == set(SUPPORTED_PRIMITIVES)
    assert {e.result.dtype for e in equations} == set(get_args(DType))


def test_few_functions_use_what_all_of_them_use() -> None:
    few = few_functions()
    assert set().union(*map(uses, few.values())) == set().union(*map(uses, FUNCTIONS.values()))
    assert len(few) < len(FUNCTIONS) / 3


@EXTENTS
def test_both_readings_of_right_functions_agree_in_lean(
    every: bool, engine: WasmEngine, lean_project: Path
) -> None:
    functions = FUNCTIONS if every else few_functions()
    claims = {name: case.claim(name) for name, case in functions.items()}
    modules = parts(f"right{every}.translations", claims, 2)
    assert errors(engine, lean_project, modules, IMPORTS) == {name: [] for name in claims}


# -- wrong readable functions


def exchanges(line: str, pattern: str, replacement: str) -> Iterator[str]:
    """``line`` with the first match of ``pattern`` replaced, if that changes it."""
    changed = re.sub(pattern, replacement, line, count=1)
    if changed != line:
        yield changed


def exchanged_coordinates(case: Translated, line: str) -> Iterator[str]:
    """``line`` with two coordinates exchanged along axes of the same size, greater than one."""
    types = case.types()
    for read in re.finditer(r"(\w+) \(([^()]*), \(\)\)", line):
        if "⟨" in read[2]:
            continue
        shape = re.findall(r"\d+", types[read[1]].partition("[")[2])
        coordinates = read[2].split(", ")
        for a in range(len(shape)):
            for b in range(a):
                if shape[a] == shape[b] != "1" and coordinates[a] != coordinates[b]:
                    other = list(coordinates)
                    other[a], other[b] = other[b], other[a]
                    start, end = read.span(2)
                    yield line[:start] + ", ".join(other) + line[end:]


def wrong_values(case: Translated, number: int) -> Iterator[tuple[str, str]]:
    """Changes of one line of the readable function that leave it well typed, by what they change."""
    line = case.readable.lines[number].value
    for value in exchanged_coordinates(case, line):
        yield "coordinates", value
    simple = [
        ("branches", r"^((?:(?!inside).)*)then (.+) else (.+)$", r"\1then \3 else \2"),
        ("position", r"^((?:(?!inside).)*)\bj\.2\.1\.val", r"\1j.1.val"),
        ("position", r"^((?:(?!inside).)*)\bj\.1\.val", r"\g<1>0"),
        ("operands", r"Ops\.(sub|div|add|max|lt|le|eq) (\(.+\)) (\(.+\))$", r"Ops.\1 \3 \2"),
        ("comparison", r"Ops\.lt\b", "Ops.le"),
        ("comparison", r"Ops\.eq\b", "Ops.lt"),
        ("negation", r"!", ""),
        ("connective", r"&&", "||"),
        ("function", r"Ops\.(exp|tanh|neg|log)\b", "Ops.logistic"),
        ("function", r"Ops\.(add|mul|min)\b", "Ops.sub"),
        ("literal", r"Ops\.lit 1 ", "Ops.lit 2 "),
        ("literal", r"Ops\.lit \(-(\d+)\) (\d+)", r"Ops.lit \1 \2"),
        ("reduction", r"\bfsum\b", "fmax"),
        ("reduction", r"\bfmax\b", "fsum"),
        ("reduction", r"\bfany\b", "fall"),
        ("reduction", r"\bfall\b", "fany"),
        ("function", r"Ops\.apply \.\w+", "Ops.apply .sin"),
        ("operands", r"(\w+ j) ([-+*]) (\w+ j)$", r"\3 \2 \1"),
        ("operands", r"(max|min|Int\.tdiv) (\(.+\)) (\(.+\))$", r"\1 \3 \2"),
        ("comparison", r"decide \((.+) < ", r"decide (\1 ≤ "),
        ("comparison", r"decide \((.+) ([=≤]) ", r"decide (\1 < "),
        ("connective", r"\^\^", "||"),
        ("literal", r"Ops\.nan", "Ops.infinity true"),
        ("literal", r"Ops\.infinity true", "Ops.infinity false"),
        ("literal", r"Ops\.infinity false", "Ops.infinity true"),
        ("literal", r" - 3$", " - 4"),
        ("reduction", r"\bfmin\b", "fmax"),
        ("reduction", r"\bfprod\b", "fsum"),
        ("reduction", r"\bisum\b", "iprod"),
        ("reduction", r"\biprod\b", "isum"),
        ("reduction", r"\bimax\b", "imin"),
        ("reduction", r"\bimin\b", "imax"),
        ("reduction", r"cumulative( \.i32)? \.(sum|prod|min)", r"cumulative\1 .max"),
        ("reduction", r"cumulative \.max", "cumulative .min"),
        ("size", r"\bn - 1$", "n"),
        ("size", r"\bd \* n$", "d + n"),
        ("outside", r"else Ops\.lit 0 1$", "else Ops.lit 1 1"),
        ("outside", r"else false$", "else true"),
        ("format", r"Ops\.convert \.(\w+) \.(\w+)", r"Ops.convert .\2 .\1"),
    ]
    for change, pattern, replacement in simple:
        for value in exchanges(line, pattern, replacement):
            yield change, value
    if inside := re.search(r"inside : (.+?) < ", line):
        yield "position", line.replace(inside[1], f"{inside[1]} + 1")
    types = case.types()
    for name in dict.fromkeys(re.findall(r"\b[xt]\d+\b", line)):
        for other in list(types)[: len(case.names) + number]:
            if other != name and types[other] == types[name]:
                yield "variable", re.sub(rf"\b{name}\b", other, line, count=1)
                break


CHANGED = {
    name: case
    for name, case in PRIMITIVES.items()
    if name in ("sqrt", "erf_inv") or not any("Ops.apply" in line.value for line in case.readable.lines)
}
"""The functions that are changed: of those that differ in one name only, two."""


def wrong_readable_functions() -> dict[str, Translated]:
    """One wrong function for each primitive and each kind of change; conversions of results only once."""
    found: dict[str, Translated] = {}
    seen = set()
    for name, case in CHANGED.items():
        for number, line in enumerate(case.readable.lines):
            for change, value in wrong_values(case, number):
                if (line.value, change) not in seen:
                    seen.add((line.value, change))
                    found[f"wrong_{name}_{number}_{change}"] = case.with_line(number, value)
    return found


# -- wrong programs


def permuted(items: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Two neighbours exchanged, or the only item by its neighbour."""
    for a in range(1, len(items)):
        other = list(items)
        other[a - 1], other[a] = other[a], other[a - 1]
        yield tuple(other)
    if len(items) == 1:
        yield (items[0] + 1,)
        if items[0]:
            yield (items[0] - 1,)


def wrong_parameters(equation: Any) -> Iterator[dict[str, Any]]:
    for key in ("axes", "permutation", "broadcast_dimensions"):
        for other in permuted(getattr(equation, key, ())):
            yield {key: other}
    if equation.primitive == "squeeze":  # the order of the dimensions does not matter
        yield {"dimensions": (*equation.dimensions[:-1], equation.dimensions[-1] + 1)}
    for key in ("shape", "new_sizes"):
        if sizes := getattr(equation, key, ()):
            yield {key: (*sizes[:-1], dims.add(sizes[-1], 1))}
    for key in ("axis", "dimension"):
        if hasattr(equation, key):
            yield {key: getattr(equation, key) + 1}
    if equation.primitive == "rev":
        yield {"dimensions": (0,)}
    if equation.primitive == "slice":
        first, *rest = equation.start_indices
        yield {"start_indices": (dims.add(first, 1), *rest)}
    if equation.primitive == "dim_as_value":
        yield {"dim": dims.add(equation.dim, 1)}
    if equation.primitive == "dot_general":
        (left, right), (left_batch, right_batch) = equation.dimension_numbers
        for other in permuted(left):
            yield {"dimension_numbers": ((other, right), (left_batch, right_batch))}
        if left_batch:
            yield {"dimension_numbers": ((left_batch, right), (left, right_batch))}
            yield {"dimension_numbers": ((left, right_batch), (left_batch, right))}


_OTHER_PRIMITIVE = {
    "neg": "exp",
    "add": "mul",
    "sub": "add",
    "max": "min",
    "lt": "le",
    "gt": "lt",
    "ge": "gt",
    "eq": "ne",
    "and": "or",
    "reduce_sum": "reduce_max",
    "reduce_or": "reduce_and",
    "reduce_min": "reduce_prod",
    "reduce_prod": "reduce_min",
    "cumsum": "cummax",
    "cummax": "cummin",
    "sqrt": "rsqrt",
    "xor": "or",
}


def wrong_equations(equation: Any, types: Sequence[ArrayType]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fields of an equation that turn it into another one."""
    for fields in wrong_parameters(equation):
        yield "parameters", fields
    if equation.primitive in _OTHER_PRIMITIVE:
        yield "primitive", {"primitive": _OTHER_PRIMITIVE[equation.primitive]}
    if len(equation.operands) > 1:
        *first, x, y = equation.operands
        yield "operands", {"operands": (*first, y, x)}
    shape = equation.result.shape
    if shape:
        wider = equation.result.model_copy(update={"shape": (*shape[:-1], dims.add(shape[-1], 1))})
        yield "shape", {"result": wider}
    dtype = "float64" if equation.result.dtype != "float64" else "float32"
    yield "dtype", {"result": equation.result.model_copy(update={"dtype": dtype})}
    for place, operand in enumerate(equation.operands):
        if isinstance(operand, Var):
            others = [n for n in range(len(types)) if n != operand.index]
            same = [n for n in others if types[n] == types[operand.index]]
            number = (same or others or [len(types)])[0]  # the last is not defined yet
            operands = list(equation.operands)
            operands[place] = Var(var=number)
            yield "variable", {"operands": tuple(operands)}


def with_equation(program: Program, number: int, fields: dict[str, Any]) -> Program:
    """The program with another equation; nothing checks that it is well typed."""
    equations: list[Equation] = list(program.equations)
    equations[number] = equations[number].model_copy(update=fields)
    return program.model_copy(update={"equations": tuple(equations)})


EVERYWHERE = ("variable", "dtype", "shape", "operands")
"""Changes that nearly every equation admits: each primitive gets one of them, in turn."""


def wrong_programs() -> dict[str, Translated]:
    found: dict[str, Translated] = {}
    for turn, (name, case) in enumerate(CHANGED.items()):
        arguments = [argument.type for argument in case.program.arguments]
        wanted = {"parameters", "primitive", EVERYWHERE[turn % len(EVERYWHERE)]}
        for equation in case.program.equations[:1]:
            for number, (change, fields) in enumerate(wrong_equations(equation, arguments)):
                if change in wanted:
                    program = with_equation(case.program, 0, fields)
                    found[f"wrong_{name}_program_{number}_{change}"] = replace(case, program=program)
    return found


def shortest(wrong: dict[str, Translated], count: int) -> dict[str, Translated]:
    """The shortest claims of each kind of change."""
    kinds: dict[str, list[str]] = {}
    for name in sorted(wrong, key=lambda name: len(wrong[name].claim(name))):
        kinds.setdefault(name.rpartition("_")[2], []).append(name)
    return {name: wrong[name] for names in kinds.values() for name in names[:count]}


def refusals(
    wrong: dict[str, Translated], every: bool, folder: str, engine: Engine, project: Path
) -> dict[str, list[str]]:
    """What Lean says about wrong translations."""
    claims = {name: case.claim(name) for name, case in wrong.items()}
    return errors(engine, project, parts(f"{folder}{every}.translations", claims, 8 if every else 2), IMPORTS)


@EXTENTS
def test_every_wrong_readable_function_is_refused_by_the_theorem(
    every: bool, engine: WasmEngine, lean_project: Path
) -> None:
    wrong = wrong_readable_functions()
    assert {name.rpartition("_")[2] for name in wrong} == {
        "branches",
        "comparison",
        "connective",
        "coordinates",
        "format",
        "function",
        "literal",
        "negation",
        "operands",
        "outside",
        "position",
        "reduction",
        "size",
        "variable",
    }
    tried = wrong if every else shortest(wrong, 1)
    for name, found in refusals(tried, every, "readable", engine, lean_project).items():
        assert found, name
        assert all(OTHER in text or OTHER_RESULT in text for text in found), found


@EXTENTS
def test_every_wrong_program_is_refused(every: bool, engine: WasmEngine, lean_project: Path) -> None:
    wrong = wrong_programs()
    assert {name.rpartition("_")[2] for name in wrong} == {"parameters", "primitive", *EVERYWHERE}
    tried = wrong if every else shortest(wrong, 2)
    found = refusals(tried, every, "programs", engine, lean_project)
    assert [name for name in tried if not found[name]] == []
