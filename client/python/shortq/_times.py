"""Dates, times and intervals: counts of units to datetime, or to the engine's text.

datetime ends at the year 9999, knows no infinity, no 24:00:00 and no nanoseconds. What it cannot
hold exactly becomes the text that the engine prints, never a rounded value.
"""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple, Union

DateOrText = Union[datetime.date, str]
TimeOrText = Union[datetime.time, str]
DatetimeOrText = Union[datetime.datetime, str]

UNITS_PER_SECOND = {"s": 1, "m": 1_000, "u": 1_000_000, "n": 1_000_000_000}

_EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()
_FIRST_DAY = datetime.date.min.toordinal() - _EPOCH_ORDINAL
_LAST_DAY = datetime.date.max.toordinal() - _EPOCH_ORDINAL
_EPOCH = datetime.datetime(1970, 1, 1)
_SECONDS_PER_DAY = 86_400
_DATE_INFINITY = (1 << 31) - 1
_TIMESTAMP_INFINITY = (1 << 63) - 1
_OFFSET = re.compile(
    r"(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?" r"([+-])(\d{2})(?::(\d{2}))?(?::(\d{2}))?"
)


class Interval(NamedTuple):
    """SQL's INTERVAL: three parts that do not convert into each other."""

    months: int = 0
    days: int = 0
    nanoseconds: int = 0

    def to_timedelta(self) -> datetime.timedelta:
        """Raises ValueError for months, which have no fixed length. Rounds down to microseconds."""
        if self.months != 0:
            raise ValueError(f"an interval with months has no fixed length: {self}")
        return datetime.timedelta(days=self.days, microseconds=self.nanoseconds // 1000)

    def __str__(self) -> str:
        """As the engine prints it: "1 year 2 months 3 days 04:05:06"."""
        years, months = divmod(abs(self.months), 12)
        sign = -1 if self.months < 0 else 1
        parts = [
            _count(sign * years, "year"),
            _count(sign * months, "month"),
            _count(self.days, "day"),
        ]
        parts = [part for part in parts if part]
        if self.nanoseconds != 0 or not parts:
            mark = "-" if self.nanoseconds < 0 else ""
            parts.append(mark + time_text(abs(self.nanoseconds), "n"))
        return " ".join(parts)


def _count(number: int, unit: str) -> str:
    if number == 0:
        return ""
    return f"{number} {unit}" + ("" if abs(number) == 1 else "s")


# ---- as values ----


def date_value(days: int) -> DateOrText:
    if _FIRST_DAY <= days <= _LAST_DAY:
        return datetime.date.fromordinal(days + _EPOCH_ORDINAL)
    return date_text(days)


def time_value(units: int, unit: str) -> TimeOrText:
    seconds, fraction = divmod(units, UNITS_PER_SECOND[unit])
    microseconds, rest = divmod(fraction * 1_000_000, UNITS_PER_SECOND[unit])
    if rest != 0 or not 0 <= seconds < _SECONDS_PER_DAY:
        return time_text(units, unit)
    return datetime.time(seconds // 3600, seconds // 60 % 60, seconds % 60, microseconds)


def timestamp_value(units: int, unit: str, zoned: bool) -> DatetimeOrText:
    microseconds, rest = divmod(units * 1_000_000, UNITS_PER_SECOND[unit])
    if rest != 0:
        return timestamp_text(units, unit, zoned)
    try:
        value = _EPOCH + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return timestamp_text(units, unit, zoned)
    return value.replace(tzinfo=datetime.timezone.utc) if zoned else value


def timetz_value(text: str) -> TimeOrText:
    """ "01:02:03.5+05:30" as the server sends it."""
    match = _OFFSET.fullmatch(text)
    if match is None or int(match[1]) > 23:
        return text
    offset = datetime.timedelta(
        hours=int(match[6]), minutes=int(match[7] or 0), seconds=int(match[8] or 0)
    )
    zone = datetime.timezone(-offset if match[5] == "-" else offset)
    return datetime.time(
        int(match[1]), int(match[2]), int(match[3]), int((match[4] or "0").ljust(6, "0")), zone
    )


# ---- as text ----


def date_text(days: int) -> str:
    if abs(days) == _DATE_INFINITY:
        return "infinity" if days > 0 else "-infinity"
    return _civil_text(days)


def time_text(units: int, unit: str) -> str:
    """Fractions end at their last digit that is not 0."""
    per_second = UNITS_PER_SECOND[unit]
    seconds, fraction = divmod(units, per_second)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if fraction == 0:
        return text
    return f"{text}.{fraction:0{len(str(per_second)) - 1}}".rstrip("0")


def timestamp_text(units: int, unit: str, zoned: bool) -> str:
    if abs(units) == _TIMESTAMP_INFINITY:
        return "infinity" if units > 0 else "-infinity"
    days, rest = divmod(units, _SECONDS_PER_DAY * UNITS_PER_SECOND[unit])
    return f"{_civil_text(days)} {time_text(rest, unit)}" + ("+00" if zoned else "")


def timetz_text(value: datetime.time) -> str:
    offset = value.utcoffset() or datetime.timedelta()
    seconds = int(offset.total_seconds())
    hours, rest = divmod(abs(seconds), 3600)
    text = clock_text(value) + f"{'-' if seconds < 0 else '+'}{hours:02}"
    if rest:
        text += f":{rest // 60:02}"
    return text + (f":{rest % 60:02}" if rest % 60 else "")


def clock_text(value: Union[datetime.time, datetime.datetime]) -> str:
    micros = (value.hour * 3600 + value.minute * 60 + value.second) * 1_000_000 + value.microsecond
    return time_text(micros, "u")


def _civil_text(days: int) -> str:
    """Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153  # Months counted from March.
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (month <= 2)
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    if year <= 0:
        return f"{1 - year:04}-{month:02}-{day:02} (BC)"
    return f"{year:04}-{month:02}-{day:02}"
