"""Runs the self-test on a native library with one faulty function at a time; prints what it says, as JSON."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from typing import Any

from maskpool_verify.second_kernel.abi import Lean, UnavailableError, locate
from maskpool_verify.second_kernel.selftest import self_test


def main() -> None:
    installation = locate()
    lean = Lean(installation)
    sound = lean.call
    unchecked = ctypes.CDLL(str(installation.library)).lean_add_decl_without_checking
    unchecked.restype, unchecked.argtypes = ctypes.c_void_p, [ctypes.c_void_p] * 2
    faults: dict[str, Callable[..., Any] | None] = {
        "none": None,
        "lean_add_decl": lambda environment, _heartbeats, _depth, declaration, _cancel: unchecked(
            environment, declaration
        ),
        "lean_expr_mk_app": lambda f, a: sound("lean_expr_mk_app")(a, f),
        "lean_expr_mk_forall": sound("lean_expr_mk_lambda"),
        "lean_level_mk_max": sound("lean_level_mk_imax"),
        "lean_expr_equal": lambda _a, _b: 1,
        "lean_name_eq": lambda _a, _b: 1,
        "lean_mk_theorem_val": lambda name, levels, type_, value, all_: sound("lean_mk_theorem_val")(
            name, levels, value, type_, all_
        ),
    }
    found: dict[str, str | None] = {}
    for symbol, fault in faults.items():
        lean.call = lambda name, s=symbol, f=fault: f if f and name == s else sound(name)  # type: ignore
        try:
            self_test(lean)
            found[symbol] = None
        except UnavailableError as error:
            found[symbol] = str(error)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
