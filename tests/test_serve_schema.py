"""The pydantic model of the serve flags takes what the command line takes, and gives the same values."""

from typing import Any

import pytest
from cli import cli_json
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from metrale_plan.config.flags import FLAGS, Flag
from metrale_plan.config.schema import serve_flags_model, validate_serve_flags
from metrale_plan.errors import InputError
from metrale_plan.sources.argv import read_value

MODEL = serve_flags_model()
valued = [flag for flag in FLAGS if not flag.presence and not flag.repeatable]
texts = st.one_of(
    st.sampled_from(
        ["8", "+8", "0", "129", "auto", "max", "4:3,8:2", "4:x", "0.5", "1.0", "1e-1", "fp8", "nan", "", "-1"]
    ),
    st.integers(0, 2**70).map(str),
    st.text(max_size=6),
)


@given(flag=st.sampled_from(valued), text=texts)
@settings(max_examples=300, deadline=None)
def test_a_text_is_read_alike_on_both_ways(flag: Flag, text: str) -> None:
    try:
        expected: Any = read_value(flag, text, "flag").value
    except InputError:
        with pytest.raises(ValidationError):
            MODEL.model_validate({flag.key: text})
        return
    assert getattr(MODEL.model_validate({flag.key: text}), flag.key) == expected


def test_typed_values_are_judged_strictly() -> None:
    config = validate_serve_flags({"speculative": True, "max_batch_size": "auto", "num_drafts": 3})
    assert (config.speculative, config.max_batch_size, config.num_drafts) == (True, "auto", 3)  # type: ignore[attr-defined]
    for wrong in ({"num_drafts": True}, {"speculative": 1}, {"max_batchsize": "8"}, {"speculative": "true"}):
        with pytest.raises(ValidationError):
            validate_serve_flags(wrong)


def test_its_json_schema_is_printed() -> None:
    document = cli_json("schema", "serve")["document"]
    Draft202012Validator.check_schema(document)
    assert document["properties"].keys() == {flag.key for flag in FLAGS}
