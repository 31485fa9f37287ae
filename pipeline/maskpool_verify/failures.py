"""Which proofs failed, and the goals that remained, from the messages of Lean."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from maskpool_verify.engine.protocol import Message, ModuleResult
from maskpool_verify.lean.bags import shape_name
from maskpool_verify.lean.properties import Theorem

MAX_LINES = 24
"""Of one message; a goal that is longer is cut."""

BY_SPECIFICATION = "maskpool: by the specification"
"""What the tactic ``by_specification`` says."""

_HYPOTHESIS = re.compile(r"(?P<names>[^\s:⊢][^:⊢]*?) : ")


@dataclass(frozen=True)
class Failure:
    """The first error in one declaration, ``theorem`` being its Lean name."""

    theorem: str
    message: Message


def errors(result: ModuleResult) -> list[Message]:
    """The errors of one module."""
    return [message for message in result.messages if message.severity == "error"]


def place(message: Message) -> str:
    """``file:line:column``, as far as known."""
    position = message.position
    return f"{message.file}:{position.line}:{position.column}" if position else message.file


def failures(source: str, result: ModuleResult) -> list[Failure]:
    """The declarations of a generated module, whose text is ``source``, in which Lean found errors."""
    found: dict[str, Failure] = {}
    for message in errors(result):
        if name := _declaration(source, message):
            found.setdefault(name, Failure(name, message))
    return list(found.values())


def by_specification(source: str, result: ModuleResult) -> frozenset[str]:
    """The theorems of a generated module that rest on a specification, as their proofs say."""
    names = (_declaration(source, message) for message in result.messages if BY_SPECIFICATION in message.text)
    return frozenset(name for name in names if name)


def _declaration(source: str, message: Message) -> str | None:
    """The Lean name of the declaration that a message is about."""
    found, namespace = None, ""
    lines = source.splitlines()[: message.position.line if message.position else 0]
    for line in lines:
        if line.startswith("namespace "):
            namespace = line.removeprefix("namespace ").replace("«", "").replace("»", "")
        elif line.startswith(("theorem ", "def ")):
            found = f"{namespace}.{line.split()[1]}"
    return found


def remaining(text: str, known: Collection[str]) -> str:
    """A message without what the statement says already: case names, and hypotheses called ``known``."""
    if "⊢" not in text:
        return _cut(text.splitlines())
    kept: list[str] = []
    dropping = False
    for line in text.splitlines():
        if dropping and line.startswith(" "):
            continue  # the rest of a long hypothesis
        hypothesis = _HYPOTHESIS.match(line)
        names = hypothesis["names"].split() if hypothesis else []
        dropping = bool(names) and all(name in known or name.startswith("inst") for name in names)
        if not dropping and not line.startswith("case "):
            kept.append(line)
    return _cut(kept)


def _cut(lines: Sequence[str]) -> str:
    more = [f"⋯ ({len(lines) - MAX_LINES} more lines)"] if len(lines) > MAX_LINES else []
    return "\n".join([*lines[:MAX_LINES], *more])


def _bound_names(theorem: Theorem) -> set[str]:
    """The variables of a statement, which its goal shows as hypotheses."""
    return {name for binder in theorem.binders for name in binder[1:-1].partition(" : ")[0].split()}


def goals(found: Iterable[Failure], theorems: Mapping[str, Theorem]) -> list[str]:
    """A paragraph for every failed proof; shapes at which the same goal remained share one."""
    groups: dict[tuple[str, str], list[tuple[str, Message]]] = {}
    for failure in found:
        theorem = theorems.get(failure.theorem)
        text = remaining(failure.message.text, _bound_names(theorem) if theorem else ())
        title = theorem.proves if theorem else failure.theorem
        at = shape_name(theorem.shape) if theorem else ""
        groups.setdefault((title, text), []).append((at, failure.message))
    return [
        f"{title}{_at([at for at, _ in members])} failed at {_places([m for _, m in members])}:\n"
        + "\n".join(f"  {line}" if line else "" for line in text.splitlines())
        for (title, text), members in groups.items()
    ]


def _at(shapes: Sequence[str]) -> str:
    return f" at {' and '.join(shapes)}" if any(shapes) else ""


def _places(messages: Sequence[Message]) -> str:
    """The places of messages in one file, which is named once."""
    first, *more = map(place, messages)
    return " and ".join([first, *(other.removeprefix(f"{messages[0].file}:") for other in more)])
