"""An embedder → its scale: the cosine it gives to unrelated texts and to a question with its answer.

Models differ: unrelated texts lie near .78 for e5, near 0 for others. A fixed set of questions and
answers measures it once per embedder, so that a share of meaning says the same for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from huimem.ports import Embedder

# Question and answer; each answer is unrelated to every other question. Both languages and a few
# pairs across them, in the tone of chats.
_PAIRS = (
    ("Which database did we pick for the billing service?", "We settled on PostgreSQL for billing."),
    ("How long should the chicken stay in the oven?", "Roast the chicken for fifty minutes at 200 degrees."),
    ("When does the train to the coast leave?", "The coast train departs at 7:42 from platform three."),
    ("What did the doctor say about my knee?", "Your knee is inflamed; rest it for two weeks."),
    ("Who is going to paint the living room?", "My cousin will paint the living room on Saturday."),
    ("Why does the login page return error 502?", "The login page gives 502 because the proxy times out."),
    ("妹妹的生日礼物买了什么？", "给妹妹买了一副降噪耳机当生日礼物。"),
    ("房租每个月多少钱？", "房租一个月四千五，押一付三。"),
    ("小猫为什么不吃东西？", "小猫牙龈发炎了，所以不肯吃东西。"),
    ("这学期的历史论文题目是什么？", "历史论文写的是宋代的海上贸易。"),
    ("跑步训练计划怎么安排？", "训练计划是每周三次慢跑，周日一次长跑。"),
    ("Which language class did I sign up for?", "我报名了周二晚上的西班牙语课。"),
    ("咖啡机的保修到什么时候？", "The coffee machine is under warranty until next June."),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Cosines of an embedder: `chance` between unrelated texts, `same` for as near as answers come."""

    chance: float
    same: float


def calibrate(embedder: Embedder) -> Scale:
    """Measure an embedder on the fixed pairs; deterministic for a deterministic embedder."""
    questions = embedder.embed([question for question, _ in _PAIRS], as_query=True)
    answers = embedder.embed([answer for _, answer in _PAIRS])
    cosines = questions @ answers.T
    matched = float(cosines.diagonal().mean())
    others = float((cosines.sum() - cosines.trace()) / (cosines.size - len(_PAIRS)))
    # Answers lie around `matched`; halfway from there to identity leaves room for the best of them.
    # An embedder that cannot tell them apart still gets a scale that divides.
    return Scale(others, max((1.0 + matched) / 2, others + 0.05))
