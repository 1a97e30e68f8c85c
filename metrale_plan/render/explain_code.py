"""One code in full, and the page of all of them."""

from metrale_plan.codes import CODES, Code
from metrale_plan.render.sheet import Sheet, Text

RANGES = (("1", "Capacity"), ("2", "Input"), ("3", "Memory reading"))
PAGE_COMMAND = "python -m metrale_plan.render.explain_code > docs/codes.md"


def code_sheet(code: Code) -> Sheet:
    """What it means, an example, and the remedy."""
    texts = [Text(f"{code.code}: {code.title} ({code.kind})", "strong"), Text(code.meaning)]
    if code.example:
        texts.append(Text(f"example: {code.example}", indent=2))
    texts.append(Text(f"remedy: {code.remedy}", indent=2))
    return tuple(texts)


def codes_page() -> str:
    """`docs/codes.md`."""
    lines = [
        "# Codes",
        "",
        "Every warning, refusal and error has a stable code. `metrale-plan explain CODE` prints the same texts.",
        "",
        f"<!-- Made from metrale_plan/codes.py by `{PAGE_COMMAND}`. -->",
    ]
    for digit, title in RANGES:
        lines += ["", f"## {title} (MP{digit}xx)"]
        for code in sorted((code for code in CODES if code.code[2] == digit), key=lambda code: code.code):
            lines += ["", f"### {code.code}: {code.title}", "", f"*{code.kind.capitalize()}.* {code.meaning}", ""]
            if code.example:
                lines += [f"Example: `{code.example}`", ""]
            lines += [f"Remedy: {code.remedy}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(codes_page(), end="")
