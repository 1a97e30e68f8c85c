"""The catalog: bundled models and devices, and how an argument finds one."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from metrale_plan import catalog
from metrale_plan.errors import InputError, Problem
from metrale_plan.model.load import load_model

INCOMPLETE = {
    "kimi-k3": ("kv_heads",),
    "mistral-small-4": ("hidden_dim", "vocab_size", "kv_heads", "moe_intermediate"),
    "nemotron-labs-3-puzzle-75b-a9b": ("layers_total", "layer_pattern", "moe_topk", "moe_intermediate"),
}

# recurrent, linear layers, attention layers, bytes of h state and of convolution window of one layer
GEOMETRY = {
    "deepseek-v4-flash": ("none", 0, 43, 0, 0),
    "deepseek-v4.1-flash": ("none", 0, 40, 0, 0),
    "gemma-4-26b-a4b": ("none", 0, 30, 0, 0),
    "gemma-4-31b": ("none", 0, 60, 0, 0),
    "glm-5.3-flash": ("kda", 34, 11, 4 * 64 * 128 * 128, 4 * 4 * 3 * 64 * 128),
    "gpt-oss-20b": ("none", 0, 24, 0, 0),
    "holo-3.1-0.8b": ("gdn", 18, 6, 4 * 16 * 128 * 128, 4 * 4 * 6144),
    "holo-3.1-35b-a3b": ("gdn", 30, 10, 2097152, 131072),
    "laguna-s-2.1": ("none", 0, 48, 0, 0),
    "laguna-xs-2.1": ("none", 0, 40, 0, 0),
    "longcat-flash-lite": ("none", 0, 28, 0, 0),
    "minimax-m2-229b": ("none", 0, 62, 0, 0),
    "nemotron-3-nano-30b-a3b": ("mamba2", 23, 6, 2097152, 98304),
    "nllb-200-3.3b": ("none", 0, 24, 0, 0),
    "qwen3-vl-30b-a3b": ("none", 0, 48, 0, 0),
    "qwen3.5-27b": ("gdn", 48, 16, 3145728, 163840),
    "qwen3.5-35b-a3b": ("gdn", 30, 10, 2097152, 131072),
    "qwen3.5-397b-a17b": ("gdn", 45, 15, 4194304, 196608),
    "qwen3.6-27b": ("gdn", 48, 16, 3145728, 163840),
    "qwen3.6-35b-a3b": ("gdn", 30, 10, 2097152, 131072),
    "qwen3.8-27b": ("gdn", 48, 16, 3145728, 163840),
    "qwen3.8-flash-next": ("gdn", 36, 12, 3145728, 163840),
    "step3p7-flash": ("none", 0, 45, 0, 0),
}


def refused(call: object, *arguments: object) -> Problem:
    with pytest.raises(InputError) as caught:
        call(*arguments)  # type: ignore[operator]
    return caught.value.problem


class TestBundledModels:
    def test_all_are_known_here(self) -> None:
        assert set(catalog.bundled_models()) == GEOMETRY.keys() | INCOMPLETE.keys()

    @pytest.mark.parametrize("name", GEOMETRY)
    def test_complete_ones_load_without_a_word(self, name: str) -> None:
        model = catalog.load(name)
        dims = model.dims
        assert (model.name, model.notes, model.incomplete) == (name, (), ())
        assert (dims.recurrent, dims.ssm_layers, dims.attention_layers, dims.h_unit, dims.conv_unit) == GEOMETRY[name]

    @pytest.mark.parametrize("name", INCOMPLETE)
    def test_incomplete_ones_load_and_name_what_they_lack(self, name: str) -> None:
        model = catalog.load(name)
        assert (model.incomplete, model.geometry) == (INCOMPLETE[name], None)
        found = refused(lambda: model.dims)
        assert (found.code, found.where) == ("MP205", model.where)
        assert all(key in found.message for key in INCOMPLETE[name])

    @pytest.mark.parametrize("name", sorted(GEOMETRY.keys() | INCOMPLETE.keys()))
    def test_every_checkpoint_of_a_file_loads(self, name: str) -> None:
        for checkpoint in catalog.load(name).checkpoints:
            model = catalog.load(name, checkpoint=checkpoint)
            assert model.checkpoint == checkpoint
            assert (model.geometry is None) == (name in INCOMPLETE)

    def test_hybrids_of_qwen_gate_their_attention_and_interleave_positions(self) -> None:
        for name in GEOMETRY:
            if name.startswith(("qwen3.5", "qwen3.6", "qwen3.8", "holo")):
                assert catalog.load(name).dims.attn_gated
                assert catalog.load(name).dims.mrope_interleaved

    def test_layers_of_several_shapes(self) -> None:
        shapes = catalog.load("gemma-4-26b-a4b").dims.kv_shapes
        assert shapes == ((((8, 256),) * 5 + ((2, 512),)) * 5)
        shapes = catalog.load("gemma-4-31b").dims.kv_shapes
        assert (shapes.count((16, 256)), shapes.count((4, 512))) == (50, 10)

    def test_ratios_by_layer(self) -> None:
        ratios = catalog.load("deepseek-v4-flash").dims.compress_ratios
        assert (len(ratios), ratios[:4], ratios[-1], ratios.count(128)) == (43, (0, 0, 4, 128), 4, 20)

    def test_draft_head_of_one_checkpoint(self) -> None:
        name, checkpoint = "nemotron-3-nano-30b-a3b", "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4"
        assert not catalog.load(name).dims.has_mtp
        assert catalog.load(name, checkpoint=checkpoint).dims.mtp_layers == ("full", "moe")

    def test_defaults_by_hardware_class(self) -> None:
        caps = {
            hardware: catalog.load("qwen3.6-35b-a3b", hardware_class=hardware).behavior.mtp_max_seqs
            for hardware in ("gb10", "hopper", "b200", None)
        }
        assert caps == {"gb10": 128, "hopper": 0, "b200": 0, None: 0}
        strix = catalog.load("qwen3.6-27b", hardware_class="strix").behavior
        assert (strix.default_num_drafts, strix.default_kv_dtype) == (1, "")

    def test_the_packaged_copy_comes_first(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        package = tmp_path / "metrale_plan"
        for folder in (package / "_models" / "packaged", tmp_path / "models" / "checkout"):
            folder.mkdir(parents=True)
            (folder / "MODEL.toml").write_text("[model]\n", encoding="utf-8")
        monkeypatch.setattr(catalog, "__file__", str(package / "catalog.py"))
        assert catalog.bundled_models() == ("packaged",)
        (package / "_models").rename(package / "elsewhere")
        assert catalog.bundled_models() == ("checkout",)


class TestFindModel:
    def test_file_directory_and_name_lead_to_one_model(self) -> None:
        path = catalog.find_model("qwen3.8-27b")
        assert catalog.find_model(str(path)) == path
        assert catalog.find_model(str(path.parent)) == path
        assert load_model(path.parent).path == path

    def test_any_file_is_taken(self, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text("[model]\n", encoding="utf-8")
        assert catalog.find_model(str(tmp_path / "mine.toml")).name == "mine.toml"
        assert catalog.load(str(tmp_path / "mine.toml")).name == "mine"

    def test_a_name_wins_over_a_folder_that_holds_no_model(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "qwen3.8-27b").mkdir()
        assert catalog.find_model("qwen3.8-27b").parent.parent == catalog.bundled_dir()
        (tmp_path / "qwen3.8-27b" / "MODEL.toml").write_text("[model]\n", encoding="utf-8")
        assert catalog.find_model("qwen3.8-27b") == Path("qwen3.8-27b/MODEL.toml")
        monkeypatch.chdir(tmp_path / "qwen3.8-27b")
        assert catalog.load(".").name == "qwen3.8-27b"

    @pytest.mark.parametrize(
        ("name", "code", "nearest"),
        [
            ("qwen3.8-72b", "MP207", "qwen3.8-27b"),
            ("Qwen3.8-27B", "MP207", "qwen3.8-27b"),
            ("unsloth/Qwen3.8-27B-NVFP4", "MP207", "qwen3.8-27b"),
            ("somewhere/qwen3.8-27b", "MP207", "qwen3.8-27b"),
            ("zzz", "MP207", None),
            ("", "MP207", None),
            ("x" * 5000, "MP207", None),
            ("nul\0byte", "MP207", None),
            ("nowhere.toml", "MP201", None),
            ("./nowhere", "MP201", None),
        ],
    )
    def test_unknown(self, name: str, code: str, nearest: str | None) -> None:
        found = refused(catalog.find_model, name)
        assert found.code == code
        assert nearest is None or found.nearest[0] == nearest

    def test_empty_folder(self, tmp_path: Path) -> None:
        found = refused(catalog.find_model, str(tmp_path))
        assert (found.code, found.message) == ("MP201", f"{tmp_path} holds no MODEL.toml")

    def test_a_checkpoint_is_no_model_file(self, tmp_path: Path) -> None:
        config = tmp_path / "config.json"
        config.write_text("{}")
        for path in (config, tmp_path):
            found = refused(catalog.find_model, str(path))
            assert (found.code, found.accepted) == ("MP207", f"--checkpoint {path}, with or without MODEL")


class TestCheckpoints:
    @pytest.mark.parametrize(
        ("checkpoint", "model"),
        [
            ("Qwen/Qwen3.8-27B", "qwen3.8-27b"),
            ("unsloth/Qwen3.8-27B-NVFP4", "qwen3.8-27b"),
            ("nvidia/Qwen3.6-27B-NVFP4", "qwen3.6-27b"),
            ("unsloth/Qwen3.6-27B-NVFP4", "qwen3.6-27b"),
            ("Kbenkhaled/Qwen3.5-27B-NVFP4", "qwen3.6-27b"),
            ("Sehyo/Qwen3.5-35B-A3B-NVFP4", "qwen3.6-35b-a3b"),
            ("nvidia/Qwen3.6-35B-A3B-NVFP4", "qwen3.6-35b-a3b"),
            ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4", "nemotron-3-nano-30b-a3b"),
            ("mistralai/Mistral-Small-4-119B-2603-NVFP4", "mistral-small-4"),
            ("poolside/Laguna-XS-2.1-INT4", "laguna-xs-2.1"),
        ],
    )
    def test_leads_to_its_model(self, checkpoint: str, model: str) -> None:
        assert catalog.model_for_checkpoint(checkpoint) == model
        assert catalog.checkpoint_models()[checkpoint] == model

    def test_one_way_to_ask_is_the_other(self) -> None:
        owners = catalog.checkpoint_models()
        assert {checkpoint: catalog.model_for_checkpoint(checkpoint) for checkpoint in owners} == owners

    @pytest.mark.parametrize(
        ("checkpoint", "nearest"),
        [
            ("unsloth/Qwen3.8-27B-NVFP5", "unsloth/Qwen3.8-27B-NVFP4"),
            ("UNSLOTH/qwen3.8-27b-nvfp4", "unsloth/Qwen3.8-27B-NVFP4"),
            ("/data/models/Qwen3.8-27B-NVFP4", "unsloth/Qwen3.8-27B-NVFP4"),
        ],
    )
    def test_unknown(self, checkpoint: str, nearest: str) -> None:
        found = refused(catalog.model_for_checkpoint, checkpoint)
        assert (found.code, found.nearest[0]) == ("MP207", nearest)


class TestDevices:
    def test_profiles(self) -> None:
        profiles = {
            spec.id: (spec.hardware_class, spec.total, spec.sm_count, spec.splitk) for spec in catalog.devices()
        }
        assert profiles == {
            "gb10": ("gb10", 130663055360, 48, "legacy"),
            "h100-sxm": ("hopper", 81559 * 2**20, 132, "auto"),
            "h100-nvl": ("hopper", 100931731456, 132, "auto"),
            "h200-sxm": ("hopper", 143771 * 2**20, 132, "auto"),
            "b200": ("b200", 183359 * 2**20, 148, "legacy"),
            "gb200-b200": ("b200", 199715979264, 148, "legacy"),
            "gb300": ("b300", 299573968896, 148, "legacy"),
            "hgx-b300": ("b300", 275040 * 2**20, 148, "legacy"),
        }

    def test_only_gb10_shares_its_memory_with_the_host(self) -> None:
        assert [spec.id for spec in catalog.devices() if spec.unified] == ["gb10"]

    def test_unknown(self) -> None:
        found = refused(catalog.load_device, "h100")
        assert (found.code, found.nearest) == ("MP208", ("h100-sxm", "h100-nvl"))
        assert refused(catalog.load_device, "GB10").nearest[0] == "gb10"

    @pytest.mark.parametrize(
        ("name", "device"),
        [
            ("NVIDIA GB10", "gb10"),
            ("NVIDIA H100 80GB HBM3", "h100-sxm"),
            ("NVIDIA H100 NVL", "h100-nvl"),
            ("NVIDIA H200", "h200-sxm"),
            ("NVIDIA B200", "b200"),
            ("NVIDIA GB200", "gb200-b200"),
            ("NVIDIA GB300", "gb300"),
            ("NVIDIA B300 SXM6 AC", "hgx-b300"),
            ("NVIDIA GH200 480GB", None),
            ("NVIDIA GeForce RTX 5090", None),
            ("", None),
        ],
    )
    def test_live_device(self, name: str, device: str | None) -> None:
        live = replace(catalog.load_device("b200"), id=None)
        matched = catalog.match_device(name, live)
        assert (matched and matched.id) == device


def test_valid_files_load_without_pydantic() -> None:
    code = (
        "import sys; from metrale_plan import catalog\n"
        "for name in catalog.bundled_models(): catalog.load(name)\n"
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parent.parent).returncode == 0
