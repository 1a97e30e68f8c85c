"""`models` and `devices`: what they list, as a table and as JSON."""

import pytest
from cli import cli, cli_json

from metrale_plan import catalog

KV_PER_TOKEN = {
    "deepseek-v4-flash": ("fp8", 43 * (512 + 64) * 2),
    "gemma-4-26b-a4b": ("bf16", (25 * 8 * 256 + 5 * 2 * 512) * 2 * 2),
    "glm-5.3-flash": ("fp8", 11 * 512 * 2),
    "gpt-oss-20b": ("bf16", 24 * 8 * 64 * 2 * 2),
    "nemotron-3-nano-30b-a3b": ("fp8", 6 * 2 * 128 * 2),
    "qwen3.6-35b-a3b": ("fp8", 10 * 2 * 256 * 2),
    "qwen3.8-27b": ("fp8", 16 * 4 * 256 * 2),
    "qwen3.8-flash-next": ("bf16", 12 * 2 * 256 * 2 * 2),
}
"""KV dtype of the model file, and attention layers x heads x width x two sides x element size."""


class TestModels:
    def test_every_bundled_model_is_listed(self) -> None:
        document = cli_json("models")
        assert (document["command"], document["exit_code"], document["error"]) == ("models", 0, None)
        assert [row["name"] for row in document["models"]] == list(catalog.bundled_models())

    @pytest.mark.parametrize("name", KV_PER_TOKEN)
    def test_kv_bytes_of_a_token_at_the_model_s_own_dtype(self, name: str) -> None:
        row = next(row for row in cli_json("models")["models"] if row["name"] == name)
        assert (row["kv_dtype"], row["kv_bytes_per_token"]) == KV_PER_TOKEN[name]

    def test_state_and_layers(self) -> None:
        row = next(row for row in cli_json("models")["models"] if row["name"] == "qwen3.8-27b")
        assert (row["family"], row["layers"], row["ssm_layers"], row["attention_layers"]) == ("gdn", 64, 48, 16)
        assert (row["h_state_bytes"], row["conv_state_bytes"], row["blob_bytes"]) == (3145728, 163840, 158859264)

    def test_incomplete_ones_are_marked(self) -> None:
        rows = {row["name"]: row for row in cli_json("models")["models"]}
        lacking = {name: row["missing"] for name, row in rows.items() if not row["complete"]}
        assert set(lacking) == {"kimi-k3", "mistral-small-4", "nemotron-labs-3-puzzle-75b-a9b"}
        assert all(lacking.values())
        table = cli("models").out
        marked = {line.split()[0] for line in table.splitlines() if "incomplete" in line and "?" in line}
        assert marked == set(lacking)

    def test_notes_on_one_model_are_told_with_that_model(self) -> None:
        assert (cli("models").err, cli_json("models")["warnings"]) == ("", [])
        assert "MP226" in cli("models", "kimi-k3").err

    def test_widths_do_not_read_as_totals(self) -> None:
        shown = cli("models", "step3p7-flash").out
        assert "64 / 8, each 128 wide" in shown
        assert "288, 8 a token, each 1280 wide" in shown

    @pytest.mark.parametrize("name", catalog.bundled_models())
    def test_one_with_its_checkpoints(self, name: str) -> None:
        shown = cli("models", name)
        assert shown.code == 0
        (row,) = cli_json("models", name)["models"]
        assert row["checkpoints"]
        assert all(checkpoint in shown.out for checkpoint in row["checkpoints"])
        assert (row["dims"] is None) == bool(row["missing"])

    def test_defaults_of_a_class(self) -> None:
        def caps(*more: str) -> int:
            (row,) = cli_json("models", "qwen3.6-35b-a3b", *more)["models"]
            return int(row["behavior"]["mtp_max_seqs"])

        assert (caps(), caps("--class", "gb10"), caps("--class", "hopper")) == (0, 128, 0)

    def test_unknown_name_and_class(self) -> None:
        wrong = cli_json("models", "qwen3.8-72b")
        assert (wrong["exit_code"], wrong["error"]["code"], wrong["models"]) == (2, "MP207", None)
        assert wrong["error"]["nearest"][0] == "qwen3.8-27b"
        assert cli_json("models", "--class", "hoper")["error"]["nearest"] == ["hopper"]

    @pytest.mark.parametrize("width", [80, 120, 200])
    def test_the_table_fits(self, width: int) -> None:
        table = cli("models", env={"COLUMNS": str(width)}).out
        assert max(map(len, table.splitlines())) <= width


class TestDevices:
    def test_json(self) -> None:
        rows = {row["id"]: row for row in cli_json("devices")["devices"]}
        assert set(rows) == {spec.id for spec in catalog.devices()}
        assert rows["gb10"] == {
            "id": "gb10",
            "hardware_class": "gb10",
            "total": 124610 * 2**20,
            "sm_count": 48,
            "splitk": "legacy",
            "unified": True,
        }

    def test_table(self) -> None:
        shown = cli("devices")
        assert shown.code == 0
        assert all(str(spec.id) in shown.out for spec in catalog.devices())
