"""Bytes of stored h state and of its FP32 staging area. Source: `ssm_reserve`."""


def ssm_h_stored_bytes(h_f32_bytes: int, f16_pool: bool) -> int:
    """Bytes of one stored h blob, given its FP32 bytes: half of them with an FP16 pool.

    Raises:
        ValueError: `h_f32_bytes` is not a multiple of 4. Source: `ssm_reserve: ssm_h_stored_bytes`.
    """
    if h_f32_bytes % 4:
        raise ValueError("h-state blobs are FP32-element sized")
    return h_f32_bytes // 2 if f16_pool else h_f32_bytes


def ssm_h_prefill_stage_bytes(slots: int, h_layer_f32_bytes: int, f16_pool: bool) -> int:
    """Bytes of the staging area: one layer's FP32 h blob per slot with an FP16 pool, else 0.

    All layers share it, so `h_layer_f32_bytes` is one layer's. Source: `ssm_reserve: ssm_h_prefill_stage_bytes`.
    """
    return slots * h_layer_f32_bytes if f16_pool else 0
