"""Situations in which real operators lost time, each reduced to a small input with the right answer."""

import pytest
from cli import cli, cli_json

from metrale_plan.units import MIB

RING_SERVE = (
    "qwen3.8-27b", "--max-batch-size", "32", "--max-seq-len", "24576", "--ssm-cache-slots", "16",
    "--enable-prefix-caching", "--device", "h100-sxm", "--total-memory", "79.2GiB",
    "--gpu-memory-utilization", "0.90", "--stage", "reserve",
)  # fmt: skip


def test_the_ring_is_the_cost() -> None:
    document = cli_json("preflight", *RING_SERVE)
    assert document["exit_code"] == 0
    assert document["verdict"]["fits"] is True
    assert document["reserve"]["decode_ring"] == 8 * 32 * 151.5 * MIB == 38784 * MIB
    terms = {k: v for k, v in document["reserve"].items() if k not in ("inference_reserve", "total")}
    assert max(terms, key=lambda term: terms[term]) == "decode_ring"


def test_the_ring_is_shown_with_its_formula_and_no_size_is_labelled_mb() -> None:
    outcome = cli("preflight", *RING_SERVE)
    ring = next(line for line in outcome.out.splitlines() if line.startswith("decode-rollback ring"))
    assert "38,784 MiB" in ring
    assert "largest: decode-rollback ring 38,784 MiB" in outcome.out
    assert "8 depth x 32 slots x 151.5 MiB" in " ".join(outcome.out.split())
    assert "MB" not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("batch", "mib"),
    [(1, 1530), (2, 2295), (4, 3825), (8, 6885), (16, 10701), (32, 18333), (33, 18484.5), (64, 23181), (128, 32877)],
)
def test_verify_pools_by_batch(batch: int, mib: float) -> None:
    document = cli_json("plan", "qwen3.8-27b", "--speculative", "--num-drafts", "3", "--max-batch-size", str(batch))
    assert document["pool"]["total"] == mib * MIB == document["reserve"]["ssm_pool"]


BATCH_SERVE = ("qwen3.6-35b-a3b", "--device", "gb10", "--ssm-decode-ring-slots", "0", "--stage", "reserve")


def test_the_largest_batch_before_anything_loads() -> None:
    fits = cli_json("preflight", *BATCH_SERVE, "--free-memory", "14726067413B", "--max-batch-size", "127")
    assert (fits["verdict"]["fits"], fits["verdict"]["headroom"], fits["exit_code"]) == (True, 0, 0)
    refused = cli_json("preflight", *BATCH_SERVE, "--free-memory", "14726067413B", "--max-batch-size", "128")
    assert (refused["verdict"]["fits"], refused["verdict"]["need"], refused["exit_code"]) == (False, 14792914133, 1)
    assert refused["verdict"]["headroom"] == 14726067413 - 14792914133
    impossible = cli_json("preflight", *BATCH_SERVE, "--free-memory", "14726067413B", "--max-batch-size", "256")
    assert (impossible["exit_code"], impossible["error"]["code"]) == (2, "MP211")


def test_heads_that_do_not_divide() -> None:
    document = cli_json("plan", "qwen3.8-27b", "--tp-size", "3")
    assert document["exit_code"] == 1
    assert document["verdict"] == {
        "fits": False, "checked": [], "need": None, "free": None, "headroom": None, "stage": "settings",
        "suggestions": [],
    }  # fmt: skip
    assert "16 key heads" in document["error"]["message"]
    assert "4 KV heads" in document["error"]["message"]
    assert document["error"]["accepted"] == "--tp-size 1, 2, 4"


@pytest.mark.parametrize("sort", ["good", "refused", "broken", "missing", "unknown flag"])
def test_json_is_one_document_whatever_happens(sort: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    broken = tmp_path_factory.mktemp("broken") / "MODEL.toml"
    broken.write_text("[model\n")
    argv, code = {
        "good": (["plan", "qwen3.8-27b"], 0),
        "refused": (["preflight", "qwen3.8-27b", "--device", "gb10", "--free-memory", "1GiB"], 1),
        "broken": (["plan", str(broken)], 2),
        "missing": (["plan", str(broken.parent / "none" / "MODEL.toml")], 2),
        "unknown flag": (["plan", "qwen3.8-27b", "--max-batchsize", "3"], 2),
    }[sort]
    outcome = cli(*argv, "--format", "json")
    assert outcome.code == code
    assert outcome.json["exit_code"] == code
    assert outcome.json["schema"] == "metrale-plan/1"
    assert outcome.json["command"] == argv[0]
