"""``pip install``, ``init`` and ``check`` of the wheel, for kernels that live in somebody else's project."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import ROOT, Elsewhere

from maskpool_verify.engine.wasm import WasmEngine, default_cache

POOL = '''\
import jax.numpy as jnp

def mean_of_kept(x, w, keep):
    """A mean of the rows that count, with the weights exp(w)."""
    weights = jnp.where(keep, jnp.exp(jnp.where(keep, w, 0.0)), 0.0)
    total = jnp.sum(weights)
    pooled = weights @ jnp.where(keep[:, None], x, 0.0)
    return jnp.where(total > 0, pooled / jnp.where(total > 0, total, 1.0), 0.0)
'''


def test_the_wheel_has_the_library_byte_for_byte(wheel: Path) -> None:
    names = [p.relative_to(ROOT).as_posix() for p in sorted((ROOT / "MaskPool").rglob("*.lean"))]
    names += ["MaskPool.lean", "lakefile.lean", "lake-manifest.json", "lean-toolchain"]
    with zipfile.ZipFile(wheel) as archive:
        held = {n.partition("/library/")[2]: archive.read(n) for n in archive.namelist() if "/library/" in n}
        assert "maskpool_verify/py.typed" in archive.namelist()
    assert held == {name: (ROOT / name).read_bytes() for name in names}


def test_a_kernel_elsewhere_is_verified(elsewhere: Callable[[str], Elsewhere], engine: WasmEngine) -> None:
    here = elsewhere("Żółty łuk – mój projekt")
    cache = str(default_cache())
    begun = here.run("maskpool-verify", "init", "--ci", "github", MASKPOOL_CACHE=cache)
    assert begun.returncode == 0, begun.stderr
    assert begun.stdout.splitlines()[-1] == "Next: maskpool-verify check"
    assert sorted(path.name for path in here.folder.iterdir()) == [
        ".github",
        ".gitignore",
        ".maskpool",
        "certificates",
        "kernels",
        "maskpool.toml",
    ]
    checked = here.run("maskpool-verify", "check", "--format", "json", MASKPOOL_CACHE=cache)
    assert checked.returncode == 0, checked.stderr
    report = json.loads(checked.stdout)
    assert report["verdict"] == "verified"
    assert {t["property"]: t["status"] for t in report["kernels"][0]["theorems"]} == dict.fromkeys(
        (
            "translation",
            "specification",
            "permutation",
            "padding",
            "masked_irrelevance",
            "all_masked",
            "masked_irrelevance_any_arithmetic",
            "all_masked_any_arithmetic",
        ),
        "proved",
    )

    # Its own kernel, with roles that a person gives.
    (here.folder / "maskpool.toml").unlink()
    (here.folder / "źródła").mkdir()
    (here.folder / "źródła" / "średnia.py").write_text(POOL, "utf-8")
    drafted = here.run("maskpool-verify", "init", "źródła/średnia.py:mean_of_kept")
    assert drafted.returncode == 0, drafted.stderr
    assert "w: role, dtype and shape are not known" in drafted.stdout
    manifest = here.folder / "maskpool.toml"
    refused = here.run("maskpool-verify", "trace")
    assert refused.returncode == 2
    assert 'kernel "mean_of_kept", arguments.1.role: the key is missing' in refused.stderr
    text = manifest.read_text("utf-8")
    for name, lines in (
        ("w", 'role = "logits"\ndtype = "float32"\nshape = ["n"]'),
        ("keep", 'role = "mask"\ndtype = "bool"\nshape = ["n"]'),
    ):
        text = text.replace(f'name = "{name}"\n', f'name = "{name}"\n{lines}\n')
    manifest.write_text(text, "utf-8")
    (here.folder / "certificates" / "statements.lock").unlink()
    for path in (here.folder / "certificates" / "attention_pool").iterdir():
        path.unlink()
    for command in ("trace", "accept", "check"):
        ended = here.run("maskpool-verify", command, MASKPOOL_CACHE=cache)
        assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("mean_of_kept  verified\n")


@pytest.mark.parametrize("name", ["MaskPool", "MaskPool.lean"])
def test_a_library_of_the_project_does_not_shadow_the_installed_one(
    elsewhere: Callable[[str], Elsewhere], name: str
) -> None:
    here = elsewhere("mine")
    assert here.run("maskpool-verify", "init", "--files-only").returncode == 0
    (here.folder / name).mkdir() if name == "MaskPool" else (here.folder / name).touch()
    for command in ("check", "accept"):
        ended = here.run("maskpool-verify", command)
        assert ended.returncode == 2
        assert f"{name} would not be used, since the Lean library comes with maskpool-verify" in ended.stderr
