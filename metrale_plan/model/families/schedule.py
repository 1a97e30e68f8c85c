"""The layer schedule: the kind of every layer, from whichever of the known keys a file gives."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from metrale_plan.errors import InputError, Problem
from metrale_plan.model.dims import ATTENTION_KINDS, LayerKind
from metrale_plan.model.families.facts import LIST_TOO_LONG, UNTOLD, Facts
from metrale_plan.model.keys import MOST_LAYERS, WRONG_VALUE
from metrale_plan.model.spellings import LAYER_WORDS, PATTERN_LETTERS
from metrale_plan.nearest import nearest

KIND_OF: dict[str, LayerKind] = {
    word: kind
    for word, name in LAYER_WORDS.items()
    for kind in ("full", "sliding", "sparse", "linear", "moe")
    if kind == name
}

COUNTED: dict[str, tuple[LayerKind, ...]] = {
    "linear_count": ("linear",),
    "mamba_count": ("linear",),
    "kda_count": ("linear",),
    "full_count": ("full", "sparse"),
    "sparse_count": ("sparse",),
    "sliding_count": ("sliding",),
}
"""Keys that count layers, and the kinds they count; the first is what the key alone means."""

RECURRENT_SIGNS = ("full_interval", "lin_v_heads", "kda_heads", "mamba_heads", "ssm_state")
"""Dimensions of recurrent layers: beside them a bare layer count does not mean attention alone."""

_PATTERN = re.compile(r"\s*(?:(\d+(?::\d+)*)\s*)?\(([^()]*)\)\s*|([^()]*)")


class Schedule(NamedTuple):
    """Layers in order, and the words they were told by; both empty where the file does not tell."""

    layers: tuple[LayerKind, ...]
    words: frozenset[str]
    mtp_words: tuple[str, ...] = ()


def schedule(facts: Facts) -> Schedule:
    """The schedule every given key agrees on; InputError MP206 where two keys, or the counts, disagree."""
    total = facts.count("layer_count") or None
    told: list[tuple[str, Schedule]] = []
    for name, read in SOURCES.items():
        fact = facts.fact(name)
        if fact is not None:
            result = read(facts, name, total)
            if result is not None:
                told.append((name, result))
    if not told:
        counted = _by_counts(facts, total)
        return _checked(facts, counted) if counted.layers else counted
    first, answer = told[0]
    for name, other in told[1:]:
        merged = _merge(answer.layers, other.layers)
        if merged is None:
            layer = next(
                (
                    i
                    for i, (a, b) in enumerate(zip(answer.layers, other.layers, strict=False))
                    if _merge((a,), (b,)) is None
                ),
                min(len(answer.layers), len(other.layers)),
            )
            raise facts.contradiction(
                f"{_spelling(facts, name)} and {_spelling(facts, first)} do not tell the same layers: they part at "
                f"layer {layer} (counting from 0)",
                name,
            )
        answer = Schedule(merged, answer.words | other.words, answer.mtp_words or other.mtp_words)
    return _checked(facts, answer)


def _spelling(facts: Facts, name: str) -> str:
    fact = facts.fact(name)
    return name if fact is None else fact.spelling


def _merge(a: Sequence[LayerKind], b: Sequence[LayerKind]) -> tuple[LayerKind, ...] | None:
    """Two tellings of the same layers as one: `full` is also what a key says that does not know `sparse`."""
    if len(a) != len(b):
        return None
    merged: list[LayerKind] = []
    for x, y in zip(a, b, strict=True):
        if x != y and {x, y} != {"full", "sparse"}:
            return None
        merged.append("sparse" if "sparse" in (x, y) else x)
    return tuple(merged)


# from each key


def kinds_of(facts: Facts, name: str, words: Sequence[str]) -> tuple[LayerKind, ...]:
    """The kinds that one key's words mean; InputError MP203 at a word that means none."""
    for word in words:
        if word not in KIND_OF:
            raise _no_kind(facts, name, word, ", ".join(KIND_OF), nearest(word, KIND_OF))
    return tuple(KIND_OF[word] for word in words)


def _no_kind(facts: Facts, name: str, word: str, accepted: str, near: Sequence[str] = ()) -> InputError:
    fact = facts.fact(name)
    return InputError(
        WRONG_VALUE,
        f'"{word}" in {_spelling(facts, name)} is no kind of layer',
        where=fact.where if fact else facts.where,
        accepted=accepted,
        nearest=tuple(near),
    )


def _listed(facts: Facts, name: str, words: Sequence[str], total: int | None) -> Schedule:
    """One word a layer; words beyond the layer count are the draft head's."""
    count = len(words) if total is None else total
    if len(words) < count:
        raise facts.contradiction(f"{_spelling(facts, name)} tells {len(words)} layers of {count}", name)
    kinds = kinds_of(facts, name, words)
    _note_longer(facts, name, len(words), count)
    return Schedule(kinds[:count], frozenset(words[:count]), tuple(words[count:]))


def _note_longer(facts: Facts, name: str, given: int, count: int) -> None:
    if given > count:
        fact = facts.fact(name)
        message = f"{_spelling(facts, name)} has {given} entries for {count} layers: the first {count} count"
        facts.notes.append(
            Problem(code=LIST_TOO_LONG, message=message, where=fact.where if fact else None, severity="note")
        )


def _repeated(words: Sequence[str], total: int) -> list[str]:
    return [words[index % len(words)] for index in range(total)]


def _from_words(facts: Facts, name: str, total: int | None) -> Schedule | None:
    return _listed(facts, name, facts.get(name), total)


def _from_pattern(facts: Facts, name: str, total: int | None) -> Schedule | None:
    """`3:1 (linear, linear, linear, full)`: a group that repeats from layer 0; a ratio must be that of its runs."""
    text = facts.get(name)
    match = _PATTERN.fullmatch(text)
    words = [] if match is None else [word.strip() for word in (match[2] or match[3] or "").split(",")]
    if not all(words) or match is None:
        fact = facts.fact(name)
        raise InputError(
            WRONG_VALUE,
            f'{_spelling(facts, name)} = "{text}" tells no layers',
            where=fact.where if fact else facts.where,
            accepted='one repeating group, as in "3:1 (linear, linear, linear, full)"',
        )
    kinds = kinds_of(facts, name, words)
    if match[1] and [int(part) for part in match[1].split(":")] != _runs(kinds):
        said = ":".join(map(str, _runs(kinds)))
        raise facts.contradiction(f"{_spelling(facts, name)} says {match[1]} but its layers are {said}", name)
    if total is None:
        return None
    return Schedule(tuple(kinds_of(facts, name, _repeated(words, total))), frozenset(words))


def _runs(kinds: Sequence[LayerKind]) -> list[int]:
    runs: list[int] = []
    for index, kind in enumerate(kinds):
        if index and kind == kinds[index - 1]:
            runs[-1] += 1
        else:
            runs.append(1)
    return runs


def _from_interval(facts: Facts, name: str, total: int | None) -> Schedule | None:
    """Every n-th layer attends, the others are recurrent."""
    every = facts.count(name)
    if total is None:
        return None
    words = ["full" if index % every == every - 1 else "linear" for index in range(total)]
    return Schedule(kinds_of(facts, name, words), frozenset(words))


def _from_letters(facts: Facts, name: str, total: int | None) -> Schedule | None:
    text = facts.get(name)
    stray = next((letter for letter in text if letter not in PATTERN_LETTERS), None)
    if stray is not None:
        accepted = ", ".join(f"{letter} ({word})" for letter, word in PATTERN_LETTERS.items())
        raise _no_kind(facts, name, stray, accepted)
    return _listed(facts, name, [PATTERN_LETTERS[letter] for letter in text], total)


def _from_attn_types(facts: Facts, name: str, total: int | None) -> Schedule | None:
    """1 for attention, 0 for a linear layer."""
    kinds = facts.get(name)
    odd = next((kind for kind in kinds if kind > 1), None)
    if odd is not None:
        fact = facts.fact(name)
        message = f"{odd} in {_spelling(facts, name)} is no kind of layer"
        raise InputError(
            WRONG_VALUE, message, where=fact.where if fact else facts.where, accepted="0 (linear) or 1 (full)"
        )
    return _listed(facts, name, ["full" if kind else "linear" for kind in kinds], total)


def _from_indexes(facts: Facts, name: str, total: int | None) -> Schedule | None:
    """Two lists of layer numbers, from 0 where a 0 occurs, else from 1; together they name every layer once."""
    if name == "full_indexes" and facts.fact("kda_indexes") is not None:
        return None  # told together
    kda: list[int] = facts.get("kda_indexes") or []
    full: list[int] = facts.get("full_indexes") or []
    if max((*kda, *full)) > MOST_LAYERS:
        raise facts.contradiction(f"{_spelling(facts, name)} names a layer above {MOST_LAYERS}", name)
    base = 0 if 0 in kda or 0 in full else 1
    named = [index - base for index in (*kda, *full)]
    if not kda or not full:
        if total is None:
            return None  # one list alone does not say how many layers there are
        rest = [index for index in range(total) if index not in set(named)]
        if not rest or (0 not in kda and 0 not in full and max(named) >= total):
            raise facts.contradiction(f"{_spelling(facts, name)} leaves no layer to the other kind", name)
        kda, full = (named, rest) if kda else (rest, named)
        base = 0
        named = [*kda, *full]
    count = max(named) + 1 if total is None else total
    _note_longer(facts, name, max(named) + 1, count)
    within = sorted(index for index in named if index < count)
    if within != list(range(count)):
        twice = next((a for a, b in pairwise(within) if a == b), None)
        gap = next((index for index in range(count) if index not in set(within)), None)
        what = f"layer {gap} in neither list" if twice is None else f"layer {twice} more than once"
        raise facts.contradiction(
            f"kda_layers and full_attn_layers name {what} (counting from 0, of {count} layers)", "kda_indexes", name
        )
    kinds: list[str] = ["full"] * count
    for index in kda:
        if index - base < count:
            kinds[index - base] = "kda"
    if facts.count("index_head_dim") or facts.count("sparse_count"):
        kinds = ["dsa" if word == "full" else word for word in kinds]
    return Schedule(kinds_of(facts, name, kinds), frozenset(kinds))


SOURCES: dict[str, Callable[[Facts, str, int | None], Schedule | None]] = {
    "layer_types": _from_words,
    "override_pattern": _from_letters,
    "pattern": _from_pattern,
    "full_interval": _from_interval,
    "attn_types": _from_attn_types,
    "kda_indexes": _from_indexes,
    "full_indexes": _from_indexes,
}
"""One reader for each key that tells an order. One that needs the layer count answers None without it."""


# counts


def _by_counts(facts: Facts, total: int | None) -> Schedule:
    """Layers by their numbers alone. Where several kinds are counted their order is not told, and no total needs it.

    A bare layer count means full attention, where nothing speaks of another kind of layer.
    """
    given = {name: facts.count(name) for name in COUNTED if facts.fact(name) is not None}
    above = {name: count for name, count in given.items() if count > 0}
    said = sum(above.values())
    rest = 0 if total is None else total - said
    blocks = "mamba_count" in above and rest > 0  # such models have feed-forward blocks that are layers of their own
    if rest < 0 or (len(above) > 1 and rest and not blocks):
        told = " + ".join(f"{_spelling(facts, name)} {count}" for name, count in above.items())
        raise facts.contradiction(
            f"{told} make {said} layers, but {_spelling(facts, 'layer_count')} is {total}", "layer_count"
        )
    counts: dict[LayerKind, int] = {}
    for name, count in above.items():
        counts[COUNTED[name][0]] = counts.get(COUNTED[name][0], 0) + count
    if counts and (not rest or blocks):
        counts |= {"moe": rest} if blocks else {}
        if len(counts) > 1:
            listed = ", ".join(f"{count} {kind}" for kind, count in counts.items())
            _note_untold(facts, f"the order of the layers ({listed}); they are counted as evenly mixed")
        return Schedule(_mixed(counts), frozenset(map(str, counts)))
    if total is None or above or facts.gives(RECURRENT_SIGNS):
        return Schedule((), frozenset())
    if facts.gives(("global_head_dim", "global_kv_heads", "sliding_head_dim", "sliding_kv_heads")):
        return Schedule((), frozenset())
    if facts.count("sliding_window") and facts.fact("compress_ratios") is None:
        _note_untold(facts, "which layers have the sliding window; all are counted as full, and cache as much")
    attends: LayerKind = "full"
    return Schedule((attends,) * total, frozenset({"full"}))


def _mixed(counts: Mapping[LayerKind, int]) -> tuple[LayerKind, ...]:
    """Kinds spread evenly, the rarer ones last in each group: 48 linear and 16 full are `linear linear linear full`."""
    ranked = [((index + 1) / count, -count, kind) for kind, count in counts.items() for index in range(count)]
    return tuple(kind for _, _, kind in sorted(ranked))


def _note_untold(facts: Facts, message: str) -> None:
    facts.notes.append(Problem(code=UNTOLD, message=message, where=facts.where, severity="note"))


def _checked(facts: Facts, answer: Schedule) -> Schedule:
    """The schedule, once every count in the file agrees with it."""
    for name, kinds in COUNTED.items():
        fact = facts.fact(name)
        have = sum(kind in kinds for kind in answer.layers)
        # 0 also says that another key counts these layers: `layers_linear_attention = 0` beside `layers_ssm = 23`.
        elsewhere = any(
            facts.count(other) for other, same in COUNTED.items() if other != name and set(same) & set(kinds)
        )
        if fact is not None and fact.value not in (have, answer.layers.count(kinds[0]), 0 if elsewhere else have):
            raise facts.contradiction(
                f"{fact.spelling} is {fact.value}, but the schedule has {have} such layers of {len(answer.layers)}",
                name,
            )
    return answer


def attention_kinds(layers: Sequence[LayerKind]) -> list[LayerKind]:
    """The attention layers in order."""
    return [kind for kind in layers if kind in ATTENTION_KINDS]
