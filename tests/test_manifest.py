"""The manifest: what is accepted, and one clear sentence for everything else."""

from pathlib import Path

import pytest

from maskpool_verify.errors import ManifestError, UsageError
from maskpool_verify.manifest import load_manifest

KERNEL = """\
[[kernel]]
name = "pool"
function = "pool.py:pool"
spec = "attention"
rows = "n"
shapes = [{ n = 4, d = 3 }, { n = 6, d = 3 }]
"""
ARGUMENTS = """\
[[kernel.arguments]]
name = "features"
role = "features"
dtype = "float32"
shape = ["n", "d"]
[[kernel.arguments]]
name = "logits"
role = "logits"
dtype = "float32"
shape = ["n"]
[[kernel.arguments]]
name = "mask"
role = "mask"
dtype = "bool"
shape = ["n"]
"""
PARAMETER = """\
[[kernel.arguments]]
name = "scale"
role = "parameter"
dtype = "float32"
shape = ["d", 2]
"""
VALID = KERNEL + ARGUMENTS


def write(directory: Path, text: str) -> Path:
    path = directory / "maskpool.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_valid_manifest(tmp_path: Path) -> None:
    manifest = load_manifest(write(tmp_path, VALID + PARAMETER))
    kernel = manifest.kernel("pool")
    assert manifest.root == tmp_path
    assert kernel.selection.dtype == "bool"
    assert kernel.arguments[0].sizes({"n": 4, "d": 3}) == (4, 3)
    assert kernel.arguments[3].sizes({"n": 4, "d": 3}) == (3, 2)
    with pytest.raises(UsageError, match=r'has no kernel "pol".*did you mean "pool"'):
        manifest.kernel("pol")


def test_padding_pairs_differ_in_the_rows_only(tmp_path: Path) -> None:
    shapes = "[{ n = 6, d = 3 }, { n = 4, d = 3 }, { n = 9, d = 5 }, { n = 8, d = 3 }]"
    kernel = load_manifest(
        write(tmp_path, VALID.replace("[{ n = 4, d = 3 }, { n = 6, d = 3 }]", shapes))
    ).kernels[0]
    sizes = {(short["n"], long["n"]) for short, long in kernel.padding_pairs()}
    assert sizes == {(4, 6), (4, 8), (6, 8)}


def test_a_single_shape_needs_no_pair(tmp_path: Path) -> None:
    text = VALID.replace(", { n = 6, d = 3 }", "")
    assert load_manifest(write(tmp_path, text)).kernels[0].padding_pairs() == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('spec = "attention"', "spec = ", r"not valid TOML: .*line 4"),
        ('spec = "attention"', 'spec = "mean"', "spec: 'mean' is not one of 'attention'"),
        ('rows = "n"', 'row = "n"', 'row: unknown key; .*did you mean "rows"'),
        ('rows = "n"\n', "", "rows: the key is missing"),
        ('role = "mask"', 'roll = "mask"', 'arguments.2.roll: unknown key; .*did you mean "role"'),
        ('role = "mask"', 'role = "masks"', "arguments.2.role: 'masks' is not one of"),
        ('name = "pool"', 'name = "pöol"', "name: .*not an ASCII identifier"),
        ('name = "pool"', 'name = "4pool"', "name: .*not an ASCII identifier"),
        ('name = "pool"', "name = 4", "name: the value should be a valid string"),
        ('"pool.py:pool"', '"pool.py"', "function: .*neither"),
        ('name = "mask"', 'name = "logits"', 'arguments: 2 arguments are called "logits"'),
        ('role = "mask"', 'role = "parameter"', 'a parameter has the row symbol "n"'),
        (
            'role = "mask"\ndtype = "bool"\nshape = ["n"]',
            'role = "parameter"\ndtype = "bool"\nshape = ["d"]',
            'exactly one with role "mask" or "length", and there is none',
        ),
        (
            'role = "mask"\ndtype = "bool"\nshape = ["n"]',
            'role = "length"\ndtype = "float32"\nshape = []',
            'the length must be "int32" or "int64", not "float32"',
        ),
        (
            'role = "mask"\ndtype = "bool"\nshape = ["n"]',
            'role = "length"\ndtype = "int32"\nshape = ["n"]',
            'a length has the row symbol "n"',
        ),
        ('role = "logits"', 'role = "parameter"', 'a parameter has the row symbol "n"'),
        (
            'role = "logits"\ndtype = "float32"\nshape = ["n"]',
            'role = "parameter"\ndtype = "float32"\nshape = ["d"]',
            'no argument with role "logits".* add "all"',
        ),
        ('spec = "attention"', 'spec = "none"', 'is proved for all sizes at once; add "all"'),
        ('rows = "n"', 'rows = "n"\nresult = ["n"]', 'result: it has the row symbol "n"'),
        ('rows = "n"', 'rows = "n"\nresult = ["d", "d"]', "result: a symbol occurs twice"),
        ('rows = "n"', 'rows = "n"\nresult = ["h"]', 'result: no argument uses the symbol "h"'),
        ('rows = "n"', 'rows = "n"\nresult = []', 'result: the axis "d" of features is missing'),
        ("n = 6, d = 3", 'n = "six", d = 3', 'shapes.1.n: "six" is not a size; give a number'),
        ("[{ n = 4, d = 3 }, { n = 6, d = 3 }]", '"some"', "shapes: the value should be a valid tuple"),
        ('role = "features"', 'role = "logits"', 'exactly one with role "features", and there is none'),
        (
            'dtype = "bool"\nshape = ["n"]',
            'dtype = "bool"\nshape = ["d"]',
            'the mask must have the row symbol "n"',
        ),
        ('dtype = "bool"', 'dtype = "int8"', "dtype: 'int8' is not one of"),
        ('shape = ["n", "d"]', 'shape = ["n", "d", "n"]', "a symbol occurs twice"),
        ('shape = ["n", "d"]', 'shape = ["d"]', 'the features must have the row symbol "n"'),
        ('shape = ["n", "d"]', 'shape = ["n", "d", 0]', "the size 0 is not positive"),
        ('shape = ["n", "d"]', 'shape = ["n", "d", true]', "arguments.0.shape.2"),
        ('shape = ["n", "d"]', 'shape = ["n", "e"]', 'shapes.0: the symbol "e" has no size'),
        ('dtype = "float32"', 'dtype = "float16"', "must have the same dtype"),
        ("n = 6, d = 3", "n = 6", 'shapes.1: the symbol "d" has no size'),
        ("n = 6, d = 3", "n = 6, d = 3, e = 1", 'shapes.1: no argument uses the symbol "e"'),
        ("n = 6, d = 3", "n = 4, d = 3", "shapes.1: this shape is given twice"),
        ("n = 6, d = 3", "n = 0, d = 3", "shapes.1.n: the size 0 is not positive"),
        (
            "n = 6, d = 3",
            "n = true, d = 3",
            "shapes.1.n: the value should be a valid integer, but it is True",
        ),
        ("n = 6, d = 3", "n = 6.0, d = 3", "shapes.1.n: the value should be a valid integer"),
        ("n = 6, d = 3", "n = 6, d = 4", "no two shapes pair up for the padding property"),
        ("[{ n = 4, d = 3 }, { n = 6, d = 3 }]", "[]", "shapes: there is none"),
    ],
)
def test_each_problem_is_one_sentence(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in VALID
    path = write(tmp_path, VALID.replace(old, new, 1))
    with pytest.raises(ManifestError, match=message) as caught:
        load_manifest(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no kernel"),
        ("kernel = []", "has no kernel"),
        ("kernel = 3", "kernel: the value should be a valid tuple"),
        ("kernel = [3]", "kernel"),
        ("kernels = []", "kernels: unknown key|has no kernel"),
        (VALID + VALID, "another kernel has this name"),
        (VALID + PARAMETER.replace('"d", 2', '"n"'), "a parameter has the row symbol"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ManifestError, match=message):
        load_manifest(write(tmp_path, text))


ALL = VALID.replace("[{ n = 4, d = 3 }, { n = 6, d = 3 }]", '"all"')
BATCH = (
    ALL.replace('["n", "d"]', '["b", "n", "h", "d"]').replace(
        '"logits"\ndtype = "float32"\nshape = ["n"]', '"logits"\ndtype = "float32"\nshape = ["b", "h", "n"]'
    )
).replace('"bool"\nshape = ["n"]', '"bool"\nshape = ["b", "n"]')


def test_all_sizes(tmp_path: Path) -> None:
    kernel = load_manifest(write(tmp_path, ALL + PARAMETER)).kernels[0]
    assert kernel.shapes == ({"n": "n", "d": "d"},)
    assert kernel.is_open
    assert kernel.arguments[3].sizes(kernel.open_shape) == ("d", 2)
    both = VALID.replace("[{ n = 4", '["all", { n = 4')
    shapes = load_manifest(write(tmp_path, both)).kernels[0].shapes
    assert shapes == ({"n": "n", "d": "d"}, {"n": 4, "d": 3}, {"n": 6, "d": 3})
    assert not load_manifest(write(tmp_path, VALID)).kernels[0].is_open


def test_a_symbol_that_lean_needs_gets_another_name(tmp_path: Path) -> None:
    text = ALL.replace('"n"', '"k"').replace('"d"', '"fun"')
    assert load_manifest(write(tmp_path, text)).kernels[0].open_shape == {"k": "k_", "fun": "fun_"}


def constrained(*texts: str) -> str:
    return ALL.replace('shapes = "all"', f'shapes = "all"\nconstraints = {list(texts)}')


def test_constraints_on_open_sizes(tmp_path: Path) -> None:
    text = constrained("n>=1", "mod(d, 4) == 0").replace('"n"', '"k"').replace("n>=1", "k >= 1")
    kernel = load_manifest(write(tmp_path, text)).kernels[0]
    assert kernel.assumed.texts == ("k >= 1", "mod(d, 4) == 0")
    assert kernel.given.texts == ("k_ >= 1", "mod(d, 4) == 0")
    assert kernel.assumed.witness == {"d": 4, "k": 1}
    assert load_manifest(write(tmp_path, ALL)).kernels[0].given.texts == ()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("n > 1",), r'constraints.0: "n > 1" is not a comparison .*; write such as "n >= 1"'),
        (("n >= 1", "ceil(n) >= 1"), r'constraints.1: "ceil\(n\) " is not a sum of products'),
        (("rows >= 1",), 'constraints.0: no argument uses the symbol "rows"'),
        (("2 >= 1",), "constraints.0: 2 >= 1 is about no symbol"),
        (("mod(n - 4, 3) == 0",), r"constraints.0: in mod\(n - 4, 3\) an operand may be negative"),
        (("mod(n, 0) == 0",), r"constraints.0: mod\(n, 0\) divides by zero"),
        (("n + d == 8",), r"constraints.0: the left side of d \+ n == 8 has to be one product"),
        (("d == 64",), "constraints.0: d == 64 gives the symbol d away, which JAX replaces everywhere"),
        (("n >= 0",), "constraints: n >= 0 follows from the others, or holds for all sizes; remove it"),
        (("n >= 4", "n >= 2"), "constraints: n >= 2 follows from the others"),
        (("n >= 1", "n >= 1"), "constraints: n >= 1 follows from the others"),
        (
            ("mod(n, 2) == 0", "mod(n, 4) == 1"),
            r"constraints: no sizes of n that were tried satisfy mod\(n, 2\) == 0 and mod\(n, 4\) == 1; "
            "theorems with these hypotheses would say nothing",
        ),
    ],
)
def test_constraints_that_are_refused(tmp_path: Path, texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(ManifestError, match=message):
        load_manifest(write(tmp_path, constrained(*texts)))


def test_listed_shapes_satisfy_the_constraints(tmp_path: Path) -> None:
    text = VALID.replace('rows = "n"', 'rows = "n"\nconstraints = ["mod(n, 2) == 0"]')
    with pytest.raises(ManifestError, match='about sizes that are left open; add "all"'):
        load_manifest(write(tmp_path, text))
    both = text.replace("[{ n = 4", '["all", { n = 4')
    assert load_manifest(write(tmp_path, both)).kernels[0].constraints == ("mod(n, 2) == 0",)
    with pytest.raises(ManifestError, match=r"shapes.2: the constraint mod\(n, 2\) == 0 does not hold there"):
        load_manifest(write(tmp_path, both.replace("n = 6", "n = 7")))


def test_axes_of_the_result(tmp_path: Path) -> None:
    kernel = load_manifest(write(tmp_path, BATCH)).kernels[0]
    assert kernel.result_axes == ("b", "h", "d")
    assert kernel.batch_axes == ("b",)
    assert kernel.row_axes == (1, 2, 1)
    named = BATCH.replace('rows = "n"', 'rows = "n"\nresult = ["b", "d", "h"]')
    assert load_manifest(write(tmp_path, named)).kernels[0].result_axes == ("b", "d", "h")
    plain = load_manifest(write(tmp_path, ALL)).kernels[0]
    assert (plain.result_axes, plain.batch_axes) == (("d",), ())


def test_a_kernel_without_a_specification(tmp_path: Path) -> None:
    text = ALL.replace('"attention"', '"none"')
    assert load_manifest(write(tmp_path, text)).kernels[0].spec == "none"
    length = text.replace('"mask"\ndtype = "bool"\nshape = ["n"]', '"length"\ndtype = "int32"\nshape = []')
    with pytest.raises(ManifestError, match='exactly one with role "mask", and there is none'):
        load_manifest(write(tmp_path, length))


def test_the_arithmetic_of_the_theorems(tmp_path: Path) -> None:
    extended = KERNEL + 'arithmetic = "extended"\n'
    assert load_manifest(write(tmp_path, VALID)).kernels[0].arithmetic == "real"
    assert load_manifest(write(tmp_path, extended + ARGUMENTS)).kernels[0].arithmetic == "extended"
    unknown = VALID.replace("rows =", 'arithmetic = "float"\nrows =', 1)
    with pytest.raises(ManifestError, match=r"arithmetic: 'float' is not one of 'real' or 'extended'\.$"):
        load_manifest(write(tmp_path, unknown))
    free = (
        (extended + ARGUMENTS)
        .replace('"attention"', '"none"')
        .replace("[{ n = 4, d = 3 }, { n = 6, d = 3 }]", '"all"')
    )
    with pytest.raises(
        ManifestError, match=r'spec "none" is proved over the real numbers only; remove the key\.$'
    ):
        load_manifest(write(tmp_path, free))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="There is no manifest"):
        load_manifest(tmp_path / "absent.toml")
    with pytest.raises(ManifestError, match="cannot be read"):
        load_manifest(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'a = "\xe9"')
    with pytest.raises(ManifestError, match="not UTF-8"):
        load_manifest(tmp_path / "latin.toml")
