"""Hierarchical names, as structures: equal names are one object, so ``is`` compares them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from maskpool_verify.errors import AuditError


@dataclass(slots=True, eq=False)
class Name:
    """``parent`` extended by ``last``. Made by :func:`make_name` only; never changed afterwards.

    ``str(name)`` is what Lean prints for ordinary names. It is injective, which Lean's is not: a component
    that is not a plain identifier stands in «» with everything confusing escaped, and :func:`parse_name`
    reads the text back. So no name can be printed as another one.
    """

    parent: Name | None
    last: str | int | None  # None only in ANONYMOUS

    def __str__(self) -> str:
        return ".".join(map(_component, self.components())) or "[anonymous]"

    def __repr__(self) -> str:
        return f"`{self}"

    def components(self) -> tuple[str | int, ...]:
        """From the outermost; :data:`ANONYMOUS` has none."""
        parts: list[str | int] = []
        name: Name | None = self
        while name is not None and name.last is not None:
            parts.append(name.last)
            name = name.parent
        return tuple(reversed(parts))


ANONYMOUS: Final = Name(None, None)
_interned: Final[dict[tuple[Name, str | int], Name]] = {}


def make_name(*parts: str | int, parent: Name = ANONYMOUS) -> Name:
    """``parent`` extended by ``parts``, each one component: a dot in a part is a part of it."""
    name = parent
    for part in parts:
        key = (name, part)
        found = _interned.get(key)
        name = found if found is not None else _interned.setdefault(key, Name(name, part))
    return name


# Lean's identifiers: letters of ASCII, Greek (not λ Π Σ), Coptic, polytonic Greek, the letter-like block,
# script and Fraktur; then also digits, ' ! ? and subscripts.
_LETTER: Final = "A-Za-z_α-κμ-ωΑ-ΟΡΤ-Ωϊ-ϻἀ-῾℀-⅏𝒜-𝖟"
_PLAIN: Final = re.compile(rf"[{_LETTER}][{_LETTER}0-9'!?₀-₉ₐ-ₜᵢ-ᵪ]*")
_PIECE: Final = re.compile(
    rf"(?P<plain>{_PLAIN.pattern})|«(?P<quoted>(?:[^«»\\]|\\u\{{[0-9a-f]+\}})*)»|(?P<number>0|[1-9][0-9]*)"
)


def escape(text: str, special: str) -> str:
    """``text`` with backslashes, characters in ``special``, and all that have no shape, as ``\\u{hex}``."""
    return "".join(
        c if c.isprintable() and c not in special and c != "\\" else f"\\u{{{ord(c):x}}}" for c in text
    )


def is_plain(component: str) -> bool:
    """Whether Lean reads ``component`` as one identifier without «»."""
    return _PLAIN.fullmatch(component) is not None


def _component(part: str | int) -> str:
    if isinstance(part, int):
        return str(part)
    return part if is_plain(part) else f"«{escape(part, '«»')}»"


def parse_name(text: str) -> Name:
    """The name that is printed as ``text``, as ``A.b`` or ``_private.A.0.«odd name»``.

    Raises:
        AuditError: ``text`` is no name.
    """
    if text == "[anonymous]":
        return ANONYMOUS
    name, at = ANONYMOUS, 0
    while (piece := _PIECE.match(text, at)) is not None:
        plain, quoted, number = piece.group("plain", "quoted", "number")
        if number is not None and len(number) <= 4000:
            name = make_name(int(number), parent=name)
        elif number is None:
            name = make_name(plain if plain is not None else _unescape(quoted), parent=name)
        at = piece.end()
        if at == len(text) and str(name) == text:
            return name
        if text[at : at + 1] != ".":
            break
        at += 1
    raise AuditError(f"{escape(text, '')!r} is not the name of a Lean constant; write it as Lean prints it.")


def _unescape(quoted: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = int(match[1], 16)
        return chr(code) if code < 0x110000 else ""

    return re.sub(r"\\u\{([0-9a-f]+)\}", character, quoted)
