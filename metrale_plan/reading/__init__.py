"""The rules of a memory reading: raw figures in, free and total out, or why nobody can tell. Pure.

Free is CUDA's figure; on an integrated GPU, whose driver counts reclaimable page cache as used, the larger of that and
the host's MemAvailable, which a control group's limit lowers; never more than CUDA's total. The lowest sample counts.
"""

from metrale_plan.reading.judge import Judged, judge_reading, with_stated_free

__all__ = ["Judged", "judge_reading", "with_stated_free"]
