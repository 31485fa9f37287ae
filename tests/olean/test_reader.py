"""The reader, on files that are right and on files that lie."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from olean_forge import GITHASH, KIND_EXTENSION, VERSION, Writer, save, shape, three_parts

from maskpool_verify.engine.protocol import Engine
from maskpool_verify.errors import AuditError
from maskpool_verify.olean import ModuleData, OleanError, decode, load, make_name, parse_name
from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x
from maskpool_verify.olean.image import Image

LAYOUTS = [(4, False), (8, True), (4, True), (8, False)]  # pointer size, numbers as in GMP
PROP = x.Sort(x.Zero())
N = make_name("n")

names = st.lists(st.text(max_size=3) | st.integers(0, 10), max_size=3).map(lambda p: make_name(*p))
levels = st.recursive(
    st.builds(x.Zero) | st.builds(x.Param, names) | st.builds(x.LevelMVar, names),
    lambda u: st.builds(x.Succ, u) | st.builds(x.Max, u, u) | st.builds(x.IMax, u, u),
    max_leaves=4,
)
naturals = st.integers(0, 5) | st.integers(2**29, 2**34) | st.integers(2**61, 2**200)
exprs = st.recursive(
    st.one_of(
        st.builds(x.BVar, naturals),
        st.builds(x.FVar, names),
        st.builds(x.MVar, names),
        st.builds(x.Sort, levels),
        st.builds(x.Const, names, st.lists(levels, max_size=2).map(tuple)),
        st.builds(x.Lit, naturals | st.text(max_size=4)),
    ),
    lambda e: st.one_of(
        st.builds(x.App, e, e),
        st.builds(x.Lam, names, e, e, st.integers(0, 3)),
        st.builds(x.Pi, names, e, e, st.integers(0, 3)),
        st.builds(x.Let, names, e, e, e, st.booleans()),
        st.builds(x.MData, e),
        st.builds(x.Proj, names, naturals, e),
    ),
    max_leaves=12,
)
params = st.lists(names, max_size=2).map(tuple)
head = (names, params, exprs)
rules = st.lists(st.builds(c.Rule, names, naturals, exprs), max_size=2).map(tuple)
heights = st.none() | st.just(-1) | st.integers(0, 2**32 - 1)
safeties = st.sampled_from(["unsafe", "safe", "partial"])
flags = st.booleans()
constants = st.one_of(
    st.builds(c.Axiom, *head, flags),
    st.builds(c.Definition, *head, exprs, heights, params, safeties),
    st.builds(c.Theorem, *head, exprs, params),
    st.builds(c.Opaque, *head, exprs, params, flags),
    st.builds(c.Quot, *head, st.sampled_from(["type", "mk", "lift", "ind"])),
    st.builds(c.Inductive, *head, naturals, naturals, params, params, naturals, flags, flags, flags),
    st.builds(c.Constructor, *head, names, naturals, naturals, naturals, flags),
    st.builds(c.Recursor, *head, params, naturals, naturals, naturals, naturals, rules, flags, flags),
)


def axiom(name: str, type_: x.Expr = PROP) -> c.Axiom:
    return c.Axiom(parse_name(name), (), type_, False)


# -- right files


@given(st.lists(constants, max_size=4, unique_by=lambda k: id(k.name)), st.sampled_from(LAYOUTS))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_is_read(items: list[c.Constant], layout: tuple[int, bool]) -> None:
    writer = Writer(*layout)
    (module,) = decode([writer.end(writer.module(items, imports=[make_name("Init")]))])
    assert [shape(k) for k in module] == [shape(k) for k in items]
    assert [(i.module, i.exported) for i in module.imports] == [(make_name("Init"), True)]
    assert (module.header.lean_version, module.header.githash) == (VERSION, GITHASH)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_three_parts_share_their_objects(layout: tuple[int, bool], tmp_path: Path) -> None:
    writer, statement = Writer(*layout), x.Pi(N, PROP, PROP, 0)
    name = make_name("t")
    theorem = c.Theorem(name, (), statement, PROP, (name,))
    exported = c.Axiom(name, (), statement, False)
    kinds = {make_name(*KIND_EXTENSION): [writer.pair(name, 2 * 1 + 1)]}
    files = three_parts(
        writer,
        lambda: writer.module([exported], entries=kinds),
        lambda: writer.module([exported]),
        lambda: writer.module([theorem]),
    )
    parts = load(save(tmp_path, "A.B", files))
    assert [p.get(name).kind for p in parts if p.get(name)] == ["axiom", "axiom", "theorem"]  # type: ignore[union-attr]
    assert all(p.agrees(name, parts[2]) for p in parts)
    assert parts[0].original_kinds == {name: "theorem"}
    assert parts[0].get(make_name("other")) is None


def test_sharing_is_kept() -> None:
    e: x.Expr = PROP
    for _ in range(200):  # a tree of 2^200 nodes
        e = x.App(e, e)
    writer = Writer()
    (module,) = decode([writer.end(writer.module([axiom("a", e)]))])
    (constant,) = module
    assert sum(1 for _ in x.subterms(constant.type)) == 201
    assert x.alike(constant.type, e)


def test_library_of_the_embedded_lean(engine: Engine, tmp_path: Path) -> None:
    (library,) = engine.artifacts(tmp_path).library
    (core,) = load(library / "Init" / "Core.olean")
    assert core.header.lean_version == engine.info().lean_version
    assert core.header.githash == engine.info().githash
    assert core.is_module
    propext = core.get(make_name("propext"))
    assert isinstance(propext, c.Axiom)
    a, b = make_name("a"), make_name("b")
    iff = x.App(x.App(x.Const(make_name("Iff"), ()), x.BVar(1)), x.BVar(0))
    equal = x.App(x.Const(make_name("Eq"), (x.Succ(x.Zero()),)), PROP)
    statement = x.Pi(a, PROP, x.Pi(b, PROP, x.Pi(N, iff, x.App(x.App(equal, x.BVar(2)), x.BVar(1)), 0), 1), 1)
    assert x.alike(propext.type, statement)
    assert not x.alike(propext.type, x.Pi(a, PROP, PROP, 0))
    assert core.original_kinds[parse_name("Iff.symm")] == "theorem"
    kinds = {constant.kind for constant in core}
    assert kinds >= {"axiom", "definition", "inductive", "constructor", "recursor"}


def meaning(e: x.Expr) -> object:
    """A term without names of bound variables, binder infos, annotations."""
    match e:
        case x.MData(inner):
            return meaning(inner)
        case x.Lam(_, t, b) | x.Pi(_, t, b):
            return type(e), meaning(t), meaning(b)
        case x.Let(_, t, v, b):
            return type(e), meaning(t), meaning(v), meaning(b)
        case x.App(f, a):
            return type(e), meaning(f), meaning(a)
        case x.Proj(structure, index, inner):
            return type(e), structure, index, meaning(inner)
    return shape(e)


@given(exprs, exprs)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_alike(a: x.Expr, b: x.Expr) -> None:
    assert x.alike(a, b) == (meaning(a) == meaning(b))
    for whole in (a, x.Pi(N, a, x.App(a, x.MData(b)), 0)):
        writer = Writer()
        (module,) = decode([writer.end(writer.module([axiom("a", whole)]))])
        assert all(x.alike(k.type, whole) for k in module)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (x.Const(N, ()), x.Const(make_name("m"), ())),
        (x.Const(N, (x.Zero(),)), x.Const(N, (x.Succ(x.Zero()),))),
        (x.Const(N, ()), x.Const(N, (x.Zero(),))),
        (x.Lam(N, PROP, PROP, 0), x.Pi(N, PROP, PROP, 0)),
        (x.Proj(N, 0, PROP), x.Proj(N, 1, PROP)),
        (x.Proj(N, 0, PROP), x.Proj(make_name("m"), 0, PROP)),
        (x.Lit(1), x.Lit("1")),
        (x.BVar(0), x.BVar(1)),
        (x.Sort(x.Max(x.Zero(), x.Param(N))), x.Sort(x.IMax(x.Zero(), x.Param(N)))),
    ],
)
def test_not_alike(a: x.Expr, b: x.Expr) -> None:
    assert not x.alike(a, b)
    assert not x.alike(x.App(PROP, a), x.App(PROP, b))


# -- headers

GOOD = Writer().end(0)


def changed(offset: int, data: bytes) -> Callable[[bytes], bytes]:
    return lambda file: file[:offset] + data + file[offset + len(data) :]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: b"", "not an .olean file"),
        (changed(0, b"OLEAN"), "not an .olean file"),
        (lambda f: f[:90], "cut off"),
        (changed(5, b"\3"), "header version 3"),
        (changed(6, b"\2"), "flags 0x2"),
        (changed(7, b"4.29.0\0"), "written by Lean 4.29.0, expected 4.28.0 or 4.28.0-pre"),
        (changed(7, b"4.\n\0\0\0\0"), "malformed header"),
        (changed(7, b"4.28.0\0x"), "malformed header"),
        (changed(40, b"\xff"), "malformed header"),
        (changed(80, b"\1"), "outside of the file"),
        (changed(84, b"\0\0\0\0"), "outside of the file"),
        (lambda f: f + b"\0", "impossible size"),
    ],
)
def test_headers_are_checked(damage: Callable[[bytes], bytes], message: str, tmp_path: Path) -> None:
    writer = Writer()
    path = save(tmp_path, "A", [damage(writer.end(writer.module()))])
    with pytest.raises(OleanError, match=message) as error:
        load(path)
    assert error.value.path == path
    assert str(path) in str(error.value)
    assert isinstance(error.value, AuditError)


def test_only_accepted_versions_are_read() -> None:
    writer = Writer(version="4.35.0")
    file = writer.end(writer.module())
    with pytest.raises(OleanError, match=r"4\.35\.0"):
        decode([file])
    assert decode([file], versions={"4.35.0"})[0].header.lean_version == "4.35.0"


def test_files_of_different_modules_are_refused() -> None:
    first, second = Writer(), Writer()
    one, two = first.end(first.module()), second.end(second.module())
    with pytest.raises(OleanError, match="not of one module"):
        decode([one, two])


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(OleanError, match="cannot be read"):
        load(tmp_path / "A.olean")


# -- objects


def root(writer: Writer, make: Callable[[Writer], int]) -> Callable[[], list[ModuleData]]:
    file = writer.end(make(writer))
    return lambda: decode([file])


def with_type(writer: Writer, address: int) -> int:
    """A module with an axiom whose type is the object at this address."""
    val = writer.constructor(0, writer.name(N), 1, address)
    constant = writer.constructor(0, writer.constructor(0, val, scalars=b"\0"))
    empty = writer.array([])
    return writer.constructor(
        0, empty, writer.array([writer.name(N)]), writer.array([constant]), empty, empty, scalars=b"\1"
    )


def later(writer: Writer) -> int:
    """An application of itself to itself."""
    address = writer.base + len(writer.data)
    return writer.constructor(5, address, address, scalars=b"\0" * 8)


BAD_TYPES: dict[str, Callable[[Writer], int]] = {
    "refers to a later one": later,
    "leads outside": lambda w: 0,
    "leads outside of": lambda w: 3,
    "in place of an expression": lambda w: w.constructor(12, 1, scalars=b"\0" * 8),
    "malformed expression of kind 5": lambda w: w.constructor(5, 1, scalars=b"\0" * 8),
    "malformed expression of kind 0": lambda w: w.constructor(0, 1),
    "enumeration value 4": lambda w: w.constructor(
        7, 1, w.expr(PROP), w.expr(PROP), scalars=b"\0" * 8 + b"\4"
    ),
    "in place of a level": lambda w: w.constructor(3, w.string("u"), scalars=b"\0" * 8),
    "kind 249 with 0 fields in place of 1": lambda w: w.constructor(4, w.string("a"), 1, scalars=b"\0" * 8),
    "in place of a number": lambda w: w.constructor(0, w.string("1"), scalars=b"\0" * 8),
    "too large": lambda w: w.constructor(0, w.nat(2**9000), scalars=b"\0" * 8),
    "not UTF-8": lambda w: w.constructor(
        9, w.constructor(1, w.object(249, 0, w._words(2, 2, 1) + b"\xff\0")), scalars=b"\0" * 8
    ),
    "not as long": lambda w: w.constructor(
        9, w.constructor(1, w.object(249, 0, w._words(2, 2, 7) + b"a\0")), scalars=b"\0" * 8
    ),
    "larger than the file": lambda w: w.constructor(
        9, w.constructor(1, w.object(249, 0, w._words(2**31, 2, 7) + b"a\0")), scalars=b"\0" * 8
    ),
    "negative": lambda w: w.constructor(
        9, w.constructor(0, w.object(250, 0, w._words(1, 1, w.base + 100))), scalars=b"\0" * 8
    ),
    "digits of a number are outside": lambda w: w.constructor(
        9, w.constructor(0, w.object(250, 0, w._words(0, 1, 0))), scalars=b"\0" * 8
    ),
}


@pytest.mark.parametrize("message", BAD_TYPES)
@pytest.mark.parametrize("pointer", [4, 8])
def test_malformed_terms(message: str, pointer: int) -> None:
    read = root(Writer(pointer), lambda w: with_type(w, BAD_TYPES[message](w)))
    with pytest.raises(OleanError, match=message) as error:
        list(read()[0])
    assert "leads outside" in message or error.value.offset is not None


def test_name_lists_must_match_the_constants() -> None:
    with pytest.raises(OleanError, match="the constant a is listed as b"):
        root(Writer(), lambda w: w.module([axiom("a")], names=[make_name("b")]))()
    with pytest.raises(OleanError, match="not as many names"):
        root(Writer(), lambda w: w.module([axiom("a")], names=[]))()
    with pytest.raises(OleanError, match="the constant a is there twice"):
        root(Writer(), lambda w: w.module([axiom("a"), axiom("a")]))()


def test_unknown_kinds_of_constants() -> None:
    extension = make_name(*KIND_EXTENSION)
    (module,) = root(Writer(), lambda w: w.module(entries={extension: [w.pair(N, 2 * 8 + 1)]}))()
    with pytest.raises(OleanError, match="unknown kind"):
        _ = module.original_kinds


def test_lists_with_common_ends_cannot_make_a_small_file_large() -> None:
    writer = Writer()
    ends, address = [], 1
    for _ in range(3000):
        address = writer.constructor(1, 1, address)
        ends.append(address)
    image = Image([writer.end(writer.module())])
    with pytest.raises(OleanError, match="without measure"):
        [image.names(end) for end in ends]


def test_deep_terms_need_no_deep_stack() -> None:
    writer = Writer()
    address = writer.expr(PROP)
    for _ in range(50_000):
        address = writer.constructor(5, address, address, scalars=b"\0" * 8)
    (module,) = decode([writer.end(with_type(writer, address))])
    assert sum(1 for k in module for _ in x.subterms(k.type)) == 50_001


# -- damage


def read_everything(files: list[bytes]) -> None:
    for module in decode(files):
        for _ in module:
            pass
        _ = module.original_kinds


def damaged(rng: random.Random, files: list[bytes]) -> list[bytes]:
    """The files with a few bits, bytes, pointers or numbers changed, or cut off."""
    result = [bytearray(f) for f in files]
    for _ in range(rng.choice((1, 1, 4, 50))):
        f = rng.choice([f for f in result if len(f) > 8] or [bytearray(8)])
        at = rng.randrange(len(f))
        match rng.randrange(5):
            case 0:
                f[at] ^= 1 << rng.randrange(8)
            case 1:
                f[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
            case 2:
                at, source = at & ~7, rng.randrange(len(f)) & ~7
                f[at : at + 8] = f[source : source + 8]
            case 3:
                at &= ~3
                word = int.from_bytes(f[at : at + 4], "little") + rng.choice((-8, -4, 4, 8))
                f[at : at + 4] = (word & 0xFFFFFFFF).to_bytes(4, "little")
            case 4 if rng.random() < 0.05:
                del f[at & ~7 :]
    return [bytes(f) for f in result]


def samples(engine: Engine, directory: Path) -> Iterator[list[bytes]]:
    """A module of three parts in each layout, and a real one."""
    n, e = make_name("t"), x.Pi(N, PROP, x.App(x.Lit(2**70), x.Lit("text")), 0)
    value = x.Let(
        N, e, x.Lam(N, e, x.BVar(0), 1), x.Proj(N, 1, x.MData(x.Const(n, (x.Succ(x.Zero()),)))), True
    )
    items = [
        c.Theorem(n, (N,), e, value, (n,)),
        c.Definition(make_name("d"), (), e, value, 3, (n,), "safe"),
        c.Recursor(make_name("r"), (), e, (n,), 1, 2, 3, 4, (c.Rule(n, 1, value),), True, False),
        c.Inductive(make_name("i"), (), e, 1, 2, (n,), (n, N), 0, True, False, False),
    ]
    for layout in LAYOUTS:
        w = Writer(*layout)
        kinds = {make_name(*KIND_EXTENSION): [w.pair(n, 3)]}
        exported = [c.Axiom(n, (N,), e, False), *items[1:]]
        yield three_parts(
            w,
            lambda w=w, k=kinds, i=exported: w.module(i, entries=k),  # type: ignore[misc]
            lambda w=w, i=exported: w.module(i),  # type: ignore[misc]
            lambda w=w: w.module(items),  # type: ignore[misc]
        )
    (library,) = engine.artifacts(directory).library
    yield [(library / "Init" / "Control" / "Id.olean").read_bytes()]


def fuzz(files: list[bytes], seed: int, count: int) -> int:
    """How many of ``count`` damaged copies are refused; nothing but OleanError may happen, and soon."""
    read_everything(files)
    rng, refused = random.Random(seed), 0
    for _ in range(count):
        start = time.process_time()
        try:
            read_everything(damaged(rng, files))
        except OleanError:
            refused += 1
        assert time.process_time() - start < 2
    return refused


def test_damaged_files_are_refused_or_read(engine: Engine, tmp_path: Path) -> None:
    for seed, files in enumerate(samples(engine, tmp_path)):
        assert fuzz(files, seed, 200) > 50


@pytest.mark.slow
def test_many_damaged_files_are_refused_or_read(engine: Engine, tmp_path: Path) -> None:
    for seed, files in enumerate(samples(engine, tmp_path), 100):
        assert fuzz(files, seed, 2000) > 500
