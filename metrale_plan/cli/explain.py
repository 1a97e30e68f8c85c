"""`explain` and its kin: their parameters, and nothing else."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

from metrale_plan.cli.declare import Argument, Option
from metrale_plan.cli.invocation import Invocation
from metrale_plan.cli.options import Common, FreeMemory, planning_command

if TYPE_CHECKING:
    from metrale_plan.config.serve import Steps
    from metrale_plan.reading.raw import RawReading
    from metrale_plan.render.sheet import Sheet
    from metrale_plan.report import Report

Against = Annotated[
    Optional[str],
    Option("--against", metavar="LADDER", help="Another ladder to put beside it, or full-width."),
]
CaseFile = Annotated[Optional[str], Option("--case", metavar="FILE", help="Warm turns to replay, as JSON or TOML.")]
Weights = Annotated[
    Optional[str],
    Option("--weights", metavar="SIZE", help="A block-scaled FP8 checkpoint's size on disk, for the later fit."),
]
Count = Optional[str]


def _turn(name: str, text: str) -> Any:
    return Option(name, metavar="N", help=text, show_default=False)


@planning_command
def explain_ladder(
    invocation: Invocation, common: Common, free_memory: FreeMemory = None, against: Against = None
) -> int:
    """Why each width gets its drafts and each verify slot its capacity, and what that costs.

    Without a MODEL it explains the settings alone, without bytes.
    """
    other = read_against(against)

    def explained(report: "Report") -> tuple[Any, Callable[[str], "Sheet"]]:
        from metrale_plan.explain.ladder import explain_ladder
        from metrale_plan.render.explain_ladder import ladder_sheet

        assert report.config is not None and report.settings is not None and report.rules is not None
        value = explain_ladder(
            report.config,
            report.settings,
            report.rules,
            dims=report.model.dims if report.model else None,
            device=report.device,
            against=other,
        )
        return value, lambda subject: ladder_sheet(value, subject)

    return _answer(invocation, "explain-ladder", common, free_memory, explained, model_optional=True)


@planning_command
def explain_ring(
    invocation: Invocation, common: Common, free_memory: FreeMemory = None, weights: Weights = None
) -> int:
    """Which rule decided the depth of the decode-rollback ring, what each depth costs, and what fits.

    The ring is fitted where memory is stated (--device, --total-memory, --free-memory).
    """
    from metrale_plan.probes.stated import read_size

    on_disk = None if weights is None else read_size("--weights", weights)

    def explained(report: "Report") -> tuple[Any, Callable[[str], "Sheet"]]:
        from metrale_plan.explain.ring import explain_ring
        from metrale_plan.render.explain_ring import ring_sheet

        assert report.plan and report.model and report.config and report.settings is not None and report.memory
        value = explain_ring(
            report.plan, report.model.dims, report.config, report.settings, free=report.memory.free, weights=on_disk
        )
        return value, lambda subject: ring_sheet(value, subject)

    return _answer(invocation, "explain-ring", common, free_memory, explained)


@planning_command
def explain_marconi(invocation: Invocation, common: Common, free_memory: FreeMemory = None) -> int:
    """Why snapshot slots are kept or dropped, what one holds, and from which match on it is restored."""

    def explained(report: "Report") -> tuple[Any, Callable[[str], "Sheet"]]:
        from metrale_plan.explain.marconi import explain_marconi
        from metrale_plan.render.explain_marconi import marconi_sheet

        assert report.plan and report.model and report.config and report.settings is not None and report.rules
        value = explain_marconi(report.plan, report.model.dims, report.config, report.settings, report.rules)
        return value, lambda subject: marconi_sheet(value, subject)

    return _answer(invocation, "explain-marconi", common, free_memory, explained)


@planning_command
def explain_carry(
    invocation: Invocation,
    common: Common,
    free_memory: FreeMemory = None,
    case: CaseFile = None,
    prompt_tokens: Annotated[Count, _turn("--prompt-tokens", "Length of the new prompt.")] = None,
    common_prefix: Annotated[Count, _turn("--common-prefix", "Tokens it shares with the carried ones.")] = None,
    session: Annotated[Count, _turn("--session", "Its session, such as 7 or 0x7; 0 is none.")] = None,
    ticket: Annotated[Count, _turn("--ticket", "Its sequence ticket, from 1.")] = None,
    carried_tokens: Annotated[Count, _turn("--carried-tokens", "Tokens of the last turn.")] = None,
    carried_rows: Annotated[Count, _turn("--carried-rows", "Its resident drafter rows.")] = None,
    carried_key: Annotated[Count, _turn("--carried-key", "Pair key of its newest row, or none.")] = None,
    carried_session: Annotated[Count, _turn("--carried-session", "Its session.")] = None,
    stored: Annotated[
        Optional[str], Option("--stored", metavar="LO:HI", help="Hidden rows in the store, half open.")
    ] = None,
    stored_owner: Annotated[Count, _turn("--stored-owner", "Ticket that wrote them.")] = None,
) -> int:
    """Whether the drafter carry is armed, what it holds, and how warm turns would end.

    Turns come from --case, or one turn from --prompt-tokens and its kin.
    """
    from metrale_plan.sources.carry_flags import TurnFlags, read_turns

    flags = TurnFlags(
        prompt_tokens=prompt_tokens,
        common_prefix=common_prefix,
        session=session,
        ticket=ticket,
        carried_tokens=carried_tokens,
        carried_rows=carried_rows,
        carried_key=carried_key,
        carried_session=carried_session,
        stored=stored,
        stored_owner=stored_owner,
    )
    turns, notes = read_turns(case, flags)

    def explained(report: "Report") -> tuple[Any, Callable[[str], "Sheet"]]:
        from metrale_plan.explain.carry import explain_carry
        from metrale_plan.render.explain_carry import carry_sheet

        assert report.config is not None and report.settings is not None
        report.extend(notes)
        value = explain_carry(
            report.config,
            report.settings,
            plan=report.plan,
            dims=report.model.dims if report.model else None,
            case=turns,
        )
        return value, lambda subject: carry_sheet(value, subject)

    return _answer(invocation, "explain-carry", common, free_memory, explained, model_optional=True)


def explain(invocation: Invocation, code: Annotated[str, Argument(metavar="CODE", help="Such as MP204.")]) -> int:
    """Print what a warning, refusal or error code means, an example, and the remedy."""
    from metrale_plan.cli.output import emit_answer
    from metrale_plan.codes import BY_CODE
    from metrale_plan.errors import InputError
    from metrale_plan.nearest import nearest
    from metrale_plan.render.explain_code import code_sheet

    found = BY_CODE.get(code.strip().upper())
    if found is None:
        raise InputError(
            "MP265",
            f"no code is called {code}",
            where=code,
            accepted="a code that a message shows in brackets, such as MP204",
            nearest=nearest(code.upper(), BY_CODE),
        )
    emit_answer(invocation, "explain", found._asdict(), lambda: code_sheet(found))
    return 0


def read_against(text: str | None) -> "Steps | Literal['full-width'] | None":
    """The other ladder of `--against`.

    Raises:
        InputError: neither full-width nor a ladder as the flag takes it.
    """
    if text is None:
        return None
    if text == "full-width":
        return "full-width"
    from metrale_plan.errors import InputError
    from metrale_plan.ladder import parse_mtp_k_ladder
    from metrale_plan.nearest import nearest

    try:
        return parse_mtp_k_ladder(text)
    except ValueError as error:
        raise InputError(
            "MP211",
            str(error).replace("--mtp-k-ladder", "--against"),
            where="--against",
            accepted="full-width, or width:drafts steps separated by commas, such as 4:3,8:2,16:1, each at least 1",
            nearest=nearest(text, ("full-width",)),
        ) from None


def _answer(
    invocation: Invocation,
    command: str,
    common: Common,
    free: str | None,
    explained: "Callable[[Report], tuple[Any, Callable[[str], Sheet]]]",
    *,
    model_optional: bool = False,
) -> int:
    """Assemble, explain, print; returns the exit code."""
    from metrale_plan.assemble import assemble, exit_on_warnings
    from metrale_plan.cli.output import emit
    from metrale_plan.cli.planning import request
    from metrale_plan.memory import MemoryRequest

    asked = request(
        invocation, command, common, memory=MemoryRequest(free=free), fit=True, model_optional=model_optional
    )
    report = assemble(asked, _nothing_live)
    if report.error is not None or report.config is None:
        emit(invocation, report, lambda _: ())
        return report.exit_code
    value, sheet = explained(report)
    exit_on_warnings(report, asked)
    extra: dict[str, Any] = {}
    if invocation.json:
        from metrale_plan.render.json import values

        extra = {command.replace("-", "_"): values(value)}
    emit(
        invocation,
        report,
        lambda report: sheet(_subject(report)),
        extra=extra,
        show_settings=common.show_settings,
    )
    return report.exit_code


def _nothing_live(ordinal: int) -> "RawReading":
    raise AssertionError(f"an explanation read GPU {ordinal}, though it compares with no live memory")


def _subject(report: "Report") -> str:
    """Who, where, by which rules."""
    from metrale_plan.units import gib

    assert report.rules is not None and report.config is not None
    rules = f"engine rules of {report.rules.asked}"
    batch = "batch auto" if report.config.max_batch_size is None else f"batch {report.config.max_batch_size}"
    if report.model is None or report.memory is None or report.memory.total is None:
        return f"no model named, {batch}, {rules}"
    place = report.memory.device or "a device"
    return f"{report.model.name} on {place} of {gib(report.memory.total)}, {batch}, {rules}"
