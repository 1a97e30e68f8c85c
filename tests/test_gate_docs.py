"""What docs/gate.md says of the gate's config and formats is so."""

import re
from pathlib import Path

from cli import cli
from gate import GOOD, write

from metrale_plan.gate.outcome import SERIOUSNESS
from metrale_plan.render.gate import FORMATS

PAGE = (Path(__file__).parent.parent / "docs" / "gate.md").read_text(encoding="utf-8")


def test_the_shown_config_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "metrale-plan.toml").write_text(PAGE.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    write(tmp_path, recipes__hopper__a=GOOD)
    run = cli("check", str(tmp_path), "--format", "json")
    assert run.code == 0
    assert [result["device"] for result in run.json["results"]] == ["h100-sxm", "h200-sxm"]


def test_every_format_is_named() -> None:
    table = PAGE.split("## Formats")[1].split("## ")[0]
    named = [name for row in table.splitlines() if row.startswith("| `") for name in re.findall(r"`(\w+)`", row)]
    assert named == list(FORMATS)


def test_the_order_of_seriousness_is_the_programs() -> None:
    assert ", ".join(map(str, SERIOUSNESS)) in PAGE
