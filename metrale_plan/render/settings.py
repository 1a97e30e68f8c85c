"""The screen of `--show-settings`: every value in force, who gave it and where, and what it won over."""

from typing import Any

from metrale_plan.config.given import Given, Setting
from metrale_plan.config.variables import Ignored
from metrale_plan.printable import printable, shortened
from metrale_plan.render.sheet import Column, Grid, Row, Sheet, Text
from metrale_plan.report import Report

SOURCES = {
    "flag": "flag",
    "command": "after --",
    "recipe": "file",
    "env": "variable",
    "model": "model default",
    "engine": "engine default",
}
"""Sources as a person reads them."""


def settings_sheet(report: Report) -> Sheet:
    """The table, those that somebody set first; nothing where the command did not get as far."""
    if report.settings is None:
        return ()
    ordered = sorted(report.settings.items(), key=lambda item: (_default(item[1]), item[0]))
    given = sum(not _default(setting) for setting in report.settings.values())
    name = f" of {report.model.name}" if report.model is not None else ""
    return (
        Text(f"{len(ordered)} settings{name}, {given} of them set, the others defaults", "strong"),
        Grid(
            (Column("setting"), Column("value"), Column("from", flexible=True)),
            tuple(_row(key, setting) for key, setting in ordered),
        ),
    )


def _default(setting: Setting) -> bool:
    return setting.source in ("model", "engine")


def _row(key: str, setting: Setting) -> Row:
    lost = "; ".join(_lost(key, given) for given in setting.lost)
    source = _source(key, setting.source, setting.where) + (f", over {lost}" if lost else "")
    return Row(
        (printable(shortened(key, 120)), shown(setting.value), printable(source)),
        "quiet" if _default(setting) else "plain",
    )


def _lost(key: str, given: Given) -> str:
    value = given.text if isinstance(given.value, Ignored) else given.value
    return f"{shown(value)} ({_source(key, given.source, given.where)})"


def _source(key: str, source: str, where: str | None) -> str:
    """Who gave it, and where unless the setting's own name or a file's line says so already."""
    if source == "recipe" and where is not None:
        return where
    return SOURCES[source] if where in (None, key) else f"{SOURCES[source]}, {where}"


def shown(value: Any) -> str:
    """A setting's value as a person would write it."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return ",".join(":".join(map(str, item)) if isinstance(item, (list, tuple)) else str(item) for item in value)
    return printable(shortened(str(value), 120))
