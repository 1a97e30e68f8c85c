"""The replay ring, kept instead of snapshots under the replay rollback mode.

Source: the engine's memory plan, section 4 (`ssm_reserve::rollback`).
"""


def ssm_replay_row_bytes(qkvz_elems: int, value_heads: int) -> int:
    """Bytes that one row of one delta-net layer leaves for replay: its BF16 projections and two FP32 per value head."""
    return 2 * qkvz_elems + 8 * value_heads


def glm_replay_row_bytes(value_heads: int, value_dim_per_head: int) -> int:
    """Bytes of a replay row of one GLM (`glm5_next`) layer: per value element three BF16 and one FP32, one per head."""
    value_dim = value_heads * value_dim_per_head
    return 6 * value_dim + 4 * value_dim + 4 * value_heads


def ssm_replay_ring_bytes(layers: int, row_bytes: int, k_ceiling: int, slots: int) -> int:
    """Bytes of the ring: all but the last of a verify's `k_ceiling` rows, in each layer, for each slot.

    `slots` counts the dummy; a `k_ceiling` of 0 gives 0, as 1 does.
    """
    return layers * row_bytes * max(k_ceiling - 1, 0) * slots
