"""MODEL.toml files: what is read from them, and how each mistake is told, with the line it is on."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan import catalog
from metrale_plan.errors import InputError, Problem
from metrale_plan.model import keys
from metrale_plan.model.dims import ModelDims
from metrale_plan.model.load import Model, load_model
from metrale_plan.model.schema import faults
from metrale_plan.model.toml_source import Locator, TomlSource, parse_toml

BOOTS = json.loads((Path(__file__).parent / "data" / "boots.json").read_text(encoding="utf-8"))["boots"]

PLAIN = """\
[model]
model_type = "llama"
layers_total = 4
hidden_dim = 1024
vocab_size = 32000
q_heads = 8
kv_heads = 2
head_dim = 128
intermediate_size = 4096
"""

HYBRID = """\
[model]
model_type = "qwen3_5"
layers_total = 8
layer_pattern = "3:1 (linear, linear, linear, full)"
hidden_dim = 1024
vocab_size = 32000
q_heads = 8
kv_heads = 2
head_dim = 128
intermediate_size = 4096
linear_attn_key_heads = 4
linear_attn_key_dim = 128
linear_attn_value_heads = 8
linear_attn_value_dim = 64
linear_conv_kernel = 4
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "MODEL.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def load(folder: Path, text: str | bytes, **choice: str) -> Model:
    return load_model(write(folder, text), **choice)


def problem(folder: Path, text: str | bytes) -> Problem:
    with pytest.raises(InputError) as caught:
        _ = load(folder, text).dims
    return caught.value.problem


def line(found: Problem) -> int:
    assert found.where is not None
    return int(found.where.rpartition(":")[2])


class TestBoots:
    @pytest.mark.parametrize("boot", BOOTS, ids=lambda boot: boot["name"])
    def test_dimensions_are_those_of_the_boot(self, boot: dict) -> None:
        checkpoint = boot["checkpoint"]
        dims = catalog.load(catalog.model_for_checkpoint(checkpoint), checkpoint=checkpoint).dims
        found = {name: getattr(dims, "loader" if name == "arch" else name) for name in boot["dims"]}
        assert found == {**boot["dims"], "layers": tuple(boot["dims"]["layers"])}

    @pytest.mark.parametrize("boot", BOOTS, ids=lambda boot: boot["name"])
    def test_behavior_is_that_of_the_boot(self, boot: dict) -> None:
        model = catalog.load(catalog.model_for_checkpoint(boot["checkpoint"]), hardware_class="gb10")
        assert model.behavior.default_num_drafts == boot["settings"].get("model_num_drafts", 0)
        assert model.behavior.mtp_max_seqs == boot["settings"].get("model_mtp_max_seqs", 0)


class TestUnreadable:
    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="does not exist") as caught:
            load_model(tmp_path / "MODEL.toml")
        assert (caught.value.problem.code, caught.value.exit_code) == ("MP201", 2)
        assert caught.value.problem.where == str(tmp_path / "MODEL.toml")

    def test_directory_without_a_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"MODEL\.toml does not exist"):
            load_model(tmp_path)

    def test_directory_of_the_file_s_name(self, tmp_path: Path) -> None:
        (tmp_path / "x.toml").mkdir()
        with pytest.raises(InputError, match="does not exist"):
            load_model(tmp_path / "x.toml")

    @pytest.mark.parametrize("text", [b"", b"\xef\xbb\xbf", b" \r\n\t\n"])
    def test_empty(self, tmp_path: Path, text: bytes) -> None:
        found = problem(tmp_path, text)
        assert (found.code, found.message.endswith("is empty")) == ("MP201", True)

    def test_not_utf_8(self, tmp_path: Path) -> None:
        found = problem(tmp_path, b'[model]\nmodel_type = "caf\xe9"\n')
        assert (found.code, line(found)) == ("MP201", 2)

    def test_utf_16_is_named(self, tmp_path: Path) -> None:
        assert "UTF-16" in problem(tmp_path, PLAIN.encode("utf-16")).message

    def test_far_too_large(self, tmp_path: Path) -> None:
        assert "larger" in problem(tmp_path, "# " + "x" * (5 * 2**20)).message


class TestNotToml:
    @pytest.mark.parametrize(
        ("text", "at", "words"),
        [
            ("[model]\nq_heads = \n", 2, "not TOML"),
            ("[model]\nq_heads = 8\nkv_heads = 2\nq_heads = 8\n", 4, "model.q_heads is given twice, first on line 2"),
            ("[model]\na = 1\n[behavior]\n[model]\n", 4, "model is given twice, first on line 1"),
            ("[model]\r\na.b = 1\r\na.b = 2\r\n", 3, "model.a.b is given twice, first on line 2"),
            ('[model]\nx = """\n\n', 4, "not TOML"),
            ("[model\nq_heads = 8\n", 1, "not TOML"),
        ],
    )
    def test_line(self, tmp_path: Path, text: str, at: int, words: str) -> None:
        found = problem(tmp_path, text)
        assert (found.code, line(found)) == ("MP202", at)
        assert words in found.message

    @pytest.mark.parametrize("text", ["a = " + "9" * 5000, "a = " + "[" * 5000 + "]" * 5000])
    def test_beyond_any_reader(self, tmp_path: Path, text: str) -> None:
        assert problem(tmp_path, text).code == "MP202"


class TestEncodings:
    @pytest.mark.parametrize("text", [b"\xef\xbb\xbf" + PLAIN.encode(), PLAIN.replace("\n", "\r\n").encode()])
    def test_mark_and_line_ends_change_nothing(self, tmp_path: Path, text: bytes) -> None:
        assert load(tmp_path, text).dims == load(tmp_path, PLAIN).dims

    def test_lines_count_the_same(self, tmp_path: Path) -> None:
        text = PLAIN.replace("q_heads = 8", 'q_heads = "8"').replace("\n", "\r\n")
        assert line(problem(tmp_path, b"\xef\xbb\xbf" + text.encode())) == 6


class TestValues:
    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("q_heads = 8", "q_heads = true", "q_heads is true"),
            ("q_heads = 8", 'q_heads = "8"', 'q_heads is the text "8"'),
            ("q_heads = 8", "q_heads = 8.0", "which is no whole number"),
            ("q_heads = 8", "q_heads = 0", "q_heads is 0"),
            ("q_heads = 8", "q_heads = -8", "q_heads is -8"),
            ("q_heads = 8", "q_heads = nan", "which is no whole number"),
            ("q_heads = 8", f"q_heads = {2**31}", "q_heads is 2147483648"),
            ("q_heads = 8", "q_heads = 2000-01-01", "a date or time"),
            ("layers_total = 4", "layers_total = 4097", "layers_total is 4097"),
            ("kv_heads = 2", "kv_heads = [2, 2, true, 2]", "kv_heads[2] is true"),
            ("kv_heads = 2", "kv_heads = []", "an empty list"),
            ('model_type = "llama"', 'model_type = ""', "an empty text"),
            ('model_type = "llama"', "model_type = 3", "model_type is 3"),
            ("vocab_size = 32000", "vocab_size = 32000\nattn_output_gate = 1", "attn_output_gate is 1"),
            ("vocab_size = 32000", 'vocab_size = 32000\nlayer_types = "full"', 'layer_types is the text "full"'),
        ],
    )
    def test_wrong_type_or_range(self, tmp_path: Path, old: str, new: str, words: str) -> None:
        text = PLAIN.replace(old, new, 1)
        found = problem(tmp_path, text)
        assert found.code == "MP203"
        assert words in found.message
        assert "[model]" in found.message
        assert text.splitlines()[line(found) - 1] == new.splitlines()[-1]
        assert found.accepted

    def test_line_of_one_item(self, tmp_path: Path) -> None:
        text = PLAIN.replace("kv_heads = 2", "kv_heads = [ # by layer\n  2,\n  2, -1,\n  2,\n]")
        found = problem(tmp_path, text)
        assert (line(found), found.message) == (9, "kv_heads[2] is -1 in [model]")

    @pytest.mark.parametrize(
        ("table", "words"),
        [
            ("[behavior]\nmtp_max_seqs = 129\n", "mtp_max_seqs is 129"),
            ("[behavior]\ndefault_num_drafts = true\n", "default_num_drafts is true"),
            ('[behavior]\ndefault_kv_dtype = "fp16"\n', 'default_kv_dtype is the text "fp16"'),
            ("[class.gb10.behavior]\nmtp_max_seqs = -1\n", "in [class.gb10.behavior]"),
            ('[[checkpoint]]\ntokenizer_vocab = "1"\n', "id is missing in [[checkpoint]]"),
            ("[dflash]\ndraft_model = 3\n", "draft_model is 3"),
            ('[checkpoint]\nid = "a/b"\n', "checkpoint is not written as [[checkpoint]]"),
            ('[[behavior]]\ndefault_kv_dtype = "fp8"\n', "behavior is not written as [behavior]"),
            ("[class]\ngb10 = 3\n", "class.gb10 is not a table"),
            ('[[checkpoint]]\nid = "a"\n[[checkpoint]]\nid = "a"\n', "checkpoint a is listed twice"),
        ],
    )
    def test_other_tables(self, tmp_path: Path, table: str, words: str) -> None:
        found = problem(tmp_path, PLAIN + table)
        assert found.code == "MP203"
        assert words in found.message
        assert line(found) > PLAIN.count("\n")

    def test_two_spellings_that_disagree(self, tmp_path: Path) -> None:
        found = problem(tmp_path, PLAIN + "num_key_value_heads = 4\n")
        assert (found.code, line(found)) == ("MP203", 10)
        assert "kv_heads = 2 and num_key_value_heads = 4" in found.message

    def test_two_spellings_that_agree(self, tmp_path: Path) -> None:
        assert load(tmp_path, PLAIN + "num_key_value_heads = 2\n").dims.kv_heads == 2

    @given(
        kind=st.sampled_from(sorted({*keys.WHOLE, "flag", "text", "dtype", "words", "counts", "count_each"})),
        value=st.recursive(
            st.integers(-3, 6000) | st.integers() | st.booleans() | st.floats() | st.sampled_from(["", "fp8", "full"]),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
            max_leaves=4,
        ),
    )
    def test_the_quick_look_and_the_schema_agree(self, kind: str, value: object) -> None:
        table, key = next((t, k) for t, kinds in keys.TABLES.items() for k, own in kinds.items() if own == kind)
        assert keys.accepts(kind, value) == (not faults(table, {key: value}))


class TestSpellings:
    @pytest.mark.parametrize(
        ("text", "at", "meant"),
        [
            ("[behavior]\ndefault_num_draft = 3\n", 11, "default_num_drafts"),
            ("[behaviour]\ndefault_num_drafts = 3\n", 10, "behavior"),
            ("[[checkpoints]]\n", 10, "checkpoint"),
            ("[class.gb10.behaviour]\n", 10, "behavior"),
            ("[class.gb10.behavior]\nmtp_max_seq = 3\n", 11, "mtp_max_seqs"),
            ('[[checkpoint]]\nid = "a"\ntokeniser_vocab = 3\n', 12, "tokenizer_vocab"),
            ("[model.linear_attn_config]\nnum_head = 3\n", 11, "num_heads"),
            ('[dflash]\ndraft_modle = "a"\n', 11, "draft_model"),
        ],
    )
    def test_misspelt(self, tmp_path: Path, text: str, at: int, meant: str) -> None:
        found = problem(tmp_path, PLAIN + text)
        assert (found.code, line(found), found.nearest) == ("MP204", at, (meant,))

    def test_a_list_of_tables_is_named_as_one(self, tmp_path: Path) -> None:
        assert "[[checkpoint]] is meant" in problem(tmp_path, '[[checkpoints]]\nid = "a/b"\n').message

    def test_misspelt_in_model(self, tmp_path: Path) -> None:
        found = problem(tmp_path, PLAIN.replace("vocab_size", "vocabsize"))
        assert (found.code, line(found), found.accepted) == ("MP204", 5, "vocab_size")

    @pytest.mark.parametrize("key", ["n_group = 1", "ngram_heads = 2", "rotary_dim = 64", "rope_theta = 1e6"])
    def test_a_key_of_the_engine_is_no_misspelling(self, tmp_path: Path, key: str) -> None:
        assert load(tmp_path, PLAIN + key + "\n").notes == ()

    def test_a_key_nobody_knows_is_a_note(self, tmp_path: Path) -> None:
        (note,) = load(tmp_path, PLAIN + "some_new_key = 3\n").notes
        assert (note.code, note.severity, line(note)) == ("MP209", "note", 10)

    def test_a_key_of_another_table_is_a_note_that_says_where(self, tmp_path: Path) -> None:
        (note,) = load(tmp_path, PLAIN + "mtp_max_seqs = 3\n").notes
        assert "[behavior] has" in note.message

    def test_a_class_nobody_has_is_a_note(self, tmp_path: Path) -> None:
        (note,) = load(tmp_path, PLAIN + "[class.gb11.behavior]\nmtp_max_seqs = 3\n").notes
        assert (note.code, line(note), note.nearest[0]) == ("MP209", 10, "gb10")

    def test_the_engine_s_own_tables_pass_untouched(self, tmp_path: Path) -> None:
        text = (
            'hf_id = "org/some-model"\n\n'
            + PLAIN
            + 'rope_theta = 10000000\nparams = "27B"\nmrope_section = [11, 11, 10]\n'
            '[[model_types]]\nmodel_type = "llama"\nhidden_size = 1024\n\n[[model_types]]\nmodel_type = "llama2"\n'
            '[sampling.tools]\ntemperature = 0.6\n[kernel]\nsource = "other"\n[expected_absent.w4a16]\nx = [1]\n'
            '[dflash]\ndraft_model = "org/drafter"\ngamma = 16\nwindow_size = 4096\ntarget_layer_ids = [1, 16]\n'
        )
        model = load(tmp_path, text)
        assert model.notes == ()
        assert (model.hf_id, model.draft_model) == ("org/some-model", "org/drafter")


class TestDimensions:
    def test_plain(self, tmp_path: Path) -> None:
        expected = ModelDims(
            loader=None,
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
        assert load(tmp_path, PLAIN).dims == expected

    def test_config_json_spellings(self, tmp_path: Path) -> None:
        text = """
        [model]
        model_type = "llama"
        num_hidden_layers = 4
        hidden_size = 1024
        vocab_size = 32000
        num_attention_heads = 8
        num_key_value_heads = 2
        intermediate_size = 4096
        """
        assert load(tmp_path, text).dims == load(tmp_path, PLAIN).dims

    def test_params_json_spellings(self, tmp_path: Path) -> None:
        text = """
        [model]
        model_type = "llama"
        n_layers = 4
        dim = 1024
        vocab_size = 32000
        n_heads = 8
        n_kv_heads = 2
        head_dim = 128
        hidden_dim = 4096
        """
        assert load(tmp_path, text).dims == load(tmp_path, PLAIN).dims

    def test_hidden_size_of_the_model_types(self, tmp_path: Path) -> None:
        text = PLAIN.replace("hidden_dim = 1024\n", "").replace('model_type = "llama"\n', "")
        text += '[[model_types]]\nmodel_type = "llama"\nhidden_size = 1024\n'
        assert load(tmp_path, text).dims == load(tmp_path, PLAIN).dims

    def test_missing_ones_are_named_all_at_once(self, tmp_path: Path) -> None:
        text = "# a file\n\n[model]\nlayers_total = 8\nlayers_linear_attention = 6\nlayers_full_attention = 2\n"
        text += "q_heads = 8\n"
        found = problem(tmp_path, text)
        assert (found.code, line(found)) == ("MP205", 3)
        assert found.message.partition(": ")[2].split(", ") == [
            "hidden_dim",
            "vocab_size",
            "kv_heads",
            "head_dim",
            "intermediate_size",
            "linear_attn_key_heads",
            "linear_attn_key_dim",
            "linear_attn_value_heads",
            "linear_attn_value_dim",
            "linear_conv_kernel",
            "model_type",
        ]
        assert "import" in (found.accepted or "")

    def test_a_file_without_dimensions(self, tmp_path: Path) -> None:
        found = problem(
            tmp_path, '[model]\nparameters = "30B"\n[[model_types]]\nmodel_type = "nemotron_h"\nhidden_size = 2688\n'
        )
        assert found.code == "MP205"
        assert "hidden_dim" not in found.message
        for name in ("layers_total", "layer_pattern", "mamba_num_heads", "ssm_state_size", "conv_kernel"):
            assert name in found.message

    def test_experts_need_their_width_and_count(self, tmp_path: Path) -> None:
        text = PLAIN.replace("intermediate_size = 4096", "moe_experts = 8\nnum_shared_experts = 1")
        assert problem(tmp_path, text).message.endswith("2 dimensions: moe_topk, moe_intermediate")

    def test_latent_attention_without_a_head_width(self, tmp_path: Path) -> None:
        text = PLAIN.replace(
            "head_dim = 128", "head_dim = 0\nkv_lora_rank = 512\nqk_nope_head_dim = 128\nqk_rope_head_dim = 64"
        )
        dims = load(tmp_path, text).dims
        assert (dims.head_dim, dims.mla) == (192, 576)

    @pytest.mark.parametrize(
        ("extra", "routed", "shared"),
        [
            ("moe_experts = 8\nmoe_topk = 2\n", 4096, 0),
            ("moe_experts = 8\nmoe_topk = 2\nmoe_intermediate = 512\nshared_experts = 2\n", 512, 1024),
            ("moe_experts = 8\nmoe_topk = 2\nmoe_intermediate = 512\nshared_expert_intermediate = 0\n", 512, 0),
            ("num_local_experts = 8\ntop_k = 2\nmoe_intermediate_size = 512\nshare_expert_dim = 640\n", 512, 640),
        ],
    )
    def test_expert_widths(self, tmp_path: Path, extra: str, routed: int, shared: int) -> None:
        dims = load(tmp_path, PLAIN + extra).dims
        assert (dims.experts, dims.top_k, dims.moe_inter, dims.shared_inter) == (8, 2, routed, shared)

    def test_kda_heads_serve_keys_and_values(self, tmp_path: Path) -> None:
        text = HYBRID.replace("linear, linear, linear, full", "kda, kda, kda, full")
        text = (
            text[: text.index("linear_attn_key_heads")]
            + "linear_num_heads = 4\nlinear_head_dim = 32\nlinear_conv_kernel = 4\n"
        )
        dims = load(tmp_path, text).dims
        assert (dims.recurrent, dims.lin_k_heads, dims.lin_k_dim, dims.lin_v_heads, dims.lin_v_dim) == (
            "kda",
            4,
            32,
            4,
            32,
        )
        assert dims.h_unit == 4 * 4 * 32 * 32

    def test_nested_tables_and_dotted_keys_are_one(self, tmp_path: Path) -> None:
        base = HYBRID[: HYBRID.index("linear_attn_key_heads")].replace("linear, linear, linear", "kda, kda, kda")
        nested = base + "[model.linear_attn_config]\nnum_heads = 4\nhead_dim = 32\nshort_conv_kernel_size = 4\n"
        inline = base + "linear_attn_config = { num_heads = 4, head_dim = 32, short_conv_kernel_size = 4 }\n"
        assert load(tmp_path, nested).dims == load(tmp_path, inline).dims

    @pytest.mark.parametrize(
        ("extra", "has", "dense", "layers"),
        [
            ("", False, False, ()),
            ("mtp_layers = 0\n", False, False, ()),
            ("mtp_num_hidden_layers = 1\n", True, True, ()),
            ("num_nextn_predict_layers = 1\nmtp_dense_ffn = false\n", True, False, ()),
            ('mtp_layers = 2\nmtp_type = "full_attention"\n', True, True, ("full", "full")),
            (
                'num_nextn_predict_layers = 1\nmtp_layers_block_type = ["attention", "moe"]\n',
                True,
                True,
                ("full", "moe"),
            ),
            ('mtp_hybrid_override_pattern = "*E"\n', True, True, ("full", "moe")),
            ('mtp.layer_types = ["full_attention"]\n', True, True, ("full",)),
            ('mtp_layers = 0\nmtp_type = "full_attention"\n', False, False, ()),
        ],
    )
    def test_draft_head(self, tmp_path: Path, extra: str, has: bool, dense: bool, layers: tuple[str, ...]) -> None:
        dims = load(tmp_path, PLAIN + extra).dims
        assert (dims.has_mtp, dims.mtp_dense_ffn, dims.mtp_layers) == (has, dense, layers)

    @pytest.mark.parametrize(
        ("model_type", "loader"),
        [
            ("qwen3_5", "qwen3_5"),
            ("qwen3_5_moe", "qwen3_6_moe"),
            ("qwen3_6_moe", "qwen3_6_moe"),
            ("nemotron_h", "nemotron_h"),
            ("qwen3.8-27b", None),
        ],
    )
    def test_loader_follows_the_model_type(self, tmp_path: Path, model_type: str, loader: str | None) -> None:
        text = PLAIN.replace("llama", model_type)
        assert load(tmp_path, text).dims.loader == loader
        assert load(tmp_path, text + 'loader = "dense_gqa"\n').dims.loader == "dense_gqa"

    def test_names_decide_nothing(self, tmp_path: Path) -> None:
        folders = [tmp_path / name for name in ("qwen3.8-27b", "glm-5.3-flash", "anything")]
        for folder in folders:
            folder.mkdir()
        first, *others = [load(folder, f'hf_id = "x/{folder.name}"\n' + HYBRID) for folder in folders]
        assert all(other.dims == first.dims for other in others)
        assert [model.name for model in (first, *others)] == [folder.name for folder in folders]


class TestCheckpoints:
    TEXT = HYBRID + (
        "kv_lora_rank = 0\n"
        '[[checkpoint]]\nid = "a/one"\ntokenizer_vocab = 31000\nmodel_type = "qwen3_6_moe"\nnum_key_value_heads = 4\n'
        '[[checkpoint]]\nid = "a/two"\nlayers_total = 4\nlayer_types = ["full", "full", "linear", "linear"]\n'
    )

    def test_none_chosen(self, tmp_path: Path) -> None:
        model = load(tmp_path, self.TEXT)
        assert (model.checkpoint, model.checkpoints) == (None, ("a/one", "a/two"))
        assert model.dims == load(tmp_path, HYBRID).dims

    def test_its_keys_replace_the_model_s_whatever_their_spelling(self, tmp_path: Path) -> None:
        model = load(tmp_path, self.TEXT, checkpoint="a/one")
        assert (model.checkpoint, model.dims.tokenizer_vocab, model.dims.kv_heads) == ("a/one", 31000, 4)
        assert (model.dims.model_type, model.dims.loader) == ("qwen3_6_moe", "qwen3_6_moe")

    def test_its_order_of_layers_replaces_the_model_s(self, tmp_path: Path) -> None:
        assert load(tmp_path, self.TEXT, checkpoint="a/two").dims.layers == ("full", "full", "linear", "linear")

    def test_one_that_is_not_listed_changes_nothing(self, tmp_path: Path) -> None:
        model = load(tmp_path, self.TEXT, checkpoint="b/other")
        assert (model.checkpoint, model.dims) == (None, load(tmp_path, HYBRID).dims)


class TestBehavior:
    TEXT = PLAIN + (
        "[behavior]\ndefault_num_drafts = 1\nmtp_max_seqs = 8\n"
        '[class.gb10.behavior]\nmtp_max_seqs = 128\ndefault_kv_dtype = "bf16"\n'
    )

    @pytest.mark.parametrize(("hardware", "cap", "dtype"), [(None, 8, ""), ("hopper", 8, ""), ("gb10", 128, "bf16")])
    def test_class_replaces_key_by_key(self, tmp_path: Path, hardware: str | None, cap: int, dtype: str) -> None:
        behavior = load_model(write(tmp_path, self.TEXT), hardware_class=hardware).behavior
        assert (behavior.default_num_drafts, behavior.mtp_max_seqs, behavior.default_kv_dtype) == (1, cap, dtype)

    def test_lines(self, tmp_path: Path) -> None:
        where = load(tmp_path, self.TEXT, hardware_class="gb10").behavior.where
        assert {key: int(at.rpartition(":")[2]) for key, at in where.items()} == {
            "default_num_drafts": 11,
            "mtp_max_seqs": 14,
            "default_kv_dtype": 15,
        }

    def test_none_at_all(self, tmp_path: Path) -> None:
        behavior = load(tmp_path, PLAIN).behavior
        assert (behavior.default_num_drafts, behavior.mtp_max_seqs, behavior.default_kv_dtype) == (0, 0, "")
        assert dict(behavior.where) == {}


class TestLines:
    TEXT = '''\
# [not] = 1
text = """
[fake]
q_heads = 1
"""
literal = \'\'\'
[fake]\'\'\'
"quoted key".'other one' = "a # b"
[model] # [not.this]
list = [ 1, # ]
  "]", { a = 1, b.c = [
    3] },
]
when = 1979-05-27 07:32:00
a.b.c = 1
[[checkpoint]]
id = "\\"\\\\"
[checkpoint.inner]
x = 1
[[checkpoint]]

[class."gb10".behavior]
mtp_max_seqs = 0x10
'''

    @pytest.mark.parametrize(
        ("path", "at"),
        [
            (("text",), 2),
            (("fake",), 1),
            (("literal",), 6),
            (("quoted key", "other one"), 8),
            (("model",), 9),
            (("model", "list"), 10),
            (("model", "list", 1), 11),
            (("model", "list", 2, "b", "c", 0), 12),
            (("model", "when"), 14),
            (("model", "a", "b", "c"), 15),
            (("model", "nowhere", "at all"), 9),
            (("checkpoint", 0, "id"), 17),
            (("checkpoint", 0, "inner", "x"), 19),
            (("checkpoint", 1), 20),
            (("class", "gb10", "behavior", "mtp_max_seqs"), 23),
            ((), 1),
        ],
    )
    def test_line(self, path: tuple[str | int, ...], at: int) -> None:
        parse_toml(self.TEXT, Path("x"))
        assert Locator(self.TEXT).line(*path) == at
        assert Locator(self.TEXT.replace("\n", "\r\n")).line(*path) == at

    @pytest.mark.parametrize("name", catalog.bundled_models())
    def test_every_key_of_a_bundled_file_is_found_on_its_line(self, name: str) -> None:
        path = catalog.find_model(name)
        source = TomlSource(path, text := path.read_text(encoding="utf-8"), parse_toml(text, path))
        lines = text.splitlines()

        def walk(at: tuple[str | int, ...], value: object) -> None:
            if isinstance(value, dict):
                for key, inner in value.items():
                    there = lines[int(source.where(*at, key).rpartition(":")[2]) - 1]
                    assert key in there
                    walk((*at, key), inner)
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                for index, inner in enumerate(value):
                    walk((*at, index), inner)

        walk((), source.data)

    @given(st.text(alphabet="[]{}=.,#'\"\\ \n\r\tab1", max_size=60))
    def test_any_text_is_located_without_a_crash(self, text: str) -> None:
        assert Locator(text).line("a", 0, "b") >= 1


class TestWholeFiles:
    FOLDER = Path(__file__).parent / "data" / "models"

    def test_as_the_engine_ships_one(self) -> None:
        model = load_model(self.FOLDER / "engine-style")
        assert model.notes == ()
        assert (model.name, model.hf_id) == ("engine-style", "some-org/Hybrid-MoE")
        assert model.draft_model == "some-org/Hybrid-MoE-DFlash"
        assert (model.behavior.default_num_drafts, model.behavior.mtp_max_seqs) == (1, 128)
        assert model.dims == ModelDims(
            loader="qwen3_6_moe",
            model_type="qwen3_6_moe",
            recurrent="gdn",
            layers=("linear", "linear", "linear", "full") * 2,
            hidden=2048,
            vocab=248320,
            q_heads=16,
            kv_heads=2,
            head_dim=256,
            attn_gated=True,
            mrope_interleaved=True,
            experts=64,
            top_k=8,
            moe_inter=512,
            shared_inter=512,
            lin_k_heads=16,
            lin_k_dim=128,
            lin_v_heads=32,
            lin_v_dim=128,
            conv_kernel=4,
            has_mtp=True,
            mtp_layers=("full",),
        )

    def test_as_a_checkpoint_s_config_spells_it(self) -> None:
        model = load_model(self.FOLDER / "config-style")
        assert [note.code for note in model.notes] == ["MP223"]
        assert model.dims == ModelDims(
            loader=None,
            model_type="step",
            recurrent="none",
            layers=("full", "sliding", "sliding", "sliding", "full"),
            hidden=4096,
            vocab=128896,
            q_heads=64,
            kv_heads=8,
            head_dim=128,
            attn_gated=True,
            mrope_interleaved=True,
            inter=11264,
            experts=288,
            top_k=8,
            moe_inter=1280,
            shared_inter=1280,
            has_mtp=True,
            mtp_layers=("sliding", "sliding"),
            kv_shapes=((8, 128), (4, 128), (4, 128), (4, 128), (8, 128)),
        )

    def test_encoder_and_decoder(self, tmp_path: Path) -> None:
        text = """
        [model]
        model_type = "m2m_100"
        encoder_layers = 6
        decoder_layers = 4
        d_model = 1024
        encoder_attention_heads = 16
        decoder_attention_heads = 8
        encoder_ffn_dim = 2048
        decoder_ffn_dim = 4096
        vocab_size = 32000
        """
        dims = load(tmp_path, text).dims
        assert (dims.layers, dims.q_heads, dims.kv_heads, dims.head_dim, dims.inter) == (("full",) * 4, 8, 8, 128, 4096)
