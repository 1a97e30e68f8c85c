"""`import` and `--checkpoint`: dimensions from a checkpoint's own files, and what they do not tell."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli import cli, cli_json

from metrale_plan import catalog
from metrale_plan.importing import import_checkpoint
from metrale_plan.model.dims import ModelDims
from metrale_plan.model.load import load_model
from metrale_plan.sources.checkpoint import read_checkpoint

CONFIGS = Path(__file__).parent / "data" / "configs"

L3F = ("linear", "linear", "linear", "full")
NEMOTRON = "".join(
    {"M": "l", "E": "e", "*": "f"}[letter] for letter in "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
)
NEMOTRON_LAYERS = tuple({"l": "linear", "e": "moe", "f": "full"}[letter] for letter in NEMOTRON)

QWEN_27B = {
    "loader": "qwen3_5",
    "model_type": "qwen3_5",
    "recurrent": "gdn",
    "layers": L3F * 16,
    "hidden": 5120,
    "vocab": 248320,
    "q_heads": 24,
    "kv_heads": 4,
    "head_dim": 256,
    "attn_gated": True,
    "mrope_interleaved": True,
    "inter": 17408,
    "lin_k_heads": 16,
    "lin_k_dim": 128,
    "lin_v_heads": 48,
    "lin_v_dim": 128,
    "conv_kernel": 4,
    "has_mtp": True,
    "mtp_dense_ffn": True,
}
QWEN_35B: dict[str, Any] = {
    "loader": "qwen3_6_moe",
    "model_type": "qwen3_5_moe",
    "recurrent": "gdn",
    "layers": L3F * 10,
    "hidden": 2048,
    "vocab": 248320,
    "q_heads": 16,
    "kv_heads": 2,
    "head_dim": 256,
    "attn_gated": True,
    "mrope_interleaved": True,
    "experts": 256,
    "top_k": 8,
    "moe_inter": 512,
    "shared_inter": 512,
    "lin_k_heads": 16,
    "lin_k_dim": 128,
    "lin_v_heads": 32,
    "lin_v_dim": 128,
    "conv_kernel": 4,
}

EXPECTED: dict[str, tuple[str, dict[str, Any]]] = {
    "bg-digitalservices--Gemma-4-26B-A4B-it-NVFP4A16": (
        "gemma-4-26b-a4b",
        {
            "loader": None,
            "model_type": "gemma4",
            "recurrent": "none",
            "layers": (*("sliding",) * 5, "full") * 5,
            "hidden": 2816,
            "vocab": 262144,
            "q_heads": 16,
            "kv_heads": 8,
            "head_dim": 256,
            "inter": 2112,
            "experts": 128,
            "top_k": 8,
            "moe_inter": 704,
            "kv_shapes": (*((8, 256),) * 5, (2, 512)) * 5,
        },
    ),
    "centml--Qwen3.6-27B-NVFP4-W4A4-mlpinf": ("qwen3.6-27b", QWEN_27B),
    "Hcompany--Holo-3.1-35B-A3B-NVFP4": ("holo-3.1-35b-a3b", QWEN_35B),
    "ig1--Qwen3-VL-30B-A3B-Instruct-NVFP4": (
        "qwen3-vl-30b-a3b",
        {
            "loader": None,
            "model_type": "qwen3_vl_moe",
            "recurrent": "none",
            "layers": ("full",) * 48,
            "hidden": 2048,
            "vocab": 151936,
            "q_heads": 32,
            "kv_heads": 4,
            "head_dim": 128,
            "inter": 6144,
            "experts": 128,
            "top_k": 8,
            "moe_inter": 768,
        },
    ),
    "Inferact--Qwen3.8-Flash-Next-NVFP4": (
        "qwen3.8-flash-next",
        {
            "loader": None,
            "model_type": "qwen4_exp",
            "recurrent": "gdn",
            "layers": L3F * 12,
            "hidden": 2560,
            "vocab": 248320,
            "q_heads": 24,
            "kv_heads": 2,
            "head_dim": 256,
            "attn_gated": True,
            "mrope_interleaved": True,
            "experts": 512,
            "top_k": 10,
            "moe_inter": 640,
            "shared_inter": 640,
            "lin_k_heads": 16,
            "lin_k_dim": 128,
            "lin_v_heads": 48,
            "lin_v_dim": 128,
            "conv_kernel": 4,
            "hc_mult": 4,
            "hc_lowrank": 320,
            "index_topk": 2048,
            "index_n_heads": 4,
            "index_head_dim": 128,
            "index_compress_ratio": 4,
            "has_mtp": True,
            "mtp_layers": ("full",),
        },
    ),
    "Kbenkhaled--Qwen3.5-27B-NVFP4": ("qwen3.5-27b", QWEN_27B),
    "lukealonso--MiniMax-M2.7-NVFP4": (
        "minimax-m2-229b",
        {
            "loader": None,
            "model_type": "minimax_m2",
            "recurrent": "none",
            "layers": ("full",) * 62,
            "hidden": 3072,
            "vocab": 200064,
            "q_heads": 48,
            "kv_heads": 8,
            "head_dim": 128,
            "inter": 1536,
            "experts": 256,
            "top_k": 8,
            "moe_inter": 1536,
            "has_mtp": True,
        },
    ),
    "nvidia--GLM-5.3-Flash-NVFP4": (
        "glm-5.3-flash",
        {
            "loader": None,
            "model_type": "glm5_next",
            "recurrent": "kda",
            "layers": (*("linear", "linear", "linear", "sparse") * 11, "linear"),
            "hidden": 4096,
            "vocab": 154880,
            "q_heads": 64,
            "kv_heads": 64,
            "head_dim": 256,
            "inter": 12288,
            "experts": 288,
            "top_k": 8,
            "moe_inter": 2048,
            "shared_inter": 2048,
            "lin_k_heads": 64,
            "lin_k_dim": 128,
            "lin_v_heads": 64,
            "lin_v_dim": 128,
            "conv_kernel": 4,
            "kv_lora_rank": 512,
            "q_lora_rank": 1536,
            "hc_mult": 4,
            "index_topk": 2048,
            "index_n_heads": 32,
            "index_head_dim": 128,
            "index_kpool": 4,
            "has_mtp": True,
            "mtp_layers": ("sparse",),
        },
    ),
    "nvidia--NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4": (
        "nemotron-3-nano-30b-a3b",
        {
            "loader": "nemotron_h",
            "model_type": "nemotron_h",
            "recurrent": "mamba2",
            "layers": NEMOTRON_LAYERS,
            "hidden": 2688,
            "vocab": 131072,
            "q_heads": 32,
            "kv_heads": 2,
            "head_dim": 128,
            "inter": 1856,
            "experts": 128,
            "top_k": 6,
            "moe_inter": 1856,
            "shared_inter": 3712,
            "mamba_heads": 64,
            "mamba_head_dim": 64,
            "ssm_state": 128,
            "ssm_groups": 8,
            "conv_kernel": 4,
            "has_mtp": True,
            "mtp_layers": ("full", "moe"),
        },
    ),
    "poolside--Laguna-XS-2.1-INT4": (
        "laguna-xs-2.1",
        {
            "loader": None,
            "model_type": "laguna",
            "recurrent": "none",
            "layers": ("full", "sliding", "sliding", "sliding") * 10,
            "hidden": 2048,
            "vocab": 100352,
            "q_heads": 48,
            "kv_heads": 8,
            "head_dim": 128,
            "inter": 8192,
            "experts": 256,
            "top_k": 8,
            "moe_inter": 512,
            "shared_inter": 512,
        },
    ),
    "Sehyo--Qwen3.5-35B-A3B-NVFP4": ("qwen3.5-35b-a3b", QWEN_35B | {"has_mtp": True}),
    "stepfun-ai--Step-3.7-Flash-NVFP4": (
        "step3p7-flash",
        {
            "loader": None,
            "model_type": "step3p7",
            "recurrent": "none",
            "layers": (*("full", "sliding", "sliding", "sliding") * 11, "full"),
            "hidden": 4096,
            "vocab": 128896,
            "q_heads": 64,
            "kv_heads": 8,
            "head_dim": 128,
            "attn_gated": True,
            "inter": 11264,
            "experts": 288,
            "top_k": 8,
            "moe_inter": 1280,
            "shared_inter": 1280,
            "has_mtp": True,
            "mtp_layers": ("sliding", "sliding", "sliding"),
        },
    ),
}
"""Folder below `configs` -> bundled model of that checkpoint, and the dimensions by hand. All others are 0."""

SERVES = [
    ("--max-batch-size", "8"),
    ("--max-batch-size", "32", "--max-seq-len", "24576", "--enable-prefix-caching"),
    ("--speculative", "--num-drafts", "3", "--kv-high-precision-layers", "2"),
    ("--ngram-speculative", "--num-drafts", "2", "--max-prefill-tokens", "4096", "--kv-cache-dtype", "turbo3"),
]


class TestDimensions:
    def test_every_whole_config_is_here(self) -> None:
        assert {path.name for path in CONFIGS.iterdir()} == EXPECTED.keys()

    @pytest.mark.parametrize("folder", EXPECTED)
    def test_are_those_written_by_hand(self, folder: str) -> None:
        config = read_checkpoint(str(CONFIGS / folder), {})
        assert import_checkpoint(config).dims == ModelDims(**EXPECTED[folder][1])

    @pytest.mark.parametrize("folder", EXPECTED)
    def test_come_back_from_the_written_file(self, folder: str, tmp_path: Path) -> None:
        imported = import_checkpoint(read_checkpoint(str(CONFIGS / folder), {}))
        path = tmp_path / "MODEL.toml"
        path.write_text(imported.text, encoding="utf-8")
        model = load_model(path)
        assert model.dims == imported.dims
        assert [note.code for note in model.notes if note.code != "MP223"] == []

    @pytest.mark.parametrize("folder", EXPECTED)
    @pytest.mark.parametrize("flags", SERVES, ids=lambda flags: flags[0])
    def test_plans_are_those_of_the_bundled_file(self, folder: str, flags: tuple[str, ...], tmp_path: Path) -> None:
        name = EXPECTED[folder][0]
        path = tmp_path / "MODEL.toml"
        assert cli("import", str(CONFIGS / folder), "-o", str(path)).code == 0
        kv = () if "--kv-cache-dtype" in flags else ("--kv-cache-dtype", "fp8")
        drafts = () if "--num-drafts" in flags else ("--num-drafts", "1")
        common = (*flags, *kv, *drafts, "--mtp-max-seqs", "32", "--device", "h200-sxm")
        served = () if "Lightning" not in folder else ("--", "met", "serve", folder.replace("--", "/"))
        plans = [
            cli_json("plan", *source, *common, *served)
            for source in ((name,), (str(path),), ("--checkpoint", str(CONFIGS / folder)))
        ]
        bundled, written, direct = [
            {key: plan[key] for key in ("reserve", "arena", "kv", "pool", "verify", "ladder", "verdict", "exit_code")}
            for plan in plans
        ]
        assert bundled["reserve"] is not None or bundled["exit_code"] == 1
        assert written == bundled
        assert direct == bundled


def config(tmp_path: Path, **keys: Any) -> Path:
    """A small config.json, with keys replaced, added, or left out (None)."""
    plain: dict[str, Any] = {
        "model_type": "llama",
        "num_hidden_layers": 4,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "vocab_size": 32000,
        "torch_dtype": "bfloat16",
    }
    path = tmp_path / "config.json"
    whole = {key: value for key, value in {**plain, **keys}.items() if value is not None}
    path.write_text(json.dumps(whole, indent=1), encoding="utf-8")
    return path


def dims_of(path: Path) -> ModelDims:
    found = import_checkpoint(read_checkpoint(str(path), {})).dims
    assert found is not None
    return found


class TestReading:
    def test_the_language_model_s_part_wins_over_the_whole(self, tmp_path: Path) -> None:
        path = config(
            tmp_path,
            hidden_size=7,
            text_config={"hidden_size": 2048, "model_type": "llama_text", "num_hidden_layers": 6},
            vision_config={"hidden_size": 3, "num_hidden_layers": 99},
        )
        dims = dims_of(path)
        assert (dims.hidden, len(dims.layers), dims.vocab, dims.model_type) == (2048, 6, 32000, "llama")

    def test_nested_twice(self, tmp_path: Path) -> None:
        path = config(tmp_path, model_type=None, text_config={"text_config": {"model_type": "x", "hidden_size": 512}})
        assert (dims_of(path).hidden, dims_of(path).model_type) == (512, "x")

    def test_nulls_are_absent(self, tmp_path: Path) -> None:
        path = tmp_path / "config.json"
        text = config(tmp_path).read_text().replace('"head_dim": 128', '"head_dim": null, "moe_latent_size": null')
        path.write_text(text.replace('"model_type"', '"rope_scaling": null, "text_config": null, "model_type"'))
        assert dims_of(path).head_dim == 1024 // 8

    @pytest.mark.parametrize(
        ("keys", "told"),
        [
            ({"dtype": "float16"}, "float16"),
            ({"torch_dtype": "float16"}, "float16"),
            ({"torch_dtype": None, "text_config": {"dtype": "bfloat16"}}, "bfloat16"),
            ({"torch_dtype": None}, None),
        ],
    )
    def test_dtype_by_either_key_or_said_to_be_untold(
        self, tmp_path: Path, keys: dict[str, Any], told: str | None
    ) -> None:
        answer = cli_json("import", str(config(tmp_path, **keys)))["import"]
        assert answer["dtype"] == told
        assert any("dtype" in line.split(":")[1] for line in answer["untold"] if "data type" in line) == (told is None)

    def test_params_json(self, tmp_path: Path) -> None:
        path = tmp_path / "params.json"
        params = {
            "dim": 1024,
            "n_layers": 3,
            "n_heads": 8,
            "n_kv_heads": 2,
            "head_dim": 64,
            "hidden_dim": 4096,
            "vocab_size": 1000,
            "moe": {"num_experts": 16, "num_experts_per_tok": 2, "expert_hidden_dim": 512, "num_shared_experts": 1},
        }
        path.write_text(json.dumps(params))
        dims = dims_of(tmp_path)
        assert dims.model_type == "mistral"  # what the engine calls a checkpoint of this file alone
        assert (dims.hidden, dims.inter, dims.experts, dims.moe_inter, dims.shared_inter) == (1024, 4096, 16, 512, 512)

    def test_blocks_that_differ(self, tmp_path: Path) -> None:
        blocks = [
            {"block_type": "mamba"},
            {"block_type": "moe", "moe_intermediate_size": 1280, "num_experts_per_tok": 4},
            {"block_type": "attention"},
            {"block_type": "moe", "moe_intermediate_size": 2688, "num_experts_per_tok": 22},
        ]
        mamba = {"mamba_num_heads": 8, "mamba_head_dim": 64, "ssm_state_size": 16, "n_groups": 1, "conv_kernel": 4}
        path = config(tmp_path, num_hidden_layers=None, block_configs=blocks, n_routed_experts=512, **mamba)
        dims = dims_of(path)
        assert dims.layers == ("linear", "moe", "full", "moe")
        assert (dims.moe_inter, dims.top_k) == (2688, 22)

    @pytest.mark.parametrize(
        ("blocks", "at"), [([{"attention": {"no_op": True}}] * 4, 0), ([{"block_type": "moe"}, 3], 1), ({"a": 1}, None)]
    )
    def test_blocks_of_another_make_are_no_bare_count(self, tmp_path: Path, blocks: Any, at: int | None) -> None:
        path = config(tmp_path, block_configs=blocks)
        error = cli_json("plan", "--checkpoint", str(path))["error"]
        assert error["code"] == "MP203"
        assert error["message"].startswith("block_configs" + ("" if at is None else f"[{at}]"))
        assert "block_type" in error["accepted"]
        assert (
            dims_of(config(tmp_path, block_configs=blocks, layer_types=["full_attention"] * 4)).layers == ("full",) * 4
        )

    @pytest.mark.parametrize("decoder", [2, 8])
    def test_the_decoder_s_numbers_win_over_the_whole_s(self, tmp_path: Path, decoder: int) -> None:
        stacks = {
            "encoder_layers": 4,
            "decoder_layers": decoder,
            "encoder_attention_heads": 8,
            "decoder_attention_heads": 16,
            "encoder_ffn_dim": 4096,
            "decoder_ffn_dim": 2048,
        }
        path = config(tmp_path, **stacks, num_key_value_heads=None)  # its own num_hidden_layers is the encoder's 4
        target = tmp_path / "MODEL.toml"
        assert cli("import", str(path), "-o", str(target)).code == 0
        for dims in (dims_of(path), load_model(target).dims):
            assert (len(dims.layers), dims.q_heads, dims.kv_heads, dims.inter) == (decoder, 16, 16, 2048)

    def test_state_space_layers_are_no_bare_count(self, tmp_path: Path) -> None:
        state = {"mamba_d_state": 16, "mamba_d_conv": 4, "attn_layer_period": 8}
        missing = cli_json("import", str(config(tmp_path, **state)))["import"]["missing"]
        assert {"layer_pattern", "mamba_num_heads"} <= set(missing)
        known = {"mamba_n_heads": 8, "mamba_d_head": 64, "mamba_d_state": 16, "mamba_n_groups": 1, "mamba_d_conv": 4}
        dims = dims_of(config(tmp_path, **known, layer_types=["mamba", "mamba", "attention", "mamba"]))
        assert (dims.recurrent, dims.ssm_layers) == ("mamba2", 3)
        assert (dims.h_unit, dims.conv_unit) == (4 * 8 * 64 * 16, 4 * 4 * (8 * 64 + 2 * 16))

    def test_a_head_width_that_is_not_told(self, tmp_path: Path) -> None:
        path = config(tmp_path, head_dim=None)
        answer = cli_json("import", str(path))["import"]
        assert any(line.startswith("head_dim") and "128" in line for line in answer["untold"])
        assert "head_dim = 128 # hidden_size / num_attention_heads" in answer["model_toml"]
        assert dims_of(config(tmp_path, head_dim=None, attention_head_dim=96)).head_dim == 96

    def test_nulls_in_a_list_are_called_so(self, tmp_path: Path) -> None:
        error = cli_json("import", str(config(tmp_path, layer_types=[None] * 4)))["error"]
        assert (error["code"], error["message"]) == ("MP203", "layer_types[0] is null")

    def test_one_latent_head_without_its_rank(self, tmp_path: Path) -> None:
        latent = {"num_key_value_heads": 1, "head_dim": 512, "qk_rope_head_dim": 64, "q_lora_rank": 1024}
        path = config(tmp_path, **latent)
        assert (dims_of(path).kv_lora_rank, dims_of(path).mla) == (512, 576)
        assert any("one latent head" in line for line in cli_json("import", str(path))["import"]["untold"])
        assert dims_of(config(tmp_path, **latent, kv_lora_rank=256)).mla == 320
        assert dims_of(config(tmp_path, num_key_value_heads=1)).mla == 0

    def test_a_sampler_s_top_k_is_no_dimension(self, tmp_path: Path) -> None:
        assert dims_of(config(tmp_path, top_k=50)).top_k == 0
        moe = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
        assert dims_of(config(tmp_path, top_k=50, **moe)).top_k == 2

    @pytest.mark.parametrize(
        ("keys", "field", "value"),
        [
            ({"num_experts": 8, "num_experts_per_tok": 2, "enable_moe_block": False}, "experts", 0),
            ({"num_nextn_predict_layers": 1, "use_mtp": False}, "has_mtp", False),
            ({"num_nextn_predict_layers": 1}, "has_mtp", True),
            ({"sliding_window": 4096, "use_sliding_window": False}, "layers", ("full",) * 4),
            ({"intermediate_size": [4096, 8192, 4096, 4096]}, "inter", 8192),
        ],
    )
    def test_switches_and_widths_by_layer(self, tmp_path: Path, keys: dict[str, Any], field: str, value: Any) -> None:
        assert getattr(dims_of(config(tmp_path, **keys)), field) == value

    def test_numbers_that_json_has_none_for(self, tmp_path: Path) -> None:
        path = tmp_path / "config.json"
        text = config(tmp_path).read_text()
        path.write_text(
            text.replace("{", '{"time_step_limit": [0.0, Infinity], "moe_latent_size": NaN, "x": 1e999,', 1)
        )
        assert "Infinity" not in cli("import", str(path), "--format", "json").out
        assert dims_of(path).moe_latent == 0

    def test_names_decide_nothing(self, tmp_path: Path) -> None:
        path = config(tmp_path, _name_or_path="Qwen/Qwen3.8-27B", architectures=["Qwen3_5ForCausalLM"])
        dims = dims_of(path)
        assert (dims.recurrent, dims.loader) == ("none", None)

    @pytest.mark.parametrize(
        ("files", "size"),
        [
            (
                {
                    "tokenizer.json": {
                        "model": {"vocab": {"a": 0, "b": 1}},
                        "added_tokens": [{"id": 2, "content": "<s>"}],
                    }
                },
                3,
            ),
            ({"tokenizer.json": {"model": {"vocab": [["a", -1.0], ["b", -2.0]]}, "added_tokens": []}}, 2),
            ({"tokenizer.json": {"model": {"vocab": {"a": 0}}, "added_tokens": [{"id": 0, "content": "a"}]}}, 1),
            (
                {
                    "vocab.json": {"a": 0, "b": 1},
                    "tokenizer_config.json": {"added_tokens_decoder": {"2": {"content": "<s>"}}},
                },
                3,
            ),
            ({"tokenizer_config.json": {"added_tokens_decoder": {"2": {"content": "<s>"}}}}, 0),
            ({"tokenizer.json": {"model": []}}, 0),
        ],
    )
    def test_tokenizer_size(self, tmp_path: Path, files: dict[str, Any], size: int) -> None:
        config(tmp_path)
        for name, data in files.items():
            (tmp_path / name).write_text(json.dumps(data))
        assert dims_of(tmp_path).tokenizer_vocab == size
        text = cli("import", str(tmp_path)).out
        assert (f"tokenizer_vocab = {size}" in text) == (size > 0)

    def test_quantization_from_its_own_file(self) -> None:
        answer = cli_json("import", str(CONFIGS / "centml--Qwen3.6-27B-NVFP4-W4A4-mlpinf"))["import"]
        assert answer["quantization"]["kv_cache_quant_algo"] == "FP8"
        assert answer["quantization"]["quant_method"] == "modelopt"

    def test_weight_files(self, tmp_path: Path) -> None:
        config(tmp_path)

        def size() -> Any:
            return cli_json("import", str(tmp_path))["import"]["weight_bytes"]

        assert size() is None
        (tmp_path / "a.gguf").write_bytes(b"12345")
        assert size() == 5
        (tmp_path / "a.safetensors").write_bytes(b"123")
        (tmp_path / "b.safetensors").write_bytes(b"1234")
        assert size() == 7
        index = {"metadata": {"total_size": 99}, "weight_map": {"x": "a.safetensors", "y": "a.safetensors"}}
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
        assert size() == 3
        (tmp_path / "a.safetensors").unlink()
        assert size() == 99

    def test_a_broken_file_beside_the_config_is_told_and_left_out(self, tmp_path: Path) -> None:
        config(tmp_path)
        (tmp_path / "tokenizer.json").write_text("{")
        (tmp_path / "generation_config.json").write_text('{"temperature": 1}')
        document = cli_json("import", str(tmp_path))
        (warning,) = [row for row in document["warnings"] if row["code"] == "MP229"]
        assert warning["where"] == f"{tmp_path / 'tokenizer.json'}:1"
        assert document["exit_code"] == 0
        assert str(tmp_path / "generation_config.json") in document["import"]["files"]


class TestHubCache:
    @pytest.fixture
    def cache(self, tmp_path: Path) -> Path:
        for revision, hidden in (("aaa", 1024), ("bbb", 2048)):
            folder = tmp_path / "hub" / "models--some-org--A-Model" / "snapshots" / revision
            folder.mkdir(parents=True)
            config(folder, hidden_size=hidden)
        refs = tmp_path / "hub" / "models--some-org--A-Model" / "refs"
        refs.mkdir()
        (refs / "main").write_text("bbb\n")
        return tmp_path

    @pytest.mark.parametrize("variable", ["HF_HOME", "HF_HUB_CACHE"])
    def test_an_id(self, cache: Path, variable: str) -> None:
        env = {variable: str(cache if variable == "HF_HOME" else cache / "hub")}
        answer = cli_json("import", "some-org/A-Model", env=env)["import"]
        assert (answer["hf_id"], answer["dims"]["hidden"]) == ("some-org/A-Model", 2048)
        assert 'hf_id = "some-org/A-Model"' in answer["model_toml"]
        older = cli_json("import", "some-org/A-Model@aaa", env=env)["import"]
        assert older["dims"]["hidden"] == 1024

    def test_its_folder(self, cache: Path) -> None:
        answer = cli_json("import", str(cache / "hub" / "models--some-org--A-Model"))["import"]
        assert answer["dims"]["hidden"] == 2048

    def test_the_home_folder_s_cache(self, tmp_path: Path) -> None:
        folder = tmp_path / ".cache/huggingface/hub/models--gpt/snapshots/only"
        folder.mkdir(parents=True)
        config(folder)
        assert cli_json("import", "gpt", env={"HOME": str(tmp_path)})["import"]["hf_id"] == "gpt"

    def test_a_cache_folder_given_from_the_home_folder(self, tmp_path: Path) -> None:
        home = {"HOME": str(tmp_path)}
        error = cli("import", "org/name", env={**home, "HF_HOME": "~/elsewhere"})
        assert f"{tmp_path}/elsewhere/hub" in error.err

    def test_an_id_that_is_not_there(self, cache: Path) -> None:
        error = cli_json("import", "some-org/A-Modell", env={"HF_HOME": str(cache)})["error"]
        assert (error["code"], error["nearest"]) == ("MP227", ["some-org/A-Model"])

    @pytest.mark.parametrize(
        "name", ["some-org/A-Model@ccc", "", "..", "a/../b", "/nowhere", "a/b/c", "x" * 5000, "a\0b"]
    )
    def test_nothing_there(self, cache: Path, name: str) -> None:
        document = cli_json("import", name, env={"HF_HOME": str(cache)})
        assert (document["exit_code"], document["error"]["code"]) == (2, "MP227")

    def test_several_snapshots_and_no_main(self, cache: Path) -> None:
        (cache / "hub/models--some-org--A-Model/refs/main").unlink()
        error = cli_json("import", "some-org/A-Model", env={"HF_HOME": str(cache)})["error"]
        assert (error["code"], "aaa, bbb" in error["accepted"]) == ("MP227", True)


class TestOutput:
    def test_stdout_is_the_file_and_nothing_else(self, tmp_path: Path) -> None:
        shown = cli("import", str(config(tmp_path)))
        assert shown.code == 0
        path = tmp_path / "MODEL.toml"
        path.write_text(shown.out)
        assert load_model(path).dims == dims_of(tmp_path / "config.json")
        assert "MP226" in shown.err

    def test_every_number_names_its_key(self, tmp_path: Path) -> None:
        text = cli("import", str(config(tmp_path))).out
        numbers = [line for line in text.split("[[model_types]]")[0].splitlines() if " = " in line and '"' not in line]
        assert len(numbers) == 8
        assert all(" # " in line for line in numbers)
        assert "kv_heads = 2 # num_key_value_heads" in text

    def test_nothing_is_overwritten_in_silence(self, tmp_path: Path) -> None:
        source, target = str(config(tmp_path)), tmp_path / "MODEL.toml"
        target.write_text("mine")
        refused = cli("import", source, "-o", str(target))
        assert (refused.code, target.read_text(), refused.out) == (2, "mine", "")
        assert "MP228" in refused.err
        assert cli("import", source, "-o", str(target), "--force").code == 0
        assert load_model(target).dims.hidden == 1024
        assert {path.name for path in tmp_path.iterdir()} == {"config.json", "MODEL.toml"}

    def test_a_pipe_or_a_device_is_written_into_and_stays(self, tmp_path: Path) -> None:
        source, target = str(config(tmp_path)), tmp_path / "pipe"
        os.mkfifo(target)
        reader = os.open(target, os.O_RDWR | os.O_NONBLOCK)
        try:
            for more in ((), ("--force",)):
                assert cli("import", source, "-o", str(target), *more).code == 0
                assert os.read(reader, 65536).decode() == cli("import", source).out
                assert target.is_fifo()
        finally:
            os.close(reader)

    def test_a_link_stays_and_what_it_leads_to_is_replaced(self, tmp_path: Path) -> None:
        source, target, real = str(config(tmp_path)), tmp_path / "link", tmp_path / "real"
        real.write_text("mine")
        target.symlink_to(real)
        assert cli("import", source, "-o", str(target), "--force").code == 0
        assert target.is_symlink()
        assert real.read_text() == cli("import", source).out

    @pytest.mark.parametrize("name", ["", ".", "folder", "no/where", "a" * 300, "a\0b"])
    @pytest.mark.parametrize("more", [(), ("--force",)])
    def test_where_no_file_can_be(self, tmp_path: Path, name: str, more: tuple[str, ...]) -> None:
        source = str(config(tmp_path))
        (tmp_path / "folder").mkdir()
        shown = cli("import", source, "-o", str(tmp_path / name) if name not in ("", ".") else name, *more)
        assert (shown.code, shown.out) == (2, "")
        assert "MP201" in shown.err
        assert {path.name for path in tmp_path.iterdir()} == {"config.json", "folder"}

    def test_a_long_name(self, tmp_path: Path) -> None:
        target = tmp_path / ("a" * 250)
        assert cli("import", str(config(tmp_path)), "-o", str(target)).code == 0
        assert load_model(target).dims.hidden == 1024

    def test_a_link_that_leads_nowhere_is_there_already(self, tmp_path: Path) -> None:
        target = tmp_path / "MODEL.toml"
        target.symlink_to(tmp_path / "gone")
        assert "MP228" in cli("import", str(config(tmp_path)), "-o", str(target)).err
        assert target.is_symlink()

    def test_nothing_is_written_on_an_error(self, tmp_path: Path) -> None:
        source, target = config(tmp_path, num_hidden_layers="4"), tmp_path / "MODEL.toml"
        failed = cli_json("import", str(source), "-o", str(target))
        assert (failed["exit_code"], failed["error"]["code"], failed["import"]) == (2, "MP203", None)
        assert failed["error"]["where"] == f"{source}:3"
        assert not target.exists()
        nowhere = cli("import", str(config(tmp_path)), "-o", str(tmp_path / "no" / "MODEL.toml"))
        assert (nowhere.code, nowhere.out) == (2, "")

    def test_json_with_an_output_file(self, tmp_path: Path) -> None:
        target = tmp_path / "MODEL.toml"
        answer = cli_json("import", str(config(tmp_path)), "-o", str(target))["import"]
        assert answer["output"] == str(target)
        assert target.read_text(encoding="utf-8") == answer["model_toml"]

    @pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"a": 1}', '{"model_type": "llama"}', "[" * 5000])
    def test_what_is_no_config(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "config.json"
        path.write_text(text)
        document = cli_json("import", str(path))
        assert document["exit_code"] == 2
        assert document["error"]["code"] in ("MP201", "MP224")
        assert document["error"]["where"].startswith(str(path))

    def test_a_config_with_gaps_is_written_and_says_so(self, tmp_path: Path) -> None:
        document = cli_json("import", str(config(tmp_path, num_key_value_heads=None, vocab_size=None)))
        assert document["exit_code"] == 0
        assert document["import"]["missing"] == ["vocab_size", "kv_heads"]
        warned = [row["message"] for row in document["warnings"] if row["severity"] == "warning"]
        assert [message.split(":")[0] for message in warned] == ["vocab_size; a plan needs it", "kv_heads"]

    @pytest.mark.parametrize("word", ['quo"te', "back\\slash", "line\nbreak", "\x7f", "\ud800", "ünï"])
    def test_any_text_stays_toml(self, tmp_path: Path, word: str) -> None:
        path = config(tmp_path, model_type=word, dtype=word, quantization_config={"quant_method": word, word: word})
        target = tmp_path / "MODEL.toml"
        assert cli("import", str(path), "-o", str(target)).code == 0
        assert load_model(target).dims.model_type == word.replace("\ud800", "�")


class TestWithModel:
    def test_it_fills_what_the_model_file_lacks(self, tmp_path: Path) -> None:
        model = tmp_path / "MODEL.toml"
        model.write_text('[model]\nmodel_type = "qwen3_5"\nlayers_total = 64\nhidden_dim = 5120\n')
        assert cli("plan", str(model)).code == 2
        config_dir = str(CONFIGS / "centml--Qwen3.6-27B-NVFP4-W4A4-mlpinf")
        document = cli_json("plan", str(model), "--checkpoint", config_dir)
        assert (document["exit_code"], document["model"]["blob_bytes"]) == (0, 158859264)
        assert [row for row in document["warnings"] if row["code"] == "MP225"] == []

    def test_the_checkpoint_wins_and_the_warning_says_so(self, tmp_path: Path) -> None:
        folder = CONFIGS / "centml--Qwen3.6-27B-NVFP4-W4A4-mlpinf"
        data = json.loads((folder / "config.json").read_text())
        data["text_config"]["linear_num_value_heads"] = 32
        path = tmp_path / "config.json"
        path.write_text(json.dumps(data, indent=2))
        document = cli_json("plan", "qwen3.6-27b", "--checkpoint", str(path))
        (warning,) = [row for row in document["warnings"] if row["code"] == "MP225"]
        assert "linear_num_value_heads is 32 in the checkpoint" in warning["message"]
        assert "linear_attn_value_heads = 48" in warning["message"]
        assert "the checkpoint's is used" in warning["message"]
        assert document["pool"]["h_unit"] == 4 * 32 * 128 * 128
        assert cli("plan", "qwen3.6-27b", "--checkpoint", str(path), "--fail-on-warning").code == 4

    def test_the_model_s_defaults_stay(self) -> None:
        folder = str(CONFIGS / "centml--Qwen3.6-27B-NVFP4-W4A4-mlpinf")
        settings = cli_json("plan", "qwen3.6-27b", "--checkpoint", folder)["settings"]
        assert (settings["num_drafts"]["value"], settings["num_drafts"]["source"]) == (3, "model")
        alone = cli_json("plan", "--checkpoint", folder)
        assert alone["settings"]["num_drafts"]["source"] == "engine"
        assert "MP226" in [row["code"] for row in alone["warnings"]]

    @pytest.mark.parametrize("folder", EXPECTED)
    def test_a_bundled_model_and_its_checkpoint_agree(self, folder: str) -> None:
        name = EXPECTED[folder][0]
        checkpoint = next((c for c in catalog.load(name).checkpoints if c == folder.replace("--", "/")), "x/y")
        document = cli_json("plan", name, "--checkpoint", str(CONFIGS / folder), "--", "met", "serve", checkpoint)
        assert document["exit_code"] == 0
        assert [row["message"] for row in document["warnings"] if row["code"] == "MP225"] == []

    def test_another_model_s_checkpoint(self) -> None:
        document = cli_json("plan", "qwen3.8-27b", "--checkpoint", str(CONFIGS / "Sehyo--Qwen3.5-35B-A3B-NVFP4"))
        messages = [row["message"] for row in document["warnings"] if row["code"] == "MP225"]
        assert any(message.startswith("model_type is qwen3_5_moe") for message in messages)
        assert any(message.startswith("layers is 30 recurrent of 40") for message in messages)
        assert document["model"]["blob_bytes"] == 66846720

    def test_another_layer_count_over_counts_and_a_pattern(self, tmp_path: Path) -> None:
        path = config(tmp_path, num_hidden_layers=32, hidden_size=5120)
        document = cli_json("plan", "qwen3.8-27b", "--checkpoint", str(path))
        assert (document["model"]["ssm_layers"], document["model"]["attention_layers"]) == (24, 8)

    @pytest.mark.parametrize(("sliding", "told"), [(3, 0), (2, 1)])
    def test_counts_alone_tell_no_order(self, tmp_path: Path, sliding: int, told: int) -> None:
        model = tmp_path / "MODEL.toml"
        counts = f"layers_sliding_attention = {sliding}\nlayers_full_attention = {4 - sliding}\n"
        model.write_text(f'[model]\nmodel_type = "llama"\n{counts}')
        path = config(tmp_path, layer_types=["full_attention"] + ["sliding_attention"] * 3)
        document = cli_json("plan", str(model), "--checkpoint", str(path))
        assert len([row for row in document["warnings"] if row["code"] == "MP225"]) == told

    def test_preflight_in_one_step(self) -> None:
        folder = str(CONFIGS / "centml--Qwen3.6-27B-NVFP4-W4A4-mlpinf")
        document = cli_json("preflight", "--checkpoint", folder, "--device", "h200-sxm", "--stage", "reserve")
        assert (document["exit_code"], document["verdict"]["fits"]) == (0, True)
        assert document["model"]["checkpoint"] == folder

    def test_a_checkpoint_that_is_not_there(self) -> None:
        document = cli_json("preflight", "qwen3.8-27b", "--checkpoint", "/nowhere", "--device", "gb10")
        assert (document["exit_code"], document["error"]["code"]) == (2, "MP227")
