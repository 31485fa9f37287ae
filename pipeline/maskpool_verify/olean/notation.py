"""The notations that statements are printed with: those of Lean, and ``≃`` of ``MaskPool``."""

from __future__ import annotations

from typing import Final, Literal

from .names import parse_name

Side = Literal["left", "right", "none"]
_OPERATORS: Final[tuple[tuple[str, int, str, int, Side], ...]] = (
    ("Iff", 2, "↔", 20, "none"),
    ("MaskPool.Equiv", 2, "≃", 25, "none"),
    ("Or", 2, "∨", 30, "right"),
    ("or", 2, "||", 30, "left"),
    ("And", 2, "∧", 35, "right"),
    ("and", 2, "&&", 35, "left"),
    ("Prod", 2, "×", 35, "right"),
    ("Eq", 3, "=", 50, "none"),
    ("Ne", 3, "≠", 50, "none"),
    ("HEq", 4, "≍", 50, "none"),
    ("BEq.beq", 4, "==", 50, "none"),
    ("LT.lt", 4, "<", 50, "none"),
    ("LE.le", 4, "≤", 50, "none"),
    ("GT.gt", 4, ">", 50, "none"),
    ("GE.ge", 4, "≥", 50, "none"),
    ("HAdd.hAdd", 6, "+", 65, "left"),
    ("HSub.hSub", 6, "-", 65, "left"),
    ("HAppend.hAppend", 6, "++", 65, "left"),
    ("HMul.hMul", 6, "*", 70, "left"),
    ("HDiv.hDiv", 6, "/", 70, "left"),
    ("HMod.hMod", 6, "%", 70, "left"),
    ("HPow.hPow", 6, "^", 75, "right"),
)
INFIX: Final = {
    parse_name(name): (arity, symbol, precedence, side)
    for name, arity, symbol, precedence, side in _OPERATORS
}
"""Number of arguments, of which the operands are the last two; symbol, precedence, associativity."""

PREFIX: Final = {parse_name("Not"): (1, "¬", 40), parse_name("Neg.neg"): (3, "-", 75)}
"""Number of arguments, of which the operand is the last; symbol, precedence."""

METHODS: Final = {
    parse_name(f"MaskPool.{name}"): position
    for name, position in (("Kernel.eval", 0), ("Tensor.rows", 0), ("Tensor.permute", 1), ("Tensor.pad", 0))
}
"""Functions that are written behind a dot, with the position of the value before it among the arguments."""

CONS, NIL = parse_name("List.cons"), parse_name("List.nil")
PAIR, FST, SND = parse_name("Prod.mk"), parse_name("Prod.fst"), parse_name("Prod.snd")
ATOMS: Final = {
    parse_name(name): text
    for name, text in (
        ("Unit.unit", "()"),
        ("PUnit.unit", "()"),
        ("Bool.true", "true"),
        ("Bool.false", "false"),
    )
}
OF_NAT, EXISTS, ITE = parse_name("OfNat.ofNat"), parse_name("Exists"), parse_name("ite")
