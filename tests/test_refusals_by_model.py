"""Legal settings that the engine refuses for one model and takes for another, before any byte is counted."""

import pytest
from cli import cli_json

from metrale_plan import catalog
from metrale_plan.data.devices import DEVICES

FLAT_GLM = {"METRALE_GLM_DSA_INDEXER_FLAT": "1"}

REFUSED = [
    (("nemotron-3-nano-30b-a3b", "--speculative"), {}, "MP106"),
    (("nemotron-3-nano-30b-a3b", "--ngram-speculative"), {}, "MP106"),
    (("nemotron-3-nano-30b-a3b", "--dflash", "--dflash-gamma", "4"), {}, "MP106"),
    (("nemotron-3-nano-30b-a3b", "--ssm-h-dtype", "f16-pool", "--gdn-fused-norm"), {}, "MP107"),
    (("qwen3.8-27b", "--ssm-h-dtype", "f16"), {}, "MP107"),
    (("qwen3.8-27b", "--ssm-h-dtype", "f16-pool", "--gdn-fused-norm", "--self-speculative"), {}, "MP107"),
    (("qwen3.8-27b", "--speculative", "--dflash", "--dflash-gamma", "4"), {}, "MP109"),
    (("qwen3.8-27b", "--tp-size", "3"), {}, "MP108"),
    (("deepseek-v4-flash", "--high-speed-swap"), {}, "MP111"),
    (("glm-5.3-flash", "--high-speed-swap"), FLAT_GLM, "MP111"),
    (("qwen3.8-27b", "--high-speed-swap", "--max-batch-size", "auto"), {}, "MP112"),
]
TAKEN = [
    (("qwen3.8-27b", "--ssm-h-dtype", "f16-pool", "--gdn-fused-norm"), {}),
    (("qwen3-vl-30b-a3b", "--ssm-h-dtype", "f16"), {}),
    (("qwen3-vl-30b-a3b", "--self-speculative"), {}),
    (("glm-5.3-flash", "--high-speed-swap"), {}),
    (("deepseek-v4.1-flash", "--high-speed-swap"), {}),
]


@pytest.mark.parametrize("command", ["plan", "preflight"])
@pytest.mark.parametrize(("line", "env", "code"), REFUSED, ids=[f"{code} {' '.join(a)}" for a, _, code in REFUSED])
def test_refused(command: str, line: tuple[str, ...], env: dict[str, str], code: str) -> None:
    document = cli_json(command, *line, "--device", "h200-sxm", env=env)
    assert (document["exit_code"], document["error"]["code"]) == (1, code)
    assert (document["verdict"]["fits"], document["verdict"]["stage"]) == (False, "settings")
    assert document["reserve"] is None


@pytest.mark.parametrize(("line", "env"), TAKEN, ids=[" ".join(a) for a, _ in TAKEN])
def test_taken(line: tuple[str, ...], env: dict[str, str]) -> None:
    assert cli_json("plan", *line, env=env)["exit_code"] == 0


@pytest.mark.parametrize(
    ("line", "env", "severities"),
    [
        (("deepseek-v4-flash", "--enable-prefix-caching"), {}, ["warning"]),
        (("deepseek-v4-flash", "--swap-space-gb", "8"), {}, ["note"]),
        (("deepseek-v4-flash", "--swap-space-gb", "0"), {}, []),
        (("deepseek-v4-flash",), {}, []),
        (("glm-5.3-flash", "--enable-prefix-caching"), FLAT_GLM, ["warning"]),
        (("glm-5.3-flash", "--enable-prefix-caching"), {}, []),
        (("qwen3.8-27b", "--enable-prefix-caching", "--swap-space-gb", "8"), {}, []),
    ],
)
def test_switched_off_where_kv_blocks_are_not_all(
    line: tuple[str, ...], env: dict[str, str], severities: list[str]
) -> None:
    document = cli_json("plan", *line, env=env)
    assert document["exit_code"] == 0
    assert [row["severity"] for row in document["warnings"] if row["code"] == "MP113"] == severities


@pytest.mark.parametrize("name", catalog.bundled_models())
def test_every_bundled_model_plans_on_every_device_or_names_what_it_lacks(name: str) -> None:
    missing = catalog.load(name).incomplete
    for device in DEVICES:
        document = cli_json("plan", name, "--device", str(device.id))
        if missing:
            assert (document["exit_code"], document["error"]["code"]) == (2, "MP205")
            assert all(key in document["error"]["message"] for key in missing)
        else:
            assert document["exit_code"] == 0
            assert document["reserve"]["total"] > document["reserve"]["inference_reserve"] > 0
            assert document["kv"]["block_bytes"] > 0
