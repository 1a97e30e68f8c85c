"""What a gate's config file may say, as strict pydantic models; every field's description is what messages accept.

Imported only when there is such a file.
"""

from datetime import date

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """Unknown keys are refused, and no value is bent into another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class IgnoreEntry(Strict):
    """`[[policy.ignore]]`."""

    code: str = Field(description="a code such as MP102")
    reason: str = Field(min_length=1, description="why it may be ignored, in a few words")
    expires: date = Field(description="a TOML date without quotes, such as 2026-12-31; ignored through that day")
    paths: list[str] = Field(default=[], description="a list of path patterns")


class PolicyTable(Strict):
    """`[policy]`."""

    least_headroom: str | None = Field(
        default=None, description='a size with its unit such as "4GiB", or a percentage such as "5%"'
    )
    utilization_ceiling: dict[str, float] = Field(
        default={}, description="hardware classes, each with a number above 0 and at most 1"
    )
    warnings_as_errors: list[str] = Field(default=[], description='a list of codes, or ["all"]')
    ignore: list[IgnoreEntry] = Field(default=[], description="[[policy.ignore]] tables")
    forbidden_variables: list[str] = Field(default=[], description="a list of METRALE_* names, or prefixes ending in *")
    required_flags: list[str] = Field(default=[], description="a list of serve flags")


class ConfigsEntry(Strict):
    """`[[configs]]`: which devices the configs under some patterns are for."""

    paths: list[str] = Field(min_length=1, description="a list of path patterns")
    devices: list[str] = Field(min_length=1, description="a list of device ids")


class GateFile(Strict):
    """The whole file, or the table `[tool.metrale-plan]`."""

    rules: str | None = Field(default=None, description='a date such as "2026-10-09"')
    devices: list[str] = Field(default=[], description="a list of device ids")
    configs: list[ConfigsEntry] = Field(default=[], description="[[configs]] tables")
    exclude: list[str] = Field(default=[], description="a list of path patterns")
    policy: PolicyTable = Field(default=PolicyTable(), description="a table")
