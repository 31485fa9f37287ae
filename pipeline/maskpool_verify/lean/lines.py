"""Lines of generated Lean."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 110


def wrapped(parts: Sequence[str], first: str, indent: str, width: int = WIDTH) -> str:
    """``first`` and ``parts``, separated by spaces and broken into lines of at most ``width`` columns."""
    lines = [first]
    for part in parts:
        if len(lines[-1]) + 1 + len(part) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(indent + part)
    return "\n".join(lines)


def attempt(term: str, otherwise: str) -> str:
    """A proof by ``term``, or by the tactics ``otherwise`` if Lean does not accept it."""
    return f"by\n  first\n  | exact {indented(term, ' ' * 4)}\n  | {indented(otherwise, ' ' * 4)}"


def indented(text: str, by: str) -> str:
    """``text`` with ``by`` before its lines, but for the first."""
    return text.replace("\n", f"\n{by}")
