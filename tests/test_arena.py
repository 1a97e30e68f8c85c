"""The buffer arena (engine memory plan, 11): the recorded boots to the byte, and what they do not reach."""

from dataclasses import replace
from datetime import date

import pytest
from boots import BOOTS, DENSE, MOE, NEMOTRON, Boot, boot
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.arena import UNRESERVED, allocated_arena, arena_entries, parse_splitk, reserved_arena
from metrale_plan.config.serve import ServeConfig
from metrale_plan.device import DeviceSpec
from metrale_plan.model.dims import ModelDims
from metrale_plan.rules import EngineRules, rules_on

MIB = 2**20

ORDER = [
    "hidden_states",
    "residual",
    "norm_output",
    "qkv_output",
    "attn_output",
    "moe_output",
    "logits",
    "ssm_qkvz",
    "ssm_ba",
    "ssm_deinterleaved",
    "ssm_gates",
    "ssm_conv_out_f32",
    "scratch",
    "splitk_workspace",
    "gdn_fla_scratch",
    "ssd_scratch",
    "qsa_select_scratch",
    "token_ids",
    "gate_logits",
    "gate_logits_f32",
    "moe_router_in_f32",
    "expert_gate_out",
    "expert_up_out",
    "expert_down_out",
    "moe_fp8_scratch",
    "fp8_act",
    "fp8_act_scale",
    "fp8_act_scale_kmajor",
    "hc_streams",
    "hc_post",
    "hc_comb",
    "hc_lowrank_scratch",
    "o_latent",
    "norm_unit_w",
    "ffn_act_q8",
    "ffn_act_a",
    "ffn_act_scale",
    "ffn_act_scale_kmajor",
    "ffn_gate_up_fused",
    "ffn_bf16_weight",
    "lora_xa",
    "lora_delta",
    "lora_hact",
    "lora_seq_slot",
    "q2_dequant_scratch",
    "q2_act_q8",
    "ssm_rowwise_w_bf16",
]

DENSE_ENTRIES = {
    "hidden_states": 22282240,
    "residual": 22282240,
    "norm_output": 22282240,
    "qkv_output": 62390272,
    "attn_output": 26738688,
    "moe_output": 22282240,
    "logits": 127015424,
    "ssm_qkvz": 71303168,
    "ssm_ba": 2621440,
    "ssm_deinterleaved": 71303168,
    "ssm_gates": 1310720,
    "ssm_conv_out_f32": 142606336,
    "scratch": 171008,
    "splitk_workspace": 49536,
    "gdn_fla_scratch": 197222400,
    "qsa_select_scratch": 256,
    "token_ids": 8704,
    "gate_logits": 256,
    "gate_logits_f32": 256,
    "moe_router_in_f32": 256,
    "expert_gate_out": 75759616,
    "expert_up_out": 75759616,
    "expert_down_out": 22282240,
    "fp8_act": 13369344,
    "fp8_act_scale": 417792,
    "fp8_act_scale_kmajor": 417792,
    "hc_streams": 256,
    "hc_post": 256,
    "hc_comb": 256,
    "hc_lowrank_scratch": 256,
    "o_latent": 256,
    "norm_unit_w": 10240,
    "ffn_act_q8": 152567808,
    "ffn_act_a": 37879808,
    "ffn_act_scale": 4734976,
    "ffn_act_scale_kmajor": 1183744,
    "ffn_gate_up_fused": 1114112,
}

MOE_ENTRIES = {
    "moe_fp8_scratch": 34899716,
    "gate_logits": 4198400,
    "gate_logits_f32": 8396800,
    "moe_router_in_f32": 67174400,
    "expert_gate_out": 67239936,
    "expert_up_out": 67239936,
    "expert_down_out": 268959744,
    "scratch": 2137088,
    "logits": 127015424,
    "gdn_fla_scratch": 381296640,
}

NEMOTRON_ENTRIES = {
    "ssm_qkvz": 168985600,
    "ssm_deinterleaved": 100761600,
    "ssd_scratch": 21299200,
    "moe_fp8_scratch": 94440196,
    "scratch": 591080,
    "splitk_workspace": 24960,
    "norm_output": 67174400,
}

RULES = EngineRules()
DEVICE = DeviceSpec(id="gb10", hardware_class="gb10", total=124610 * MIB, sm_count=48, splitk="legacy")
PLAIN = ModelDims(
    loader="dense_gqa",
    model_type="llama",
    recurrent="none",
    layers=("full",) * 4,
    hidden=1024,
    vocab=32000,
    q_heads=8,
    kv_heads=2,
    head_dim=128,
    inter=4096,
)


def allocated(entry: Boot) -> dict[str, int]:
    return allocated_arena(entry.dims, entry.config, entry.device, entry.rules)


def entries(
    dims: ModelDims = PLAIN,
    *,
    config: ServeConfig | None = None,
    device: DeviceSpec = DEVICE,
    rules: EngineRules = RULES,
    width: int = 1000,
    lora_rank: int = 0,
) -> dict[str, int]:
    """The arena at a width of 1000 tokens: rows = rows3 = 1008."""
    settings = ServeConfig() if config is None else config
    return arena_entries(dims, settings, device, rules, width=width, vocab=dims.vocab, lora_rank=lora_rank)


def test_every_entry_of_the_dense_boot() -> None:
    assert allocated(boot(DENSE)) == DENSE_ENTRIES


@pytest.mark.parametrize(("name", "listed"), [(MOE, MOE_ENTRIES), (NEMOTRON, NEMOTRON_ENTRIES)])
def test_listed_entries_of_the_moe_boots(name: str, listed: dict[str, int]) -> None:
    arena = allocated(boot(name))
    assert {key: arena[key] for key in listed} == listed


@pytest.mark.parametrize(
    ("name", "reserved", "built", "buffers"),
    [
        (DENSE, 1119782272, 1177369216, 37),
        (MOE, 2221663364, 2226847908, 33),
        (NEMOTRON, 1555794572, 1558164620, 33),
    ],
)
def test_totals_of_the_boots(name: str, reserved: int, built: int, buffers: int) -> None:
    entry = boot(name)
    arena = allocated(entry)
    assert reserved_arena(entry.dims, entry.config, entry.device, entry.rules) == reserved
    assert sum(arena.values()) == built
    assert len(arena) == buffers
    ledger = entry.record["ledger"]["arena"]
    assert (round(built / MIB, 1), buffers) == (ledger["mib"], ledger["allocations"])


@pytest.mark.parametrize("name", BOOTS)
def test_reserved_is_the_preflight_width_without_two_entries(name: str) -> None:
    entry = boot(name)
    width = 2048 if name == DENSE else 8192
    arena = arena_entries(entry.dims, entry.config, entry.device, entry.rules, width=width, vocab=entry.dims.vocab)
    assert arena.keys() >= UNRESERVED
    left_out = arena["o_latent"] + arena["norm_unit_w"]
    assert reserved_arena(entry.dims, entry.config, entry.device, entry.rules) == sum(arena.values()) - left_out


def test_order_is_the_plans() -> None:
    switched = ServeConfig(native_q2=True, native_q2_mmq=True, fp8_rowwise=True, ffn_min_rows=1)
    for dims in (boot(DENSE).dims, boot(NEMOTRON).dims, boot(MOE).dims):
        names = list(entries(dims, config=switched, lora_rank=8))
        assert names == [name for name in ORDER if name in names]


# Dated rules


@pytest.mark.parametrize(("day", "element"), [(date(2026, 10, 4), 2), (date(2026, 10, 5), 4)])
def test_moe_expert_elements_by_date(day: date, element: int) -> None:
    entry = boot(MOE)
    arena = allocated(replace(entry, rules=rules_on(day)))
    # rows3 = align(8200, 16) = 8208; top_k * moe_inter = 4096
    assert arena["expert_gate_out"] == arena["expert_up_out"] == element * 8208 * 4096
    assert arena["expert_down_out"] == 268959744  # 2 bytes on every date


def test_dense_expert_buffers_do_not_depend_on_the_date() -> None:
    assert allocated(replace(boot(DENSE), rules=rules_on(date(2026, 10, 9)))) == DENSE_ENTRIES


@pytest.mark.parametrize(
    ("day", "variable", "of_class", "present"),
    [
        (date(2026, 10, 8), 64, 64, False),
        (date(2026, 10, 9), None, 0, False),
        (date(2026, 10, 9), None, 64, True),
        (date(2026, 10, 9), 64, 0, True),
        (date(2026, 10, 9), 0, 64, False),
    ],
)
def test_bf16_ffn_weight(day: date, variable: int | None, of_class: int, present: bool) -> None:
    config, device = ServeConfig(ffn_min_rows=variable), replace(DEVICE, ffn_min_rows=of_class)
    arena = entries(config=config, device=device, rules=rules_on(day))
    # 2 * 4096 * 1024
    assert arena.get("ffn_bf16_weight", 0) == (8388608 if present else 0)
    plain = reserved_arena(PLAIN, ServeConfig(), DEVICE, rules_on(day))
    assert reserved_arena(PLAIN, config, device, rules_on(day)) - plain == (8388608 if present else 0)


def test_no_bf16_ffn_weight_beside_experts() -> None:
    assert "ffn_bf16_weight" not in entries(boot(MOE).dims, config=ServeConfig(ffn_min_rows=64))


# 11.1


def test_scratch_users() -> None:
    # meta(1000) of one stream: align(4000, 8) + 8000 = 12000; + 4 * 2049 = 20196; + 4; below every other user.
    # tables: 32768 + 24*256 + 256*2049*4 = 2137088.
    assert entries()["scratch"] == 2137088
    # B = 9 and D = 32: 32768 + 6144 + 9216 = 48128, so the floor of 64 KiB holds.
    assert entries(config=ServeConfig(max_seq_len=128), width=16)["scratch"] == 65536
    # D = 128 is below the 256 tables that are always there.
    assert entries(config=ServeConfig(max_batch_size=None))["scratch"] == 2137088
    # A block longer than the sequence: B = 1.
    assert entries(config=ServeConfig(block_size=65536), width=16)["scratch"] == 65536
    # No block size: B = 256; 32768 + 6144 + 262144.
    assert entries(config=ServeConfig(block_size=0), width=16)["scratch"] == 301056


def test_scratch_of_batched_prefill() -> None:
    # m = 8193, top_k 6, one stream: c = 1025, t = 8200.
    # align(8*8200*6, 64) = 393600; 8 * align(align(4100, 8) + 8200, 64) = 8 * 12352 = 98816;
    # align(32800, 8) + align(65600, 8) = 98400; 128 + 40 + 32; 64. Sum 591080, as on a width of 8200.
    dims = boot(NEMOTRON).dims
    assert entries(dims, config=ServeConfig(max_seq_len=8192), width=8193)["scratch"] == 591080


# 11.2


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("legacy", "legacy"),
        ("auto", "auto"),
        ("0", 1),
        ("off", 1),
        ("false", 1),
        ("no", 1),
        ("1", 1),
        ("+4", 4),
        ("007", 7),
        ("16", 16),
        ("17", 16),
        ("18446744073709551615", 16),
        ("18446744073709551616", None),
        ("9" * 5000, None),
        ("", None),
        ("+", None),
        ("++4", None),
        ("-1", None),
        (" 4", None),
        ("4_0", None),
        ("٤", None),
        ("²", None),
        ("true", None),
        ("AUTO", None),
    ],
)
def test_parse_splitk(text: str, policy: str | int | None) -> None:
    assert parse_splitk(text) == policy


@pytest.mark.parametrize(
    ("variable", "of_class", "batch", "sms", "q_heads", "slots"),
    [
        (None, "legacy", 8, 48, 8, 48),
        (None, "legacy", 8, 0, 8, 1),
        (None, "auto", 8, 132, 24, 32 * 24 * 11),  # ceil(264 / 24) = 11
        (None, "auto", 8, 132, 25, 32 * 25 * 11),  # ceil(264 / 25) = 11
        (None, "auto", 64, 132, 8, 64 * 8 * 16),  # 33 splits, at most 16
        (None, "auto", 8, 1, 64, 32 * 64),
        (None, "auto", None, 132, 0, 128 * 16),
        ("legacy", "auto", 8, 132, 24, 132),
        ("4", "auto", 8, 132, 24, 32 * 24 * 4),
        ("off", "legacy", 8, 132, 24, 32 * 24),
        ("maybe", "auto", 8, 132, 24, 32 * 24 * 11),
    ],
)
def test_splitk_workspace(
    variable: str | None, of_class: str, batch: int | None, sms: int, q_heads: int, slots: int
) -> None:
    dims, device = replace(PLAIN, q_heads=q_heads), replace(DEVICE, splitk=of_class, sm_count=sms)
    arena = entries(dims, config=ServeConfig(splitk=variable, max_batch_size=batch), device=device)
    assert arena["splitk_workspace"] == 4 * 130 * slots


# 11 and 11.3


def test_attention_only_models_keep_small_recurrent_buffers() -> None:
    arena = entries()
    # 2 * (1000 + 1008) * 2 * 128; 4 * 128 * 1024; 2 * 1000 * 8 * 128; 2 * 128 * 1024
    assert arena["ssm_qkvz"] == 1028096
    assert arena["ssm_ba"] == 524288
    assert arena["ssm_deinterleaved"] == 2048000
    assert arena["ssm_gates"] == 262144
    assert arena["ssm_conv_out_f32"] == 256
    assert "gdn_fla_scratch" not in arena
    assert "ssd_scratch" not in arena
    assert "moe_fp8_scratch" not in arena


def test_delta_net_heads_of_another_size_have_no_fused_scratch() -> None:
    dims = replace(PLAIN, layers=("linear", "full"), lin_k_heads=4, lin_v_heads=8, lin_k_dim=64, lin_v_dim=128)
    assert "gdn_fla_scratch" not in entries(dims)
    # (ceil(1000/64) + 16) * 8 * (16384 + 16384 + 32768 + 16384 + 256)
    assert entries(replace(dims, lin_k_dim=128))["gdn_fla_scratch"] == 32 * 8 * 82176


def test_mamba_without_groups_counts_one() -> None:
    dims = replace(PLAIN, layers=("linear", "full"), mamba_heads=16, mamba_head_dim=64, ssm_state=128, conv_kernel=4)
    # c = 17: 2*16*17*64*4 + 17*1*64*64*4
    assert entries(dims)["ssd_scratch"] == 139264 + 278528


def test_small_widths_meet_the_floors() -> None:
    arena = entries(width=1)
    assert arena["token_ids"] == 256
    assert arena["logits"] == 2 * 32000
    assert arena["expert_gate_out"] == 2 * 16 * 4096
    assert arena["ssm_gates"] == 2 * 1 * 1024


@pytest.mark.parametrize(("width", "batch", "rows"), [(100, 8, 100), (1000, 8, 256), (1000, None, 256)])
def test_logit_rows(width: int, batch: int | None, rows: int) -> None:
    assert entries(width=width, config=ServeConfig(max_batch_size=batch))["logits"] == 2 * rows * 32000


def test_mla() -> None:
    dims = replace(PLAIN, kv_lora_rank=512, qk_rope_head_dim=64, q_lora_rank=1536)
    arena = entries(dims)
    assert arena["attn_output"] == 2 * 1000 * 8 * 576
    assert arena["ssm_deinterleaved"] == 2 * 1000 * 8 * 576
    assert arena["ssm_ba"] == 2 * 1000 * 1536
    assert arena["ssm_conv_out_f32"] == 2 * 1000 * 8 * 64
    # The same ranks without a latent KV change nothing.
    assert entries(replace(dims, kv_lora_rank=0)) == entries()


def test_latent_moe_and_zero_experts() -> None:
    dims = replace(
        PLAIN, experts=64, top_k=4, moe_inter=512, shared_inter=2048, moe_latent=768, zero_experts=32, inter=4096
    )
    arena = entries(dims)
    assert arena["gate_logits"] == 2 * 1000 * 96
    assert arena["gate_logits_f32"] == 4 * 1000 * 96
    assert arena["moe_router_in_f32"] == 4 * 1000 * 1024
    assert arena["expert_gate_out"] == 4 * 1008 * 4096  # inter is wider than top_k * moe_inter
    assert arena["expert_down_out"] == 2 * 1008 * 4 * 768
    assert arena["ssm_ba"] == 2 * 1000 * 768
    assert arena["ssm_qkvz"] == 2 * 1000 * 2048
    # act 1000*2048 = 2048000 (a multiple of 256); scales 4 * max(1000*16, 4000*4) = 64000;
    # items (32 + 64 + 1) * 16 = 1552, times 8 = 12416, to 12544; + 4
    assert arena["moe_fp8_scratch"] == 2048000 + 64000 + 12544 + 4
    assert not any(name.startswith("ffn_") for name in arena)


def test_moe_scratch_of_256_experts_has_a_second_table() -> None:
    dims = replace(PLAIN, experts=256, top_k=4, moe_inter=512)
    # act 2048000; scales 4 * 16000 = 64000; items (32 + 257) * 16 * 8 = 36992 to 37120; + 4, to 2149376;
    # + 8 * 256 * 16 = 32768; + 4
    assert entries(dims)["moe_fp8_scratch"] == 2149376 + 32768 + 4


def test_indexer_selection() -> None:
    dims = replace(PLAIN, index_topk=2048, index_compress_ratio=4, index_n_heads=4, index_head_dim=128)
    # 5*128*2 + 4*128*4 + ceil(32767/4)*4 + 512*4 = 1280 + 2048 + 32768 + 2048
    assert entries(dims, config=ServeConfig(max_seq_len=32767))["qsa_select_scratch"] == 2048 * 38144
    assert entries(replace(dims, index_compress_ratio=0))["qsa_select_scratch"] == 256
    assert entries(replace(dims, index_topk=0))["qsa_select_scratch"] == 256


def test_hyper_connections() -> None:
    dims = replace(PLAIN, hc_mult=4, hc_lowrank=320)
    arena = entries(dims)
    assert arena["hc_streams"] == 4 * 1000 * 4 * 1024
    assert arena["hc_post"] == 16000
    assert arena["hc_comb"] == 64000
    # 64 * (4096 + 320) * 4 = 1130496; 1000 * (8192 + 320 + 4) * 2
    assert arena["hc_lowrank_scratch"] == 17032000
    assert entries(dims, width=10)["hc_lowrank_scratch"] == 10 * 4416 * 4  # above 10 * 8516 * 2
    assert entries(dims, width=4096)["hc_lowrank_scratch"] == 2048 * 8516 * 2
    assert entries(replace(dims, hc_lowrank=0))["hc_lowrank_scratch"] == 256
    small = entries(dims, width=1)
    assert (small["hc_post"], small["hc_comb"]) == (256, 256)


def test_grouped_output_projection() -> None:
    dims = replace(PLAIN, o_groups=8, o_lora_rank=1024)
    assert entries(dims)["o_latent"] == 2 * 1000 * 8192
    assert reserved_arena(dims, ServeConfig(), DEVICE, RULES) == reserved_arena(PLAIN, ServeConfig(), DEVICE, RULES)


# Adapters and variables


def test_lora_is_allocated_but_not_reserved() -> None:
    config = ServeConfig()
    extra = allocated_arena(PLAIN, config, DEVICE, RULES, lora_rank=16)
    base = allocated_arena(PLAIN, config, DEVICE, RULES)
    m = 8200
    assert {name: size for name, size in extra.items() if name not in base} == {
        "lora_xa": 2 * m * 16,
        "lora_delta": 2 * m * 4096,
        "lora_hact": 2 * m * 4096,
        "lora_seq_slot": 4 * m,
    }
    assert "lora_hact" not in entries(boot(MOE).dims, lora_rank=16)  # no dense width: no entry


def test_variable_gated_buffers() -> None:
    dims = boot(DENSE).dims
    base = entries(dims)
    config = ServeConfig(native_q2=True, native_q2_mmq=True, fp8_rowwise=True)
    extra = entries(dims, config=config)
    assert {name: size for name, size in extra.items() if name not in base} == {
        "q2_dequant_scratch": 2 * 5120 * 17408,
        "q2_act_q8": 4 * 1000 * 17408 + MIB,
        "ssm_rowwise_w_bf16": 48 * (2 * 16384 * 5120 + 2 * 5120 * 6144),
    }
    assert "ssm_rowwise_w_bf16" not in entries(config=config)  # no recurrent layers


def test_served_vocabulary_is_capped_at_the_tokenizer() -> None:
    dims = replace(PLAIN, tokenizer_vocab=31000)
    assert allocated_arena(dims, ServeConfig(), DEVICE, RULES)["logits"] == 2 * 256 * 31000
    assert reserved_arena(dims, ServeConfig(), DEVICE, RULES) == reserved_arena(PLAIN, ServeConfig(), DEVICE, RULES)


@given(st.sampled_from(BOOTS), st.integers(1, 70_000), st.integers(0, 4096))
def test_entries_are_positive_and_grow_with_the_width(name: str, width: int, more: int) -> None:
    dims = boot(name).dims
    narrow, broad = entries(dims, width=width), entries(dims, width=width + more)
    assert all(size > 0 for size in narrow.values())
    assert narrow.keys() == broad.keys()
    assert all(narrow[key] <= broad[key] for key in narrow)
