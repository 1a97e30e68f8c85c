"""Layer schedules: every way a file tells the order of its layers, and every way it can contradict itself."""

from pathlib import Path

import pytest

from metrale_plan.errors import InputError, Problem
from metrale_plan.model.dims import ModelDims
from metrale_plan.model.load import load_model

WIDTHS = """\
[model]
model_type = "some_model"
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

L, F, S, D, E = "linear", "full", "sliding", "sparse", "moe"


def load(folder: Path, schedule: str) -> tuple[ModelDims, tuple[Problem, ...]]:
    path = folder / "MODEL.toml"
    path.write_text(WIDTHS + schedule + "\n", encoding="utf-8")
    model = load_model(path)
    return model.dims, model.notes


OTHER_FAMILIES = """
linear_num_heads = 4
linear_head_dim = 128
mamba_num_heads = 4
mamba_head_dim = 64
ssm_state_size = 128
n_groups = 8
"""


def layers(folder: Path, schedule: str) -> tuple[str, ...]:
    return load(folder, schedule + OTHER_FAMILIES)[0].layers


MAMBA = "mamba_num_heads = 4\nmamba_head_dim = 64\nssm_state_size = 16\nn_groups = 1"


def problem(folder: Path, schedule: str) -> Problem:
    with pytest.raises(InputError) as caught:
        load(folder, schedule)
    return caught.value.problem


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ('layers_total = 8\nlayer_pattern = "3:1 (linear, linear, linear, full)"', (L, L, L, F) * 2),
        ('layers_total = 5\nlayer_pattern = "3:1 (kda,kda , kda,dsa)"', (L, L, L, D, L)),
        ('layers_total = 3\nlayer_pattern = "(full)"', (F, F, F)),
        ('layers_total = 4\nlayer_pattern = "sliding, full"', (S, F, S, F)),
        ("num_hidden_layers = 6\nfull_attention_interval = 3", (L, L, F) * 2),
        ("n_layers = 3\nfull_attention_interval = 1", (F, F, F)),
        ('layer_types = ["linear_attention", "full_attention", "sliding_attention"]', (L, F, S)),
        ('layer_types = ["deepseek_sparse_attention", "linear_attention"]', (D, L)),
        ('layers_block_type = ["mamba", "moe", "attention", "mlp"]', (L, E, F, E)),
        ('hybrid_override_pattern = "ME*-M"', (L, E, F, E, L)),
        ("attn_type_list = [1, 0, 1]", (F, L, F)),
        ("num_hidden_layers = 2\nattn_type_list = [1, 1]", (F, F)),
        ("linear_attn_config.kda_layers = [0, 1]\nlinear_attn_config.full_attn_layers = [2]", (L, L, F)),
        ("linear_attn_config.kda_layers = [1, 3]\nlinear_attn_config.full_attn_layers = [2, 4]", (L, F, L, F)),
        ("layers_total = 4\nlinear_attn_config.full_attn_layers = [4]", (L, L, L, F)),
        ("layers_total = 4\nlinear_attn_config.full_attn_layers = [0, 3]", (F, L, L, F)),
        ("layers_total = 3\nlinear_attn_config.kda_layers = [1, 2]", (L, L, F)),
        ("layers_total = 3\nlayers_full_attention = 3\nlayers_linear_attention = 0", (F, F, F)),
        ("layers_sliding_attention = 2", (S, S)),
        ("layers_ssm = 2\nlayers_total = 2", (L, L)),
        ("layers_dsa = 2", (D, D)),
        ('layers_total = 2\nlayers_linear_attention = 0\nlayers_ssm = 1\nhybrid_override_pattern = "M*"', (L, F)),
    ],
)
def test_every_way_to_tell_the_order(tmp_path: Path, schedule: str, expected: tuple[str, ...]) -> None:
    assert layers(tmp_path, schedule) == expected


def test_a_bare_layer_count_means_full_attention(tmp_path: Path) -> None:
    path = tmp_path / "MODEL.toml"
    path.write_text(WIDTHS[: WIDTHS.index("linear_")] + "layers_total = 3\n", encoding="utf-8")
    assert load_model(path).dims.layers == (F, F, F)


@pytest.mark.parametrize("extra", ["", "sliding_window = 512"])
def test_a_total_beside_recurrent_heads_tells_no_kinds(tmp_path: Path, extra: str) -> None:
    found = problem(tmp_path, f"layers_total = 3\n{extra}")
    assert found.code == "MP205"
    assert "layer_pattern" in found.message


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ("layers_total = 8\nlayers_linear_attention = 6\nlayers_full_attention = 2", (L, L, L, F) * 2),
        ("layers_linear_attention = 6\nlayers_full_attention = 2", (L, L, L, F) * 2),
        ("layers_total = 3\nlayers_linear_attention = 2\nlayers_full_attention = 1", (L, L, F)),
        ("layers_sliding_attention = 3\nlayers_full_attention = 1", (S, S, S, F)),
        ("layers_kda = 3\nlayers_dsa = 1\nlinear_num_heads = 2\nlinear_head_dim = 64", (L, L, L, D)),
        (
            f"layers_total = 6\nlayers_ssm = 2\nlayers_attention = 1\n{MAMBA}",
            (E, L, E, E, L, F),
        ),
    ],
)
def test_counts_of_several_kinds_are_mixed_evenly(tmp_path: Path, counts: str, expected: tuple[str, ...]) -> None:
    dims, notes = load(tmp_path, counts)
    assert dims.layers == expected
    (note,) = notes
    assert (note.code, note.severity) == ("MP226", "note")
    assert "order of the layers" in note.message


def test_a_window_without_an_order_changes_no_size(tmp_path: Path) -> None:
    path = tmp_path / "MODEL.toml"
    path.write_text(WIDTHS[: WIDTHS.index("linear_")] + "layers_total = 3\nsliding_window = 512\n", encoding="utf-8")
    model = load_model(path)
    assert model.dims.layers == (F, F, F)
    assert [note.code for note in model.notes] == ["MP226"]


def test_latent_and_sparse_lists_by_index(tmp_path: Path) -> None:
    indexes = "linear_attn_config.kda_layers = [0, 2]\nlinear_attn_config.full_attn_layers = [1]\nindex_head_dim = 128"
    assert layers(tmp_path, indexes) == (L, D, L)


def test_sources_that_agree_are_one(tmp_path: Path) -> None:
    text = """
layers_total = 4
layers_linear_attention = 3
layers_full_attention = 1
layer_pattern = "3:1 (linear, linear, linear, full)"
full_attention_interval = 4
layer_types = ["linear_attention", "linear_attention", "linear_attention", "deepseek_sparse_attention"]
linear_attn_config.kda_layers = [0, 1, 2]
linear_attn_config.full_attn_layers = [3]
"""
    assert layers(tmp_path, text) == (L, L, L, D)


def test_a_list_longer_than_the_layers_tells_the_draft_head_too(tmp_path: Path) -> None:
    dims, notes = load(tmp_path, 'num_hidden_layers = 2\nmtp_layers = 1\nlayer_types = ["full", "full", "sliding"]')
    assert (dims.layers, dims.mtp_layers) == ((F, F), (S,))
    (note,) = notes
    assert (note.severity, note.where) == ("note", f"{tmp_path / 'MODEL.toml'}:16")
    assert "3 entries for 2 layers" in note.message


def test_indexes_beyond_the_layers_are_noted(tmp_path: Path) -> None:
    text = "layers_total = 2\nlinear_attn_config.kda_layers = [0, 2]\nlinear_attn_config.full_attn_layers = [1]"
    dims, notes = load(tmp_path, text + OTHER_FAMILIES)
    assert dims.layers == (L, F)
    assert "3 entries for 2 layers" in notes[0].message


def test_ratios_longer_than_the_layers(tmp_path: Path) -> None:
    dims, _ = load(tmp_path, "layers_full_attention = 2\ncompress_ratios = [0, 4, 128]")
    assert dims.compress_ratios == (0, 4)


@pytest.mark.parametrize(
    ("schedule", "at", "words"),
    [
        ("layers_total = 8\nlayers_linear_attention = 6\nlayers_full_attention = 3", 14, "6 + layers_full_attention 3"),
        ("layers_total = 8\nlayers_linear_attention = 9", 14, "make 9 layers, but layers_total is 8"),
        (
            'layers_total = 8\nlayers_linear_attention = 5\nlayer_pattern = "3:1 (linear, linear, linear, full)"',
            15,
            "layers_linear_attention is 5, but the schedule has 6",
        ),
        ("layers_total = 4\nlayers_dsa = 1\nfull_attention_interval = 2", 15, "layers_dsa is 1"),
        (
            'layers_total = 4\nlayer_pattern = "2:1 (linear, linear, linear, full)"',
            15,
            "says 2:1 but its layers are 3:1",
        ),
        ('layers_total = 4\nlayer_types = ["full", "full"]', 15, "tells 2 layers of 4"),
        ('layers_total = 4\nhybrid_override_pattern = "M*E"', 15, "tells 3 layers of 4"),
        (
            'layer_types = ["linear", "full"]\nlayers_total = 2\nfull_attention_interval = 1',
            16,
            "full_attention_interval and layer_types do not tell the same layers: they part at layer 0",
        ),
        (
            "linear_attn_config.kda_layers = [0, 1]\nlinear_attn_config.full_attn_layers = [1]",
            14,
            "layer 1 more than once",
        ),
        ("linear_attn_config.kda_layers = [0, 3]\nlinear_attn_config.full_attn_layers = [1]", 14, "layer 2 in neither"),
        (
            "layers_total = 4\nlinear_attn_config.kda_layers = [0]\nlinear_attn_config.full_attn_layers = [1]",
            15,
            "layer 2 in neither list (counting from 0, of 4 layers)",
        ),
        ("linear_attn_config.kda_layers = [5000]\nlinear_attn_config.full_attn_layers = [1]", 14, "above 4096"),
        ("layers_total = 2\nlinear_attn_config.kda_layers = [1, 2]", 15, "leaves no layer to the other kind"),
        (
            "layers_full_attention = 4\nkv_lora_rank = 0\ncompress_ratios = [0]\nnum_hidden_layers = 3",
            17,
            "make 4 layers",
        ),
    ],
)
def test_layers_that_do_not_add_up(tmp_path: Path, schedule: str, at: int, words: str) -> None:
    found = problem(tmp_path, schedule)
    assert (found.code, found.where) == ("MP206", f"{tmp_path / 'MODEL.toml'}:{at}")
    assert words in found.message


@pytest.mark.parametrize(
    ("schedule", "words", "nearest"),
    [
        ('layers_total = 2\nlayer_pattern = "1:1 (sliding, ful)"', '"ful" in layer_pattern', "full"),
        ('layer_types = ["full_atention"]', '"full_atention" in layer_types', "full_attention"),
        ('layers_total = 2\nlayer_pattern = "(full"', "tells no layers", None),
        ('layers_total = 2\nlayer_pattern = "1:1 (full,)"', "tells no layers", None),
        ('hybrid_override_pattern = "MX"', '"X" in hybrid_override_pattern', None),
        ("attn_type_list = [1, 2]", "2 in attn_type_list", None),
        ('layers_full_attention = 1\nmtp.layer_types = ["ful"]', '"ful" in mtp.layer_types', "full"),
    ],
)
def test_words_that_are_no_layers(tmp_path: Path, schedule: str, words: str, nearest: str | None) -> None:
    found = problem(tmp_path, schedule)
    assert found.code == "MP203"
    assert words in found.message
    assert found.accepted
    assert found.where is not None
    assert nearest is None or found.nearest[0] == nearest


class TestShapesByLayer:
    GLOBAL = 'layers_total = 4\nlayer_pattern = "1:1 (sliding, full)"\n'

    def test_full_layers_of_their_own(self, tmp_path: Path) -> None:
        dims, _ = load(tmp_path, self.GLOBAL + "num_global_kv_heads = 1\nglobal_head_dim = 256")
        assert dims.kv_shapes == ((2, 128), (1, 256)) * 2
        assert (dims.kv_heads, dims.head_dim) == (2, 128)

    def test_sliding_layers_of_their_own(self, tmp_path: Path) -> None:
        dims, _ = load(tmp_path, self.GLOBAL + "attention_other_setting = { num_attention_groups = 4, head_dim = 64 }")
        assert dims.kv_shapes == ((4, 64), (2, 128)) * 2

    def test_alike_after_all(self, tmp_path: Path) -> None:
        dims, _ = load(
            tmp_path, self.GLOBAL + "attention_other_setting = { num_attention_groups = 2 }\nglobal_head_dim = 0"
        )
        assert dims.kv_shapes == ()

    @pytest.mark.parametrize("heads", ["[1, 2]", "[9, 1, 9, 2]"])
    def test_a_list_by_attention_layer_or_by_layer(self, tmp_path: Path, heads: str) -> None:
        path = tmp_path / "MODEL.toml"
        order = 'layers_total = 4\nlayer_pattern = "1:1 (linear, full)"\n'
        path.write_text(WIDTHS.replace("kv_heads = 2", f"kv_heads = {heads}") + order, encoding="utf-8")
        assert load_model(path).dims.kv_shapes == ((1, 128), (2, 128))

    def test_a_list_of_neither_length(self, tmp_path: Path) -> None:
        path = tmp_path / "MODEL.toml"
        order = 'layers_total = 4\nlayer_pattern = "1:1 (linear, full)"\n'
        path.write_text(WIDTHS.replace("kv_heads = 2", "kv_heads = [1, 2, 3]") + order, encoding="utf-8")
        with pytest.raises(InputError, match="kv_heads lists 3 layers, but there are 4, 2 with attention") as caught:
            load_model(path)
        assert caught.value.problem.where == f"{path}:6"
