"""Models nobody has seen: whatever a file says, it plans or it is told in one coded sentence."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli import cli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metrale_plan.importing import import_checkpoint
from metrale_plan.model.families.facts import NAMES
from metrale_plan.model.load import load_model
from metrale_plan.model.spellings import DIMS, LAYER_WORDS
from metrale_plan.sources.checkpoint import read_checkpoint

LAX = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

WORDS = sorted(LAYER_WORDS)
TYPES = ["qwen3_5", "qwen3_5_moe", "nemotron_h", "glm5_next", "deepseek_v4", "kimi_k3", "llama", "unheard_of"]

WAYS = ["bare", "types", "interval", "letters", "blocks", "indexes", "attn", "pattern", "counts"]

small = st.integers(1, 8)
ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2**70),
    st.floats(),
    st.text(max_size=4),
    st.lists(st.integers(-1, 5) | st.sampled_from(WORDS), max_size=3),
    st.dictionaries(st.sampled_from(sorted(NAMES)) | st.text(max_size=3), st.integers(), max_size=2),
)


@st.composite
def schedules(draw: st.DrawFn, count: int) -> dict[str, Any]:
    """The layers of one model in one of the ways that files tell them."""
    way = draw(
        st.sampled_from(["bare", "types", "interval", "letters", "blocks", "indexes", "attn", "pattern", "counts"])
    )
    kinds = draw(st.lists(st.sampled_from(WORDS), min_size=count, max_size=count + 2))
    if way == "types":
        return {draw(st.sampled_from(["layer_types", "layers_block_type", "attention_pattern"])): kinds}
    if way == "interval":
        return {"full_attention_interval": draw(small)}
    if way == "letters":
        return {
            "hybrid_override_pattern": "".join(draw(st.lists(st.sampled_from("ME*-"), min_size=count, max_size=count)))
        }
    if way == "blocks":
        return {
            "num_hidden_layers": None,
            "block_configs": [{"block_type": kind, "num_experts_per_tok": 2} for kind in kinds],
        }
    if way == "indexes":
        full = draw(st.sets(st.integers(0, count - 1)))
        base = draw(st.integers(0, 1))
        return {
            "linear_attn_config": {
                "full_attn_layers": [index + base for index in sorted(full)],
                "kda_layers": [index + base for index in range(count) if index not in full],
            }
        }
    if way == "attn":
        return {"attn_type_list": draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))}
    if way == "pattern":
        return {"layer_pattern": f"({', '.join(kinds[:3])})"}
    if way == "counts":
        linear = draw(st.integers(0, count))
        return {"layers_linear_attention": linear, "layers_full_attention": count - linear}
    return {}


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    """A config that may be a model's: sane numbers, a schedule, a family's dimensions; then some keys made odd."""
    count = draw(st.integers(1, 12))
    plain: dict[str, Any] = {
        "num_hidden_layers": count,
        "hidden_size": 64 * draw(small),
        "intermediate_size": 64 * draw(small),
        "num_attention_heads": draw(small),
        "num_key_value_heads": draw(small),
        "head_dim": draw(st.sampled_from([64, 128, 192])),
        "vocab_size": draw(st.integers(100, 300000)),
        **draw(schedules(count)),
    }
    groups: list[dict[str, Any]] = [
        {
            "linear_num_key_heads": 2,
            "linear_key_head_dim": 128,
            "linear_num_value_heads": 4,
            "linear_value_head_dim": 128,
            "linear_conv_kernel_dim": 4,
        },
        {"mamba_num_heads": 8, "mamba_head_dim": 64, "ssm_state_size": 16, "n_groups": 2, "conv_kernel": 4},
        {"linear_num_heads": 4, "linear_head_dim": 128, "linear_conv_kernel_dim": 4},
        {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64},
        {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "q_lora_rank": 256},
        {"sliding_window": 512, "num_global_key_value_heads": 1, "global_head_dim": 512},
        {"index_topk": 8, "index_n_heads": 2, "index_head_dim": 128, "index_kpool": 4},
        {"num_nextn_predict_layers": 1, "mtp_type": "full_attention"},
        {"compress_ratios": [0, 4, 128]},
        {"rope_parameters": {"mrope_interleaved": True}, "attn_output_gate": True},
    ]
    for group in draw(st.lists(st.sampled_from(groups), max_size=4)):
        plain |= group
    for key in draw(st.lists(st.sampled_from(sorted({*plain, *NAMES})), max_size=draw(st.integers(0, 2)))):
        plain[key] = draw(ODD)
    model_type = draw(st.sampled_from([*TYPES, None]))
    nesting = draw(st.sampled_from(["flat", "text", "twice", "both", "null"]))
    if nesting == "flat":
        return {"model_type": model_type, **plain}
    if nesting == "twice":
        return {"model_type": model_type, "text_config": {"text_config": plain}}
    if nesting == "both":
        return {"model_type": model_type, **plain, "text_config": dict(list(plain.items())[:4])}
    if nesting == "null":
        return {"model_type": model_type, "text_config": None, **plain}
    return {"model_type": model_type, "text_config": plain, "vision_config": {"hidden_size": 3}}


SERVES = [
    (),
    ("--speculative", "--num-drafts", "2", "--enable-prefix-caching"),
    ("--ssm-h-dtype", "f16-pool", "--gdn-fused-norm", "--kv-cache-dtype", "turbo3"),
]


def run(*argv: str) -> dict[str, Any]:
    """One run under JSON, which must end as the contract says and never as a bug."""
    outcome = cli(argv[0], "--format", "json", *argv[1:])
    document: dict[str, Any] = outcome.json
    assert outcome.code in (0, 1, 2), document["error"]
    assert document["exit_code"] == outcome.code
    assert (document["error"] is None) == (outcome.code == 0)
    if document["error"]:
        assert document["error"]["code"].startswith("MP1" if outcome.code == 1 else "MP2")
        assert document["error"]["code"] != "MP200"
    return document


@LAX
@given(config=configs(), serve=st.sampled_from(SERVES))
def test_any_config_plans_or_says_why_not(tmp_path: Path, config: dict[str, Any], serve: tuple[str, ...]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    planned = run("plan", "--checkpoint", str(tmp_path), *serve)
    if planned["exit_code"] == 0:
        assert planned["reserve"]["total"] > 0
    imported = run("import", str(tmp_path))
    assert (planned["exit_code"] == 2) == (imported["exit_code"] == 2 or bool(imported["import"]["missing"]))
    if imported["exit_code"] == 0:
        written = tmp_path / "MODEL.toml"
        written.write_text(imported["import"]["model_toml"], encoding="utf-8")
        again = load_model(written)
        assert again.geometry == import_checkpoint(read_checkpoint(str(tmp_path), {})).dims
        assert again.incomplete == tuple(imported["import"]["missing"])
        again_planned = run("plan", str(written), *serve)
        assert again_planned["reserve"] == planned["reserve"]
        run("plan", str(written), "--checkpoint", str(tmp_path), *serve)
    run("plan", "qwen3.8-27b", "--checkpoint", str(tmp_path), *serve)


def toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml_value(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(str(value))


ASCII: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(-2, 2**70),
    st.floats(),
    st.sampled_from(["", "full", "fp8"]),
    st.lists(small, max_size=3),
)


@LAX
@given(
    config=configs(),
    spelled=st.randoms(use_true_random=False),
    odd=st.dictionaries(
        st.sampled_from(["new_key", "behaviour", "layers_totl", "q_heads", "mtp_layers", "head_dimm"]),
        ASCII,
        max_size=2,
    ),
    behavior=st.dictionaries(
        st.sampled_from(["default_num_drafts", "mtp_max_seqs", "default_kv_dtype", "later_key"]), ASCII, max_size=2
    ),
)
def test_any_model_file_plans_or_says_why_not(
    tmp_path: Path, config: dict[str, Any], spelled: Any, odd: dict[str, Any], behavior: dict[str, Any]
) -> None:
    """The same models as a MODEL.toml, each dimension in any of its spellings, with newer, misspelt and odd keys."""
    flat: dict[str, Any] = {}
    for key, value in ({**config, **(config.get("text_config") or {})}).items():
        if value is not None and key in {"model_type", "linear_attn_config", "rope_parameters", *NAMES}:
            name = NAMES.get(key)
            others = [other for other in DIMS[name].spellings if "." not in other] if name else []
            flat[spelled.choice(others) if others else key] = value
    lines = ["[model]", *(f"{key} = {toml_value(value)}" for key, value in {**flat, **odd}.items())]
    lines += [
        "[behavior]",
        *(f"{key} = {toml_value(value)}" for key, value in behavior.items()),
        "[future.table]",
        "x = 1",
    ]
    path = tmp_path / "MODEL.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    run("plan", str(path), "--speculative")
    run("models", str(path))


@pytest.mark.parametrize("name", ["Qwen3.8-27B", "nemotron", "deepseek-v4-flash", "GLM-5.3-Flash"])
def test_no_name_decides_the_arithmetic(tmp_path: Path, name: str) -> None:
    config = {
        "model_type": "unheard_of",
        "num_hidden_layers": 4,
        "hidden_size": 512,
        "intermediate_size": 1024,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "vocab_size": 1000,
    }
    reserves = []
    for folder in (tmp_path / name, tmp_path / "plain"):
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({**config, "_name_or_path": name, "architectures": [name]}))
        reserves.append(run("plan", "--checkpoint", str(folder))["reserve"])
    assert reserves[0] == reserves[1] is not None
