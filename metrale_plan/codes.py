"""Every code that metrale-plan can print, once: what it means, an example, and what to do about it.

MP1xx capacity, MP2xx input, MP3xx memory reading. Codes are never reused.
"""

from typing import Literal, NamedTuple

Kind = Literal["refusal", "error", "cannot tell", "warning", "note"]


class Code(NamedTuple):
    """One code.

    Attributes:
        code: "MP" and three digits.
        kind: what it usually is.
        title: a few words.
        meaning: what it says about the plan or the input.
        example: an input that gives it.
        remedy: what changes it.
    """

    code: str
    kind: Kind
    title: str
    meaning: str
    example: str
    remedy: str


CODES: tuple[Code, ...] = (
    Code(
        "MP101",
        "refusal",
        "does not fit",
        "The reserve and the buffer arena together exceed the free memory before the weights load, so the engine's "
        "own preflight refuses this serve.",
        "preflight qwen3.8-27b --speculative --num-drafts 3 --max-batch-size 128 --device gb10 --free-memory 20GiB",
        "Free memory, or lower what the largest terms depend on: --max-batch-size, --ssm-cache-slots, the ring's "
        "depth, --max-prefill-tokens.",
    ),
    Code(
        "MP102",
        "warning",
        "ring fitted to memory",
        "The decode-rollback ring is shallower than its rules want, because the wanted depth does not fit beside the "
        "rest of the reserve. The engine publishes the fitted depth and allocates that.",
        "preflight qwen3.8-27b --max-batch-size 32 --device gb10 --free-memory 40GiB",
        "Pin the depth with --ssm-decode-ring-slots, or make room for the wanted one.",
    ),
    Code(
        "MP103",
        "note",
        "snapshot slots dropped",
        "Marconi snapshot slots were asked for (16 unless --ssm-cache-slots says otherwise), but prefix caching is "
        "not active, so nothing could restore them and none are reserved.",
        "plan qwen3.8-27b",
        "Give --enable-prefix-caching to use them; nothing needs to change otherwise.",
    ),
    Code(
        "MP104",
        "note",
        "stages not reached",
        "The verdict speaks of the stages it names. Loading the weights and sizing the KV cache come later and were "
        "not planned.",
        "preflight qwen3.8-27b --device gb10",
        "Ask for --stage reserve when that first question is all you want answered.",
    ),
    Code(
        "MP106",
        "refusal",
        "speculation over Mamba-2",
        "The engine does not draft for models whose recurrent layers are Mamba-2.",
        "plan nemotron-3-nano-30b-a3b --speculative",
        "Leave every kind of speculation off for this model.",
    ),
    Code(
        "MP107",
        "refusal",
        "half-precision state refused",
        "--ssm-h-dtype f16 and f16-pool need the fused output norm, 128 x 128 heads, at most 3 drafts, a DFlash γ of "
        "at most 15, and neither self- nor n-gram speculation.",
        "plan qwen3.8-27b --ssm-h-dtype f16-pool",
        "Give --gdn-fused-norm where that is what is missing, or stay at f32.",
    ),
    Code(
        "MP108",
        "refusal",
        "heads do not divide",
        "Tensor parallelism splits query, KV, key and value heads over the ranks, and this count does not divide one "
        "of them.",
        "plan qwen3.8-27b --tp-size 3",
        "Use one of the sizes that the message lists.",
    ),
    Code(
        "MP109",
        "refusal",
        "flags that exclude or need each other",
        "Two flags that the engine refuses together were given, or one without the other that it needs.",
        "plan qwen3.8-27b --speculative --dflash --dflash-gamma 8",
        "Keep one of the two, or add the one that is needed.",
    ),
    Code(
        "MP110",
        "refusal",
        "DFlash ladder above γ - 1",
        "From 2026-10-09 the engine refuses a --dflash-draft-ladder step with more than γ - 1 drafts.",
        "plan qwen3.8-27b --dflash --dflash-gamma 4 --dflash-draft-ladder 4:4",
        "Lower the step or raise --dflash-gamma.",
    ),
    Code(
        "MP111",
        "refusal",
        "swap of state that KV blocks do not hold",
        "High-speed swap streams KV blocks, and sequences of this model have state outside them: compressed KV by "
        "layer, or an indexer's rows.",
        "plan deepseek-v4-flash --high-speed-swap",
        "Leave --high-speed-swap out.",
    ),
    Code(
        "MP112",
        "refusal",
        "high-speed swap with automatic slots",
        "High-speed swap sizes its pool by the number of slots, so the engine cannot choose that number by the pool.",
        "plan qwen3.8-27b --high-speed-swap --max-batch-size auto",
        "Give --max-batch-size a number.",
    ),
    Code(
        "MP113",
        "warning",
        "switched off: state outside the KV blocks",
        "The engine switches prefix caching, and swap to disk, off where sequences have state outside the KV blocks.",
        "plan deepseek-v4-flash --enable-prefix-caching",
        "Leave the flag out; it has no effect on this model.",
    ),
    Code(
        "MP120",
        "cannot tell",
        "a setting that the plan does not count",
        "A flag or variable is set that changes bytes of this stage, and the plan has no formula for it. `plan` warns; "
        "`preflight` does not guess and says that it cannot tell.",
        "preflight qwen3.8-27b --tp-size 2 --device gb10",
        "Set it back to its default, or take the plan as the figure without it.",
    ),
    Code(
        "MP121",
        "warning",
        "ring fitted after the load",
        "On the dense loader's native FP8 route the engine fits the decode-rollback ring to what is left once the "
        "weights are loaded. The plan shows the depth the ring wants; the engine may make it shallower, never deeper.",
        "METRALE_DENSE_FP8=1 plan qwen3.8-27b",
        "Pin the depth with --ssm-decode-ring-slots to know it now.",
    ),
    Code(
        "MP122",
        "warning",
        "GLM-Next figures that are upper bounds",
        "The engine has a trimmed form of GLM-Next's buffer arena whose sizes are not known, and since 2026-10-09 it "
        "keeps the indexer in KV blocks, whose share of a block is not known either. The other terms are exact.",
        "plan glm-5.3-flash",
        "Compare with the arena that a boot logs before relying on the last GiB.",
    ),
    Code(
        "MP130",
        "warning",
        "carry that cannot run",
        "The drafter carry was asked for, and it runs only where one sequence drafts at a time: with a dispatch cap of "
        "1. Above that the engine leaves it off without a word.",
        "plan qwen3.8-27b --speculative --carry",
        "Give --mtp-max-seqs 1 to use the carry, or --no-carry.",
    ),
    Code(
        "MP131",
        "warning",
        "ladder above the drafts",
        "A step of the draft ladder asks for more drafts than --num-drafts (γ under --dflash) allows. The engine cuts "
        "it without a word.",
        "plan qwen3.8-27b --speculative --num-drafts 2 --mtp-k-ladder 1:4,8:2",
        "Raise --num-drafts or lower the step.",
    ),
    Code(
        "MP132",
        "warning",
        "snapshot slots without a prefix cache",
        "--ssm-cache-slots was set, but only the prefix cache can restore a snapshot and it is not active, so none are "
        "kept.",
        "plan qwen3.8-27b --ssm-cache-slots 64",
        "Give --enable-prefix-caching, or leave --ssm-cache-slots out.",
    ),
    Code(
        "MP133",
        "warning",
        "KV precision other than the model's",
        "The model file names the KV precision that the model is tuned for, and another one was set.",
        "plan qwen3.6-27b --kv-cache-dtype nvfp4",
        "Leave --kv-cache-dtype out, unless the other precision was tried on this model.",
    ),
    Code(
        "MP134",
        "warning",
        "utilization above the class's ceiling",
        "The device's class names the highest --gpu-memory-utilization that its recipes use. The engine does not "
        "refuse more; on memory that host and GPU share, more leaves the host too little.",
        "plan qwen3.8-27b --gpu-memory-utilization 0.92 --device gb10",
        "Stay at or below the ceiling.",
    ),
    Code(
        "MP135",
        "warning",
        "queue length taken for the batch",
        "--max-num-seqs is how many requests may wait. How many are decoded together is --max-batch-size, which was "
        "left at its default.",
        "plan qwen3.8-27b --max-num-seqs 64",
        "Give --max-batch-size as well.",
    ),
    Code(
        "MP136",
        "warning",
        "a variable beside the recipe",
        "A METRALE_* variable of this environment changes the plan and the recipe's env does not set it, so the recipe "
        "alone does not describe this serve.",
        "METRALE_SSM_MARCONI_FULL=1 plan --recipe serve.yaml",
        "Put it into the recipe's env, or plan with --isolated-env.",
    ),
    Code(
        "MP137",
        "warning",
        "a ladder that is switched off",
        "A draft ladder was set, and METRALE_NO_MTP_K_LADDER gives every width --num-drafts instead.",
        "METRALE_NO_MTP_K_LADDER=1 plan qwen3.8-27b --speculative --mtp-k-ladder 4:2",
        "Unset the variable, or leave the ladder out.",
    ),
    Code(
        "MP150",
        "warning",
        "utilization above free memory",
        "The budget that --gpu-memory-utilization asks for is more than is free. The engine does not compare the two; "
        "what it sizes by the budget will not all be there.",
        "preflight qwen3.8-27b --total-memory 121.69GiB --free-memory 101.8GiB --gpu-memory-utilization 0.87",
        "Use the utilization that the message names, or free memory.",
    ),
    Code(
        "MP160",
        "refusal",
        "less headroom than policy asks",
        "The config fits, and leaves less memory free than least_headroom in the gate's config asks for.",
        'check recipes/, with least_headroom = "8GiB"',
        "Lower what the largest terms depend on, or the policy's figure.",
    ),
    Code(
        "MP161",
        "refusal",
        "utilization above the ceiling",
        "--gpu-memory-utilization is above what the policy allows on this hardware class. Memory that the "
        "system or a neighbour holds is not the serve's to take.",
        "check recipes/, with utilization_ceiling = { gb10 = 0.85 }",
        "Lower gpu_memory_utilization to the ceiling or below.",
    ),
    Code(
        "MP162",
        "refusal",
        "a forbidden variable",
        "The config sets a METRALE_* variable that the policy forbids.",
        'check recipes/, with forbidden_variables = ["METRALE_SSM_MARCONI_FULL"]',
        "Take the variable out of the config.",
    ),
    Code(
        "MP163",
        "refusal",
        "a required flag left out",
        "The policy requires every serve to state this flag, so that a changed default cannot change the plan.",
        'check recipes/, with required_flags = ["max_batch_size"]',
        "State the flag, also where its value is the default.",
    ),
    Code(
        "MP164",
        "warning",
        "an ignored code expired",
        "An entry of [[policy.ignore]] is past its date, so its code counts again.",
        "check recipes/, with expires = 2025-12-31",
        "Mend the cause, or move the date and say why.",
    ),
    Code(
        "MP170",
        "refusal",
        "grown beyond the limit",
        "The plan grew by more than --fail-over allows.",
        "diff old.yaml new.yaml --fail-over 1GiB",
        "Take back part of the change, or allow more.",
    ),
    Code(
        "MP200",
        "error",
        "a bug",
        "Something happened in metrale-plan that never should.",
        "",
        "Please report it, with what --traceback prints.",
    ),
    Code(
        "MP201",
        "error",
        "file cannot be read",
        "A file is missing, is a directory, is empty, or is not UTF-8.",
        "plan ./no-such-folder/MODEL.toml",
        "Name a readable UTF-8 file.",
    ),
    Code(
        "MP202",
        "error",
        "not TOML",
        "The file is not TOML: a syntax error, or a key that is given twice.",
        "plan ./broken/MODEL.toml",
        "Mend the line that the message names.",
    ),
    Code(
        "MP203",
        "error",
        "wrong value in a key",
        "A key that the planner reads holds a value of the wrong type or out of its range.",
        'a MODEL.toml with layers_total = "64"',
        "Give a value as the message says is accepted.",
    ),
    Code(
        "MP204",
        "error",
        "misspelt key or table",
        "A key or table is at most two edits away from one that the planner reads, and is not itself one that the "
        "engine's files hold. It is refused, since ignoring it would plan another model than the one described.",
        "a MODEL.toml with default_num_draft = 3",
        "Use the spelling that the message names.",
    ),
    Code(
        "MP205",
        "error",
        "dimensions missing",
        "The model file lacks dimensions that a formula reads. All of them are named at once.",
        "plan kimi-k3",
        "Add the keys to [model].",
    ),
    Code(
        "MP206",
        "error",
        "layers that do not add up",
        "The counts of layer kinds, the layer list and the layer total contradict each other.",
        "a MODEL.toml whose layers_linear_attention and layers_full_attention do not sum to layers_total",
        "Mend the counts or the list.",
    ),
    Code(
        "MP207",
        "error",
        "unknown model",
        "No bundled model has this name, no file or folder is there, and no bundled model lists the checkpoint.",
        "plan qwen3.8-72b",
        "Use one of the nearest names, or the path of a MODEL.toml.",
    ),
    Code(
        "MP208",
        "error",
        "unknown device",
        "No bundled device profile has this id.",
        "preflight qwen3.8-27b --device h100",
        "Use one of the nearest ids, or --total-memory with --free-memory.",
    ),
    Code(
        "MP209",
        "note",
        "unknown key",
        "A model file holds a key that the planner does not know. It is most likely from a newer engine; the plan goes "
        "on without it.",
        "a MODEL.toml with some_new_key = 1",
        "Nothing, unless it was meant to be another key.",
    ),
    Code(
        "MP210",
        "error",
        "unknown flag",
        "met serve has no such flag, and neither has the planner.",
        "plan qwen3.8-27b -- met serve --max-batchsize 8",
        "Use the nearest spelling.",
    ),
    Code(
        "MP211",
        "error",
        "a value that is never right",
        "A flag's text can never be a value of that flag: its spelling, type or range is wrong.",
        "plan qwen3.8-27b --mtp-max-seqs 129",
        "Give a value as the message says is accepted.",
    ),
    Code(
        "MP212",
        "error",
        "value missing or not wanted",
        "A flag that needs a value stands without one, or a bare flag was given one.",
        "plan qwen3.8-27b -- met serve --speculative=true",
        "Add the value, or drop it.",
    ),
    Code(
        "MP213",
        "error",
        "a planner's flag after --",
        "Everything after `--` is a met serve command line, and met serve does not have this flag.",
        "preflight qwen3.8-27b -- met serve --device gb10",
        "Move the flag before `--`.",
    ),
    Code(
        "MP214",
        "warning",
        "a flag given twice, differently",
        "The same flag stands before `--` and in the serve command line after it, with another value. The one before "
        "`--` is used.",
        "plan qwen3.8-27b --num-drafts 2 -- met serve --num-drafts 3",
        "Keep one of the two.",
    ),
    Code(
        "MP215",
        "warning",
        "MODEL and checkpoint differ",
        "MODEL was given, and the serve command line names a checkpoint that this model does not list. MODEL is "
        "planned.",
        "plan qwen3.8-27b -- met serve Qwen/Qwen3.6-35B-A3B-FP8",
        "Leave MODEL out to go by the checkpoint.",
    ),
    Code(
        "MP216",
        "warning",
        "a variable that the engine ignores",
        "The variable is set to a text that the engine drops without a word. The message says what is in force.",
        "METRALE_MTP_K_LADDER=4:three plan qwen3.8-27b",
        "Unset it, or give it a text that the engine takes.",
    ),
    Code(
        "MP217",
        "warning",
        "a variable that is on although it looks off",
        "The engine looks only at whether this variable is set. 0, false or an empty text switch it on.",
        "METRALE_NO_MTP_K_LADDER=0 plan qwen3.8-27b",
        "Unset it to switch it off.",
    ),
    Code(
        "MP218",
        "error",
        "not a size",
        "A size needs a number and a unit; a bare number could be read two ways.",
        "preflight qwen3.8-27b --free-memory 80",
        "Write 80GiB (2^30 bytes each) or 80GB (10^9).",
    ),
    Code(
        "MP219",
        "error",
        "rules date not covered",
        "The planner knows the engine's rules over a range of dates, and this is not one of them.",
        "plan qwen3.8-27b --rules 2026-01-01",
        "Give a date from the range that the message names, as YYYY-MM-DD.",
    ),
    Code(
        "MP220",
        "error",
        "usage",
        "The command line does not make a command.",
        "preflight",
        "See `metrale-plan COMMAND --help`.",
    ),
    Code(
        "MP222",
        "error",
        "DFlash without γ",
        "--dflash sizes its verify by γ, which comes from --dflash-gamma or from the drafter's config.json. Neither "
        "was to be had.",
        "plan qwen3.8-27b --dflash",
        "Give --dflash-gamma.",
    ),
    Code(
        "MP223",
        "note",
        "layer list longer than the model",
        "A list with one entry a layer has more entries than the model has layers. The first ones count, as many as "
        "there are layers; those beyond belong to the draft head, or to nothing.",
        "a config.json with 45 layers and 48 layer_types",
        "Nothing, unless the layer count is wrong.",
    ),
    Code(
        "MP224",
        "error",
        "not a checkpoint's config",
        "The file is not one JSON object, or holds no dimension of a language model.",
        "import ./broken/config.json",
        "Name a checkpoint's config.json, or its folder.",
    ),
    Code(
        "MP225",
        "warning",
        "model file and checkpoint differ",
        "Both the MODEL.toml and the checkpoint give a dimension, and they give it differently. The checkpoint's is "
        "used: it is what the engine loads.",
        "plan qwen3.8-27b --checkpoint DIR, of a checkpoint with another vocab_size",
        "Name the MODEL that the checkpoint belongs to, or leave MODEL out.",
    ),
    Code(
        "MP226",
        "note",
        "not told",
        "No file of the checkpoint says this, or the model file does not. It is a warning where no plan can be made "
        "without it, a note where a default is in force.",
        "import ./config.json, of a file without dtype",
        "Add the key to the MODEL.toml by hand, where it matters.",
    ),
    Code(
        "MP227",
        "error",
        "no such checkpoint",
        "The argument is neither a config file, nor a folder that holds one, nor a checkpoint in the local hub cache "
        "(HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub). Nothing is ever downloaded.",
        "import Qwen/Qwen3.8-27B, on a host that never downloaded it",
        "Name the folder, or download the checkpoint first.",
    ),
    Code(
        "MP228",
        "error",
        "output file is there already",
        "The file that -o names exists, and nothing is overwritten in silence.",
        "import ./config.json -o MODEL.toml, twice",
        "Give --force to replace it, or another name.",
    ),
    Code(
        "MP229",
        "warning",
        "a file beside the config left out",
        "A file beside the config.json cannot be read. The config itself can, so what the other would have added is "
        "taken as not told.",
        "import ./checkpoint, with a tokenizer.json that is cut short",
        "Mend or remove the file.",
    ),
    Code(
        "MP230",
        "error",
        "not YAML",
        "The file is not one YAML 1.2 document, or holds something that has no place in a recipe: a foreign tag, a "
        "merge key, a key that is not text.",
        "plan --recipe broken.yaml",
        "Mend the line that the message names.",
    ),
    Code(
        "MP231",
        "error",
        "a key twice",
        "A mapping holds a key twice, or a flag in two spellings. Which of them counts would depend on the reader.",
        "a recipe with max_seq_len and max_model_len",
        "Keep one of the two.",
    ),
    Code(
        "MP232",
        "error",
        "unknown recipe key",
        "The recipe holds a key that is neither a recipe's own nor a flag of met serve, or one in the wrong place.",
        "a recipe with defaults: max_batchsize: 8",
        "Use the nearest spelling that the message names.",
    ),
    Code(
        "MP233",
        "error",
        "wrong shape of value in a recipe",
        "A value is a list, a mapping, empty, true or false where the key takes something else.",
        'a recipe with speculative: "yes"',
        "Give a value as the message says is accepted.",
    ),
    Code(
        "MP234",
        "note",
        "recipe key of another engine version",
        "The recipe sets a key that is known from recipes but is not in this version of the flag table. It is read "
        "over.",
        "a recipe with spec_cost_model: off",
        "Nothing.",
    ),
    Code(
        "MP235",
        "note",
        "false on a bare flag",
        "false leaves a flag out that stands alone. The engine's recipe readers from before 2026-10-05 refuse it.",
        "a recipe with speculative: false",
        "Nothing, unless the recipe has to be read by an older engine: then take the line out.",
    ),
    Code(
        "MP236",
        "error",
        "not a recipe that is known here",
        "The file lacks recipe_version, runtime or model, or is of another format than 2.",
        "a recipe without runtime",
        "Add the key that the message names.",
    ),
    Code(
        "MP237",
        "error",
        "a recipe of another runtime",
        "The recipe is for another program, so there is nothing of this engine to plan. check skips such a file.",
        "plan --recipe a-vllm-recipe.yaml",
        "Name a recipe whose runtime is metrale.",
    ),
    Code(
        "MP238",
        "error",
        "misspelt variable",
        "A METRALE_* variable is one or two letters away from one that the engine declares, and is not known itself. "
        "The engine refuses to start with a variable that it does not declare.",
        "METRALE_MTP_K_LADER=4:3 plan qwen3.8-27b",
        "Use the nearest spelling, or unset it.",
    ),
    Code(
        "MP239",
        "error",
        "no serve to be made out",
        "What was pasted, or a file of flags, is not one met serve: a quote is open, none or several serves are in it, "
        "or a variable stands where a value is needed.",
        "plan -- docker run metrale/metrale-inference-gb10 bash",
        "Give the one line that runs met serve, with its values written out.",
    ),
    Code(
        "MP240",
        "note",
        "variables of this environment are used",
        "METRALE_* variables are set where the planner runs, and a serve started from here would see them.",
        "METRALE_SSM_MARCONI_FULL=1 preflight qwen3.8-27b",
        "Nothing, or --isolated-env to plan without them.",
    ),
    Code(
        "MP241",
        "note",
        "variables that do not reach the serve",
        "METRALE_* variables are set where the planner runs or in front of the command, but the serve runs in a "
        "container, as a service, under sudo or on another host, and does not get them.",
        "METRALE_SSM_MARCONI_FULL=1 plan -- docker run IMAGE met serve CHECKPOINT",
        "Hand them on (docker run -e NAME, environment:, Environment=) if they are meant.",
    ),
    Code(
        "MP242",
        "note",
        "a file of variables is not read",
        "The command names a file of variables (--env-file, env_file, EnvironmentFile=), which the planner does not "
        "open.",
        "plan -- docker run --env-file serve.env IMAGE met serve CHECKPOINT",
        "Give the METRALE_* variables in it in front of the command, or with --args-file.",
    ),
    Code(
        "MP243",
        "warning",
        "two checkpoints named",
        "A recipe or a file of flags names one checkpoint and a stronger place another; the stronger one is planned.",
        "plan --recipe a.yaml -- met serve another/checkpoint",
        "Name one of them only.",
    ),
    Code(
        "MP244",
        "error",
        "nothing to run",
        "run starts the command after --, and there is no met serve in it, or its program is not found.",
        "run -- met bench",
        "Give the command as it is typed in a shell, with its program on PATH.",
    ),
    Code(
        "MP260",
        "error",
        "not a carry case",
        "The file of --case is no JSON, gives a key twice, or holds no turn.",
        "a case.json with a comma too many",
        'Give at least one [[turn]] (in JSON "turn": [{...}]); [entry] and [store] are optional.',
    ),
    Code(
        "MP261",
        "error",
        "wrong key or value in a carry case",
        "A case, or a flag that describes a turn, holds an unknown key, misses one, or gives it a value of the wrong "
        "type or range.",
        "explain-carry --prompt-tokens many",
        "Give the keys and values that the message says are accepted.",
    ),
    Code(
        "MP262",
        "error",
        "a carry case that contradicts itself",
        "Two figures of a case cannot both be: a common prefix longer than the prompt or than what is carried, a token "
        "count beside a list of another length, a prompt given both ways.",
        "explain-carry --carried-tokens 10 --prompt-tokens 12 --common-prefix 11",
        "Mend one of the two.",
    ),
    Code(
        "MP263",
        "error",
        "a turn's flags that do not make a turn",
        "--case stands beside flags that describe another turn, or those flags leave out what every turn needs.",
        "explain-carry --carried-tokens 100",
        "Keep --case, or give --prompt-tokens with the other flags.",
    ),
    Code(
        "MP264",
        "warning",
        "a carry case that no engine leaves",
        "The case holds figures that a finished turn never leaves together: more rows than keys, a key that needs more "
        "tokens than there are, a range that ends before it starts. It is replayed as it stands.",
        "explain-carry --carried-tokens 10 --carried-rows 50 --prompt-tokens 12 --common-prefix 10",
        "Check the figures against the engine's log.",
    ),
    Code(
        "MP265",
        "error",
        "unknown code",
        "No warning, refusal or error has this code.",
        "explain MP999",
        "Use a code that a message shows in brackets.",
    ),
    Code(
        "MP270",
        "error",
        "unknown key in the gate's config",
        "A key of metrale-plan.toml or [tool.metrale-plan] is not one that the gate reads. It is refused, "
        "since a policy that is silently ignored protects nothing.",
        'check recipes/, with least_headrom = "4GiB"',
        "Use the nearest spelling that the message names.",
    ),
    Code(
        "MP271",
        "error",
        "wrong value in the gate's config",
        "A key of the gate's config holds a value of the wrong type, an unknown device, class, code or flag, "
        "or lacks one that is required.",
        'check recipes/, with devices = ["h100"]',
        "Give a value as the message says is accepted.",
    ),
    Code(
        "MP272",
        "error",
        "nothing checked",
        "No serve config was found, or all were skipped. That is never a pass.",
        "check docs/",
        "Name a folder, file or pattern that leads to a serve config.",
    ),
    Code(
        "MP273",
        "error",
        "path leads nowhere",
        "A file named to the gate does not exist, or a pattern matches nothing.",
        "check recipes/no-such.yaml",
        "Mend the path; quote a pattern so that the shell leaves it alone.",
    ),
    Code(
        "MP274",
        "error",
        "outputs that do not go together",
        "--output is not FORMAT=FILE, names no known format, or would mix a program's format with another on "
        "one stream.",
        "check recipes/ --format json --output markdown=-",
        "Send one of the two to a file.",
    ),
    Code(
        "MP275",
        "error",
        "output cannot be written",
        "A file of --output cannot be written.",
        "check recipes/ --output sarif=no/such/folder/plan.sarif",
        "Name a writable path.",
    ),
    Code(
        "MP276",
        "error",
        "git cannot answer",
        "--base names no commit, the folder is in no repository, or git is not installed.",
        "diff --base no-such-branch recipes/",
        "Fetch the branch (a shallow checkout may lack it) and name it as git does.",
    ),
    Code(
        "MP277",
        "error",
        "not something to compare",
        "A side of diff is no serve config, MODEL.toml or saved plan of schema metrale-plan/1.",
        "diff plan.json package.json",
        "Save a plan with --format json, or name a config.",
    ),
    Code(
        "MP290",
        "warning",
        "kernel target and model differ",
        "--kernel-target chooses a compiled target by name, and with it the model file's defaults. Another model is "
        "planned here, because MODEL says so or because no bundled model has the target's name.",
        "plan qwen3.8-27b --kernel-target qwen3.6-27b",
        "Leave MODEL out to plan the target, or give the target's own MODEL.toml.",
    ),
    Code(
        "MP291",
        "error",
        "the answer cannot be written",
        "Standard output takes no more: the disk behind it is full, say. What the answer would have been is not known "
        "to whoever reads the file, so this is no pass.",
        "plan qwen3.8-27b, into a file on a full disk",
        "Send the output somewhere with room.",
    ),
    Code(
        "MP301",
        "cannot tell",
        "cupy is not installed",
        "The live reading goes through cupy, which is not part of the base install.",
        "preflight qwen3.8-27b, on a host without cupy",
        "pip install 'metrale-plan[cuda12]', or state the memory with --device or --free-memory and --total-memory.",
    ),
    Code(
        "MP302",
        "cannot tell",
        "no usable driver",
        "No NVIDIA driver is visible, or it is older than the CUDA that cupy was built for.",
        "preflight qwen3.8-27b, in a container started without a GPU",
        "Start the container with the GPU, or state the memory.",
    ),
    Code(
        "MP303",
        "cannot tell",
        "no such GPU",
        "The driver shows no GPU, or none with this ordinal.",
        "preflight qwen3.8-27b --gpu-ordinal 7",
        "Check CUDA_VISIBLE_DEVICES and --gpu-ordinal.",
    ),
    Code(
        "MP304",
        "cannot tell",
        "the reading failed",
        "A CUDA call failed while memory was read.",
        "preflight qwen3.8-27b, on a GPU in a bad state",
        "See what nvidia-smi says, or state the memory.",
    ),
    Code(
        "MP305",
        "warning",
        "unknown GPU",
        "The GPU matches no bundled device, so its own SM count and the legacy split-K policy are used.",
        "preflight qwen3.8-27b, on a GPU that no class names",
        "Name a class with --device and --total-memory if it is one of them after all.",
    ),
    Code(
        "MP306",
        "warning",
        "SM count differs from the class",
        "The GPU has another number of SMs than the class it matches. The engine warns of this at boot as well.",
        "preflight qwen3.8-27b, on a cut-down variant or a MIG slice",
        "Nothing; its own SM count is used.",
    ),
    Code(
        "MP307",
        "warning",
        "two cupy packages",
        "cupy-cuda12x and cupy-cuda13x provide the same files and overwrite each other's. Removing one of them then "
        "breaks the other.",
        "doctor, in an environment with cupy-cuda12x and cupy-cuda13x",
        "Uninstall both, then install the one that the driver can serve.",
    ),
    Code(
        "MP308",
        "warning",
        "free memory is moving",
        "The samples of free memory differ by more than 256 MiB, so somebody is allocating or freeing right now. The "
        "lowest counts.",
        "preflight qwen3.8-27b, while another model loads",
        "Wait until it is quiet, or look longer with --samples 20 --over 10s.",
    ),
    Code(
        "MP309",
        "error",
        "not a recording",
        "The file is not what doctor --record writes, or a key of it holds something else than it should.",
        "preflight qwen3.8-27b --probe notes.json",
        "Record again with doctor --record FILE.",
    ),
    Code(
        "MP310",
        "cannot tell",
        "the reading contradicts itself",
        "A total of zero, more free than there is, or used and free memory that do not add up to the total within 1 % "
        "or 256 MiB, whichever is more.",
        "preflight qwen3.8-27b, on a driver that reports nonsense",
        "Send what doctor --record FILE writes with a bug report; state --free-memory and --total-memory meanwhile.",
    ),
    Code(
        "MP311",
        "warning",
        "inside the floor of shared memory",
        "On a GPU that shares the host's memory, what the plan leaves is less than what should stay free for the host "
        "(8 GiB unless --unified-floor says otherwise). Running out there takes the whole machine down.",
        "preflight qwen3.8-27b --max-batch-size 128, on a GB10",
        "Plan for less, or lower the floor with --unified-floor when the host needs less.",
    ),
    Code(
        "MP314",
        "cannot tell",
        "the GPU lets no context in",
        "The GPU is in an exclusive or prohibited compute mode, or busy, so memory cannot be asked for.",
        "preflight qwen3.8-27b, on a GPU in exclusive-process mode that serves already",
        "Stop the process that holds it, or set the compute mode back with nvidia-smi -c DEFAULT.",
    ),
    Code(
        "MP315",
        "cannot tell",
        "the driver is not in order",
        "The driver is there and does not work: broken state, mismatched parts, a missing fabric manager, or a library "
        "that is not the driver's.",
        "preflight qwen3.8-27b, after a driver update without a reboot",
        "See what nvidia-smi says; reload the driver or restart the machine.",
    ),
    Code(
        "MP316",
        "warning",
        "the GPU is full",
        "Not even a CUDA context could be created, so nothing is free.",
        "preflight qwen3.8-27b, beside a serve that took everything",
        "Stop one of the processes that hold the memory.",
    ),
    Code(
        "MP317",
        "cannot tell",
        "the reading did not end",
        "The process that reads memory hung, crashed or printed nothing that could be read.",
        "doctor, on a machine whose driver hangs",
        "See what nvidia-smi says, or state the memory.",
    ),
    Code(
        "MP318",
        "warning",
        "host memory unknown",
        "The GPU shares the host's memory, and /proc/meminfo did not say what is available. CUDA's figure counts page "
        "cache as used, so it may be far too low.",
        "preflight qwen3.8-27b on a GB10, in a container that hides /proc/meminfo",
        "State the free memory with --free-memory.",
    ),
    Code(
        "MP319",
        "note",
        "huge page pool",
        "Memory set aside for huge pages is in no figure of available memory, whoever may use it.",
        "preflight qwen3.8-27b on a GB10 with vm.nr_hugepages set",
        "Nothing, unless the pool was meant to be given back.",
    ),
    Code(
        "MP320",
        "warning",
        "more stated free than there is",
        "--free-memory is above the device's total, whether stated, bundled or read. The comparison uses it as stated.",
        "preflight qwen3.8-27b --device gb10 --free-memory 200GiB",
        "Check the two figures.",
    ),
    Code(
        "MP321",
        "error",
        "recording not written",
        "The file that --record names is there already, or cannot be written. Nothing is overwritten.",
        "doctor --record report.json, twice",
        "Name a new file in a folder that can be written.",
    ),
)

BY_CODE: dict[str, Code] = {entry.code: entry for entry in CODES}
