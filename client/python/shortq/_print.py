"""Draws a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shortq.table import Table

_ROWS_SHOWN = 20
_CELL_WIDTH = 40


def table_text(table: "Table") -> str:
    """Names, a line, the first rows, and how many there are."""
    shown = min(len(table), _ROWS_SHOWN)
    cells = [
        [_cut(column.name)] + [_cut(column.text(row)) for row in range(shown)]
        for column in table.columns
    ]
    widths = [max(map(len, column)) for column in cells]
    lines = [
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in zip(*cells)
    ]
    if lines:
        lines.insert(1, "-+-".join("-" * width for width in widths))
    count = f"({len(table)} row{'' if len(table) == 1 else 's'}"
    lines.append(count + (")" if shown == len(table) else f", {shown} shown)"))
    return "\n".join(lines)


def _cut(text: str) -> str:
    flat = " ".join(text.splitlines()) if not text.isprintable() else text
    return flat if len(flat) <= _CELL_WIDTH else flat[: _CELL_WIDTH - 3] + "..."
