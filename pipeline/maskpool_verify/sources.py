"""What Lean sources may not contain, found by reading their tokens before anything is built.

The audit of compiled artifacts sees every axiom, but not a proof that was never checked: ``set_option
debug.skipKernelTC`` leaves no trace in them, nor does a metaprogram that edits the environment. So the
sources of the library and of the certificates may use neither.

Lean lets a file change how it is read, and this reader does not follow it there. So what could make the two
disagree is refused too: strings with code in them, symbols that end where an identifier could go on or that
hold quotes, comments or brackets, letters that not every version of Lean takes as such, and macros that
compute their result instead of quoting it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
            "native",
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
            "interpolatedStr",
            "builtin_macro",
            "app_unexpander",
        ),
        _ESCAPES,
    ),
}
"""Tokens by the reason why they are refused."""

_OPTIONS = re.compile(
    r"(autoImplicit|compiler\.extract_closed|genInjectivity|genSizeOf|linter\..*|maxHeartbeats|maxRecDepth|pp\..*)$"
)
"""The options that may be set: none of them decides what is checked."""

IMPORTS = re.compile(r"(Init|MaskPool)(\.|$)|certificates\.")
"""The modules that the library and the certificates may import."""

_LETTER = "A-Za-z_α-κμ-ωΑ-ΟΡΤ-Ωϊ-ϻἀ-῾℀-⅏𝒜-𝖟"
_REST = rf"{_LETTER}0-9'!?₀-₉ₐ-ₜᵢ-ᵪ"
"""The characters of Lean's identifiers, at the beginning and behind it."""

_TOKEN = re.compile(
    rf"""
    (?P<space>\s+)
  | (?P<line>--[^\n]*)
  | (?P<open>/-[-!]?)
  | (?P<raw>r(?P<hashes>\#*)")
  | (?P<string>")
  | (?P<char>'(?:\\(?:x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|.)|[^'\\])')
  | (?P<word>[{_LETTER}][{_REST}]*(?:\.[{_LETTER}][{_REST}]*)*)
  | (?P<number>0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)
  | (?P<quoted>«[^»]*»)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_'!?]*")
_AMBIGUOUS = re.compile(rf"[{_REST}]$|--|/-|-/|[\"'`«»\\]|..*[()\[\]{{}}⟨⟩]|[()\[\]{{}}⟨⟩].", re.DOTALL)
"""Symbols behind or inside of which Lean would find other tokens than this reader."""

_COMMANDS = re.compile(
    "abbrev|attribute|class|def|end|example|inductive|infix[lr]?|instance|local|macro|macro_rules|namespace"
    "|noncomputable|notation|open|postfix|prefix|private|protected|scoped|section|set_option|structure|syntax"
    "|theorem|universe|variable"
)
"""The words with which a command can begin."""


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
    """The words, symbols and strings of a Lean source, without comments; a string with its quotes.

    Raises:
        AuditError: a comment or a string has no end.
    """
    place, offset = _Places(text), 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        assert match is not None, "the last alternative takes any character"
        kind = "raw" if match.lastgroup == "hashes" else match.lastgroup
        here, offset = offset, match.end()
        match kind:
            case "space" | "line":
                continue
            case "open":
                offset = _end_of_comment(text, offset, place(here)[0])
                continue
            case "raw":
                offset = _end_of_raw(text, offset, match["hashes"], place(here)[0])
            case "string":
                offset = _end_of_string(text, offset, place(here)[0])
        yield Token(text[here:offset], *place(here))


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


def _end_of_raw(text: str, offset: int, hashes: str, line: int) -> int:
    close = text.find('"' + hashes, offset)
    if close < 0:
        raise AuditError(f"the string that begins in line {line} has no end")
    return close + 1 + len(hashes)


def _end_of_string(text: str, offset: int, line: int) -> int:
    while offset < len(text):
        if text[offset] == '"':
            return offset + 1
        offset += 2 if text[offset] == "\\" else 1
    raise AuditError(f"the string that begins in line {line} has no end")


def _end_of_comment(text: str, offset: int, line: int) -> int:
    depth = 1
    for mark in re.compile("/-|-/").finditer(text, offset):
        depth += 1 if mark[0] == "/-" else -1
        if depth == 0:
            return mark.end()
    raise AuditError(f"the comment that begins in line {line} has no end")


def scan(file: str, text: str, imports: re.Pattern[str] = IMPORTS) -> list[Finding]:
    """Everything in one source that is refused, in its order; ``imports`` are the modules it may import.

    Raises:
        AuditError: a comment or a string has no end.
    """
    try:
        found = list(tokens(text))
    except AuditError as error:
        raise AuditError(f"{file}: {error}; correct it.") from None
    reasons = [*_findings(found, imports), *_computing_macros(found)]
    return [
        Finding(file, token.line, token.column, shown, reason)
        for token, shown, reason in sorted(reasons, key=lambda each: (each[0].line, each[0].column))
    ]


def _findings(found: Sequence[Token], imports: re.Pattern[str]) -> Iterator[tuple[Token, str, str]]:
    """What one token, or a pair of them, gives away: the token, what to show of it, and the reason."""
    imported = False
    for before, token in zip((Token("", 0, 0), *found), found, strict=False):
        text = token.text
        for component in {text, *text.strip("«»").split(".")}:
            if component in FORBIDDEN:
                yield token, text, FORBIDDEN[component]
        if '"' in text[:1] + text[-1:] and (problem := _string_problem(text)):
            yield token, text, problem
        if len(text) == 1 and text.isalpha() and text not in "λΠΣ" and not re.match(f"[{_LETTER}]", text):
            yield token, text, "it may or may not be a letter to Lean"
        adjacent = (before.line, before.column + len(before.text)) == (token.line, token.column)
        if before.text == "#" and adjacent and re.match(f"[{_LETTER}]", text):
            yield before, f"#{text}", "diagnostic commands have no place here, and some run code"
        if before.text == "$" and text == "(":
            yield before, "$(", "a quotation has to be text, not something computed"
        if before.text == "set_option" and not _OPTIONS.match(text):
            yield token, f"set_option {text}", _ESCAPES
        imported = before.text == "import" or (imported and before.text == "all")
        if imported and text != "all" and not imports.match(text):
            yield token, f"import {text}", "only the library and the certificates may be imported"


def _string_problem(literal: str) -> str | None:
    """Why a string may hide code: by interpolation, or as a symbol that a notation declares."""
    if "{" in literal:
        return "a brace in a string may hold code"
    content = literal.lstrip("r").strip('#"').strip()
    if not content or re.search(r"\s", content) or _IDENTIFIER.fullmatch(content):
        return None
    return "a symbol like this would hide what stands behind it" if _AMBIGUOUS.search(content) else None


def _computing_macros(found: Sequence[Token]) -> Iterator[tuple[Token, str, str]]:
    """Macros whose result is something else than a quotation."""
    texts = [token.text.strip("«»") for token in found]
    for start, token in enumerate(found):
        if texts[start] not in ("macro", "macro_rules"):
            continue
        position: int | None = start
        while position is not None:
            arrow = _skip(texts, position + 1, "=", ">")
            if arrow is None or texts[arrow : arrow + 2] != ["`", "("]:
                yield token, token.text, "it has to give a quotation, not something computed"
                break
            close = _skip(texts, arrow + 2, ")")
            after = close if close is not None and close < len(texts) else None
            if close is None:
                yield token, token.text, "its quotation has no end"
            elif after is not None and texts[after] == "|" and token.text == "macro_rules":
                position = after
                continue
            elif after is not None and not _begins_command(found, after):
                yield token, token.text, "something follows its quotation"
            break


def _begins_command(found: Sequence[Token], at: int) -> bool:
    """Whether a command begins at a token: by its word in the first column, or by an attribute."""
    text = found[at].text
    attribute = text == "@" and at + 1 < len(found) and found[at + 1].text == "["
    return found[at].column == 0 and (attribute or _COMMANDS.fullmatch(text) is not None)


def _skip(texts: Sequence[str], start: int, *end: str) -> int | None:
    """The position behind ``end``, outside of brackets that open after ``start``."""
    depth = 0
    for position in range(start, len(texts)):
        if depth == 0 and tuple(texts[position : position + len(end)]) == end:
            return position + len(end)
        depth += (texts[position] in "([{⟨") - (texts[position] in ")]}⟩")
        if depth < 0:
            return None
    return None


def scan_files(root: Path, files: Iterable[Path], imports: re.Pattern[str] = IMPORTS) -> list[Finding]:
    """Every forbidden token of ``files``, named relative to ``root``; ``imports`` as in :func:`scan`.

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
        found += scan(name, text, imports)
    return found


def require_clean(
    root: Path,
    folders: Iterable[Path],
    files: Sequence[Path],
    lake_files: Iterable[Path],
    imports: re.Pattern[str] = IMPORTS,
) -> None:
    """Refuse sources that could go around Lean's kernel: the audit cannot see that in the artifacts.

    ``files`` are all that a build may read, ``lake_files`` steer it, and neither ``files`` nor anything in
    ``folders`` may be a link. They are named relative to ``root``; ``imports`` as in :func:`scan`.

    Raises:
        AuditError: there is one, or a link.
    """
    require_no_links((*files, *(path for folder in folders for path in tree(folder))), root)
    if found := scan_files(root, files, imports):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise AuditError(f"{found[0]}{more}")
    for file in lake_files:
        if file.is_file() and "skipKernelTC" in file.read_text("utf-8", errors="replace"):
            raise AuditError(
                f"{file.relative_to(root).as_posix()} sets debug.skipKernelTC, which keeps proofs from "
                "Lean's kernel; remove it."
            )


def tree(folder: Path) -> list[Path]:
    """A folder and all that is in it; links are not followed."""
    return [folder, *sorted(folder.rglob("*"))]


def require_no_links(paths: Iterable[Path], root: Path) -> None:
    """Refuse links to sources that would be built without having been read.

    Raises:
        AuditError: there is one; it is named relative to ``root``.
    """
    for path in paths:
        if path.is_symlink():
            raise AuditError(
                f"{path.relative_to(root).as_posix()} is a symbolic link; "
                "Lean sources have to lie in the project."
            )
