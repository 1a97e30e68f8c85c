"""ModelDims: the geometry every formula reads (engine memory plan, section 2). Plain frozen numbers, one rank's."""

from dataclasses import dataclass
from typing import Literal

LayerKind = Literal["full", "sliding", "sparse", "linear", "moe"]
"""`full`, `sliding`, `sparse` attend; `linear` is recurrent; `moe` is an MoE block with neither KV nor state."""

Recurrent = Literal["gdn", "mamba2", "kda", "none"]

ATTENTION_KINDS = frozenset({"full", "sliding", "sparse"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDims:
    """Dimensions of one model as one rank sees it; counts and elements, never bytes. 0 means the model lacks it.

    Attributes:
        loader: the engine's weight loader ("qwen3_5", "qwen3_6_moe", "nemotron_h"), or None where it is not known.
        model_type: the checkpoint's `model_type`.
        layers: the kind of every layer, in order.
        tokenizer_vocab: entries of the tokenizer; 0 when unknown.
        kv_shapes: (kv heads, head dim) of each attention layer where they differ; empty when all layers are alike.
        compress_ratios: per-layer KV compression (DeepSeek-V4); empty when there is none.
        mtp_layers: layer kinds of the draft head.
    """

    loader: str | None
    model_type: str
    recurrent: Recurrent
    layers: tuple[LayerKind, ...]
    hidden: int
    vocab: int
    q_heads: int
    kv_heads: int
    head_dim: int
    tokenizer_vocab: int = 0
    attn_gated: bool = False
    mrope_interleaved: bool = False
    inter: int = 0
    experts: int = 0
    top_k: int = 0
    moe_inter: int = 0
    shared_inter: int = 0
    moe_latent: int = 0
    zero_experts: int = 0
    lin_k_heads: int = 0
    lin_k_dim: int = 0
    lin_v_heads: int = 0
    lin_v_dim: int = 0
    conv_kernel: int = 0
    mamba_heads: int = 0
    mamba_head_dim: int = 0
    ssm_state: int = 0
    ssm_groups: int = 0
    kv_lora_rank: int = 0
    q_lora_rank: int = 0
    qk_rope_head_dim: int = 0
    o_groups: int = 0
    o_lora_rank: int = 0
    hc_mult: int = 0
    hc_lowrank: int = 0
    index_topk: int = 0
    index_n_heads: int = 0
    index_head_dim: int = 0
    index_compress_ratio: int = 0
    index_kpool: int = 0
    has_mtp: bool = False
    mtp_dense_ffn: bool = False
    mtp_layers: tuple[LayerKind, ...] = ()
    kv_shapes: tuple[tuple[int, int], ...] = ()
    compress_ratios: tuple[int, ...] = ()

    @property
    def ssm_layers(self) -> int:
        """`L`: recurrent layers."""
        return self.layers.count("linear")

    @property
    def attention_layers(self) -> int:
        """`A`: layers that hold KV."""
        return sum(kind in ATTENTION_KINDS for kind in self.layers)

    @property
    def sparse_layers(self) -> int:
        """Attention layers with an indexer."""
        return self.layers.count("sparse")

    @property
    def served_vocab(self) -> int:
        """Vocabulary rows the serve keeps: the tokenizer's when it is known and smaller."""
        return self.tokenizer_vocab if 0 < self.tokenizer_vocab < self.vocab else self.vocab

    @property
    def q_mul(self) -> int:
        """Query rows per head: 2 when attention carries an output gate."""
        return 2 if self.attn_gated else 1

    @property
    def position_streams(self) -> int:
        """Rotary position streams: 3 under interleaved multi-axis rope."""
        return 3 if self.mrope_interleaved else 1

    @property
    def key_dim(self) -> int:
        return self.lin_k_heads * self.lin_k_dim

    @property
    def value_dim(self) -> int:
        return self.lin_v_heads * self.lin_v_dim

    @property
    def conv_dim(self) -> int:
        """Delta-net convolution channels."""
        return 2 * self.key_dim + self.value_dim

    @property
    def qkvz(self) -> int:
        """Delta-net input projection width."""
        return 2 * self.key_dim + 2 * self.value_dim

    @property
    def mamba_inner(self) -> int:
        return self.mamba_heads * self.mamba_head_dim

    @property
    def mamba_xbc(self) -> int:
        """Mamba-2 convolution channels."""
        return self.mamba_inner + 2 * self.ssm_groups * self.ssm_state

    @property
    def mamba_in(self) -> int:
        """Mamba-2 input projection width."""
        return self.mamba_inner + self.mamba_xbc + self.mamba_heads

    @property
    def mla(self) -> int:
        """Latent KV width of one token under MLA, else 0."""
        return self.kv_lora_rank + self.qk_rope_head_dim if self.kv_lora_rank > 0 else 0

    @property
    def wide_heads(self) -> bool:
        """Whether the delta-net heads are the 128 x 128 that the fused kernels need."""
        return self.lin_k_dim == 128 and self.lin_v_dim == 128

    @property
    def h_unit(self) -> int:
        """Bytes of one recurrent layer's h state for one sequence, FP32."""
        if self.mamba_heads > 0:
            return 4 * self.mamba_inner * self.ssm_state
        return 4 * self.lin_v_heads * self.lin_v_dim * self.lin_k_dim

    @property
    def conv_unit(self) -> int:
        """Bytes of one recurrent layer's convolution window (all `conv_kernel` columns) for one sequence, FP32."""
        return 4 * self.conv_kernel * (self.mamba_xbc if self.mamba_heads > 0 else self.conv_dim)

    @property
    def blob(self) -> int:
        """Bytes of one sequence's recurrent state over all layers, FP32."""
        return self.ssm_layers * (self.h_unit + self.conv_unit)
