"""Whatever the user does wrong: one sentence, the right exit code, and no file changed."""

from __future__ import annotations

import errno
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from maskpool_verify import files

KERNEL = "kernels/masked_attention_pool.py"
HEAD = "import jax\nimport jax.numpy as jnp\n\n\n"
SIGNATURE = "def masked_attention_pool(features, logits, mask):\n"


def edit(project: Path, old: str, new: str) -> None:
    """Replace the first occurrence in the manifest."""
    manifest = project / "maskpool.toml"
    text = manifest.read_text()
    assert old in text
    manifest.write_text(text.replace(old, new, 1))


MANIFESTS = {
    "malformed": ("[[kernel]]", "[[kernel", "not valid TOML"),
    "unknown key": ('rows = "n"', 'row = "n"', 'unknown key; the keys are name, .*; did you mean "rows"'),
    "no such function": ('pool"\nspec', 'pol"\nspec', 'no function .*; did you mean "masked_attention_pool"'),
    "no such file": ("kernels/masked", "kernel/masked", "no file kernel/masked_attention_pool.py"),
    "features of an integer dtype": (
        'dtype = "float32"',
        'dtype = "int32"',
        "the features must have a float dtype",
    ),
    "mask of an unknown dtype": ('dtype = "bool"', 'dtype = "int8"', "'int8' is not one of"),
    "no pair of shapes": ('"all", {', "{ n = 6, d = 5 }, {", "no two shapes pair up"),
    "another word for all": ('"all", {', '"any", {', "shapes.0: .*but it is 'any'"),
    "logits of another shape": (
        'dtype = "float32"\nshape = ["n"]',
        'dtype = "float32"\nshape = ["d"]',
        "shape",
    ),
    "fewer arguments": (
        '[[kernel.arguments]]\nname = "mask"\nrole = "mask"\ndtype = "bool"\nshape = ["n"]\n',
        "",
        'exactly one with role "mask"',
    ),
    "another order": ('name = "logits"', 'name = "scores"', 'argument 2 is "scores" in the manifest'),
}


@pytest.mark.parametrize("command", ["trace", "check"])
@pytest.mark.parametrize(("old", "new", "says"), MANIFESTS.values(), ids=MANIFESTS)
def test_manifest(old, new, says, command, checkout: Path, run, contents):
    edit(checkout, old, new)
    before = contents(checkout)
    outcome = run(checkout, command)
    assert outcome.status == 2
    assert outcome.out == ""
    assert re.search(says, outcome.sentence), outcome.sentence
    assert contents(checkout) == before


@pytest.mark.parametrize("arguments", [["--manifest", "none.toml"], ["--manifest", "kernels"]])
def test_manifest_that_cannot_be_read(arguments, checkout: Path, run):
    outcome = run(checkout, "check", *arguments)
    assert outcome.status == 2
    assert arguments[1] in outcome.sentence


def test_unknown_kernel_gets_a_suggestion(checkout: Path, run):
    outcome = run(checkout, "check", "--kernel", "masked_attention_poll")
    assert outcome.status == 2
    assert 'did you mean "masked_attention_pool"' in outcome.sentence


def test_manifest_apart_from_the_library(checkout: Path, run):
    (checkout / "MaskPool.lean").unlink()
    outcome = run(checkout, "check")
    assert outcome.status == 3
    assert "no MaskPool.lean beside maskpool.toml" in outcome.sentence


KERNELS = {
    "it raises": ("    raise ValueError('no good')\n", "raises ValueError at kernels/.*py:6: no good"),
    "its shapes do not fit": (
        "    return features @ logits\n",
        r"raises TypeError at kernels/.*py:6: dot_general",
    ),
    "a scalar": ("    return features.sum()\n", r"returns float32\[\], but spec .* demands float32\[d\]"),
    "one row for each": (
        "    return features\n",
        r"returns float32\[n,d\], but spec .* demands float32\[d\]",
    ),
    "another dtype": (
        "    return features.sum(0).astype(jnp.float16)\n",
        r"returns float16\[d\], but spec .* demands float32\[d\]",
    ),
    "two results": ("    return features[0], logits\n", "returns a tuple"),
    "an unknown primitive": ("    return jnp.sort(features, axis=0).sum(0)\n", 'py:6.*primitive "sort"'),
    "a literal that is no rational": (
        "    return jnp.where(mask[:, None], features, -0.0).sum(0)\n",
        "py:6.*negative zero",
    ),
    "a branch that depends on a size": (
        "    return features[0] if mask.shape[0] > 3 else features[1]\n",
        'tracing for all sizes .* raises Inconclusive.* list concrete shapes in place of "all"',
    ),
    "rows in pairs": (
        "    return features.reshape(mask.shape[0] // 2, 2, -1).sum((0, 1))\n",
        "raises InconclusiveDimensionOperation at .*py:6: Cannot divide evenly",
    ),
    "it prints": ("    jax.debug.print('x')\n    return features.sum(0)\n", "py:6.*side effect"),
}


@pytest.mark.parametrize(("body", "says"), KERNELS.values(), ids=KERNELS)
def test_kernel_that_cannot_be_traced(body, says, checkout: Path, run, contents):
    (checkout / KERNEL).write_text(HEAD + SIGNATURE + body)
    before = contents(checkout)
    outcome = run(checkout, "trace")
    assert outcome.status == 1
    assert re.search(says, outcome.sentence), outcome.sentence
    assert contents(checkout) == before


def test_too_few_parameters(checkout: Path, run):
    (checkout / KERNEL).write_text("def masked_attention_pool(features, logits):\n    return features[0]\n")
    outcome = run(checkout, "trace")
    assert outcome.status == 2
    assert (
        "the manifest lists 3 arguments (features, logits, mask) and the function has 2" in outcome.sentence
    )


@pytest.mark.parametrize("path", ["kernels.json", "maskpool.toml/report.json"])
def test_report_that_cannot_be_written_is_refused_before_the_work(path, checkout: Path, run, contents):
    (checkout / "kernels.json").mkdir()
    before = contents(checkout)
    outcome = run(checkout, "check", "--report", path)
    assert outcome.status == 3
    assert outcome.sentence.startswith(f"Cannot write the report to {path}")
    assert contents(checkout) == before


@pytest.mark.parametrize("path", ["report", "report.pdf", ".json", "report.json.bak"])
def test_report_of_no_known_format_is_refused_before_the_work(path, checkout: Path, run, contents):
    before = contents(checkout)
    outcome = run(checkout, "check", "--report", "new/report.html", "--report", path)
    assert outcome.status == 2
    assert outcome.sentence == (
        f"The report {path} is of no known format; "
        "end its name with one of .json, .html, .md, .xml, .sarif, .txt."
    )
    assert contents(checkout) == before


def test_certificates_that_cannot_be_written(checkout: Path, run, contents):
    """A file in place of a directory: permissions do not stop root, who runs tests in containers."""
    (checkout / "maskpool.toml").rename(checkout / "moved.toml")
    (checkout / "certificates").rename(checkout / "elsewhere")
    (checkout / "certificates").write_text("")
    before = contents(checkout)
    outcome = run(checkout, "trace", "--manifest", "moved.toml")
    assert outcome.status == 3
    assert outcome.sentence.startswith("Cannot write the certificates in certificates/masked_attention_pool")
    assert contents(checkout) == before


@pytest.mark.parametrize("command", ["trace", "check"])
def test_build_directory_that_cannot_be_made(command, checkout: Path, run):
    (checkout / ".maskpool").write_text("")
    outcome = run(checkout, command)
    assert outcome.status == 3
    assert outcome.sentence.startswith("Cannot write in .maskpool")


def test_full_disk(checkout: Path, run, contents, monkeypatch):
    certificate = checkout / "certificates/masked_attention_pool/n4_d3.lean"
    certificate.write_text("-- old\n")
    before = contents(checkout)

    def full(descriptor: int, *_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fdopen", full)
    outcome = run(checkout, "trace")
    assert outcome.status == 3
    assert "the disk is full; free some space" in outcome.sentence
    assert contents(checkout) == before, "the old file is whole, and there is no temporary one"


def test_full_output(checkout: Path, start: Callable[..., subprocess.Popen[str]]):
    with open("/dev/full", "w") as full:
        process = start(checkout, "trace", stdout=full.fileno())
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert err == (
        "maskpool-verify: Cannot write to standard output: the disk is full; free some space and try again.\n"
    )


def test_reader_that_goes_away(checkout: Path, start: Callable[..., subprocess.Popen[str]]):
    process = start(checkout, "trace")
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == ""


def test_symbolic_link_out_of_the_project(checkout: Path, run, contents):
    folder = checkout / "certificates/masked_attention_pool"
    folder.rename(checkout / "elsewhere")
    folder.symlink_to(checkout / "elsewhere")
    before = contents(checkout)
    for command, status in (("trace", 3), ("check", 1)):
        outcome = run(checkout, command)
        assert outcome.status == status
        assert "is a symbolic link" in outcome.sentence
    assert contents(checkout) == before


def test_lean_file_of_no_kernel(checkout: Path, run):
    stray = checkout / "certificates/stray/proof.lean"
    stray.parent.mkdir()
    stray.write_text("")
    outcome = run(checkout, "check")
    assert outcome.status == 1
    assert outcome.sentence == (
        "certificates/stray/proof.lean belongs to no kernel of maskpool.toml; remove it or add its kernel."
    )
