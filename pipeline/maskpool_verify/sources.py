"""What Lean sources may not contain, found by reading their tokens before anything is built.

The audit of compiled artifacts sees every axiom, but not a proof that was never checked: ``set_option
debug.skipKernelTC`` leaves no trace in them, nor does a metaprogram that edits the environment. So the
sources of the library and of the certificates may use neither. Comments and strings are skipped as Lean skips
them; what stands in the braces of an interpolated string is code.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from maskpool_verify.errors import AuditError

_ESCAPES = "it can change what Lean checks"
_UNPROVED = "it stands for a missing proof"

FORBIDDEN: Mapping[str, str] = {
    **dict.fromkeys(("sorry", "admit", "sorryAx"), _UNPROVED),
    **dict.fromkeys(("axiom", "constant"), "it assumes what it states"),
    **dict.fromkeys(
        (
            "native_decide",
            "bv_decide",
            "reduceBool",
            "ofReduceBool",
            "reduceNat",
            "ofReduceNat",
            "trustCompiler",
        ),
        "it trusts compiled code instead of a proof",
    ),
    **dict.fromkeys(("unsafe", "partial"), "the kernel does not check it"),
    **dict.fromkeys(
        ("implemented_by", "extern", "csimp", "export_name"), "it replaces the code of a definition"
    ),
    **dict.fromkeys(
        (
            "elab",
            "elab_rules",
            "run_cmd",
            "run_elab",
            "run_meta",
            "run_tac",
            "by_elab",
            "initialize",
            "builtin_initialize",
            "simproc",
            "dsimproc",
            "simproc_decl",
            "builtin_simproc",
            "register_option",
            "tactic_extension",
            "declare_config_elab",
            "init_quot",
            "prelude",
            "meta",
            "dbg_trace",
            "#exit",
            "#eval",
        ),
        _ESCAPES,
    ),
}
"""Tokens by the reason why they are refused."""

_OPTIONS = re.compile(
    r"(autoImplicit|compiler\.extract_closed|genInjectivity|genSizeOf|linter\..*|maxHeartbeats|maxRecDepth|pp\..*)$"
)
"""The options that may be set: none of them decides what is checked."""

_IMPORTS = re.compile(r"(Init|MaskPool|certificates)(\.|$)")

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<line>--[^\n]*)
  | (?P<open>/-)
  | (?P<raw>r(?P<hashes>\#*)")
  | (?P<string>")
  | (?P<char>'(?:\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|[^'\\])')
  | (?P<word>\#?(?:[^\W\d]|_)[\w'!?₀-₉]*(?:\.(?:[^\W\d]|_)[\w'!?₀-₉]*)*)
  | (?P<quoted>«[^»]*»)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A word or a symbol, with its place: ``line`` from 1, ``column`` from 0."""

    text: str
    line: int
    column: int


@dataclass(frozen=True)
class Finding:
    """A forbidden token."""

    file: str
    line: int
    column: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: `{self.text}` is not allowed here: {self.reason}."


def tokens(text: str) -> Iterator[Token]:
    """The words and symbols of a Lean source, without comments and the contents of strings.

    Raises:
        AuditError: a comment or a string has no end.
    """
    yield from _code(text, 0, _Places(text), in_braces=False)


class _Places:
    """Line and column of offsets that are asked for in any order."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def __call__(self, offset: int) -> tuple[int, int]:
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= offset else (low, middle)
        return low + 1, offset - self._starts[low]


def _code(text: str, offset: int, place: _Places, *, in_braces: bool) -> Generator[Token, None, int]:
    """The tokens from ``offset`` to the end, or to the closing brace that ends a piece of a string.

    Returns the offset behind them.
    """
    depth, last = 0, ""
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:  # pragma: no cover - the last alternative takes any character
            raise AuditError(f"line {place(offset)[0]} cannot be read as Lean")
        kind = "raw" if match.lastgroup == "hashes" else match.lastgroup
        here, offset = offset, match.end()
        if kind in ("space", "line"):
            continue
        if kind == "open":
            offset = _end_of_comment(text, offset, place(here)[0])
            continue
        if kind == "raw":
            close = text.find('"' + match["hashes"], offset)
            if close < 0:
                raise AuditError(f"the string that begins in line {place(here)[0]} has no end")
            offset = close + 1 + len(match["hashes"])
        elif kind == "string":
            offset = yield from _string(text, offset, place, interpolated=last.endswith("!"))
        else:
            depth += {"{": 1, "}": -1}.get(match[0], 0)
            if in_braces and depth < 0:
                return offset
            yield Token(match[0], *place(here))
        last = match[0]
    if in_braces:
        raise AuditError("a brace in an interpolated string has no end")
    return offset


def _string(text: str, offset: int, place: _Places, *, interpolated: bool) -> Generator[Token, None, int]:
    """The code in the braces of a string; returns the offset behind the string."""
    line = place(offset - 1)[0]
    while offset < len(text):
        if text[offset] == "\\":
            offset += 2
        elif text[offset] == '"':
            return offset + 1
        elif text[offset] == "{" and interpolated:
            offset = yield from _code(text, offset + 1, place, in_braces=True)
        else:
            offset += 1
    raise AuditError(f"the string that begins in line {line} has no end")


def _end_of_comment(text: str, offset: int, line: int) -> int:
    depth = 1
    for mark in re.compile("/-|-/").finditer(text, offset):
        depth += 1 if mark[0] == "/-" else -1
        if depth == 0:
            return mark.end()
    raise AuditError(f"the comment that begins in line {line} has no end")


def scan(file: str, text: str) -> list[Finding]:
    """Every forbidden token of one source.

    Raises:
        AuditError: a comment or a string has no end.
    """
    found: list[Finding] = []

    def report(token: Token, reason: str, shown: str | None = None) -> None:
        found.append(Finding(file, token.line, token.column, shown or token.text, reason))

    previous: list[Token] = []
    try:
        for token in tokens(text):
            for component in {token.text, *token.text.split(".")}:
                if component in FORBIDDEN:
                    report(token, FORBIDDEN[component])
            before = previous[-1].text if previous else ""
            if before == "set_option" and not _OPTIONS.match(token.text):
                report(token, _ESCAPES, f"set_option {token.text}")
            after_import = "import" in [t.text for t in previous if t.text != "all"][-1:]
            if after_import and token.text != "all" and not _IMPORTS.match(token.text):
                report(token, "only the library and the certificates may be imported", f"import {token.text}")
            previous = [*previous[-1:], token]
    except AuditError as error:
        raise AuditError(f"{file}: {error}; correct it.") from None
    return found


def scan_files(root: Path, files: Iterable[Path]) -> list[Finding]:
    """Every forbidden token of ``files``, named relative to ``root``.

    Raises:
        AuditError: a file cannot be read as Lean.
    """
    found: list[Finding] = []
    for file in files:
        name = file.relative_to(root).as_posix()
        try:
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise AuditError(f"{name} cannot be read: {error}.") from None
        found += scan(name, text)
    return found
