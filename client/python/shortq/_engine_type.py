"""Finds the parts of an engine type's name.

A few types share an Arrow format (BIT and BLOB are both "z"), and only the outermost field names
its type: the names of nested ones are read out of it (PROTOCOL.md#types-of-the-engine).
"""

from __future__ import annotations


def element_type(name: str) -> str:
    """The element type of "INTEGER[]" and "INTEGER[3]"; empty if `name` is no list."""
    return name[: name.rindex("[")] if name.endswith("]") and "[" in name else ""


def argument_types(name: str, named: bool) -> list[str]:
    """The arguments of "STRUCT(a BIT, "b c" INTEGER)", "UNION(...)" or "MAP(VARCHAR, BIT)",
    without their names if `named`; empty if `name` has none."""
    start = name.find("(")
    if start < 0 or not name.endswith(")"):
        return []
    out = []
    at = start + 1
    while at < len(name):
        end = _end_of_argument(name, at)
        argument = name[at:end].strip(" ")
        out.append(_without_name(argument) if named else argument)
        at = end + 1
    return out


def _end_of_argument(text: str, at: int) -> int:
    depth = 0
    while at < len(text):
        char = text[at]
        if char in "\"'":
            at = _after_quoted(text, at)
            continue
        if depth == 0 and char in ",)":
            break
        depth += (char == "(") - (char == ")")
        at += 1
    return at


def _after_quoted(text: str, at: int) -> int:
    """The end of a quoted part that starts at `at`; a doubled quote stands for itself."""
    quote = text[at]
    at += 1
    while at < len(text):
        if text[at] == quote:
            if text[at + 1 : at + 2] != quote:
                return at + 1
            at += 1
        at += 1
    return at


def _without_name(argument: str) -> str:
    end = _after_quoted(argument, 0) if argument.startswith('"') else argument.find(" ")
    return argument[end:].strip(" ") if 0 <= end < len(argument) else ""
