"""An embedder → its scale: where its vectors lie, and how near it puts a question to its answer.

Models differ: unrelated texts lie near .78 for e5, near 0 for others. A fixed set of questions and
answers measures it once per embedder, so that a share of meaning says the same for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from huimem.index.centring import centred
from huimem.index.scripts import script
from huimem.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """An embedder's own measures. `same`: the centred cosine of texts as near as answers come.

    `noise` is the share of it that the nearest of a dozen unrelated texts has. `middles` are mean vectors
    of ordinary texts by script, float64 [dim]; "" that of all of them.
    """

    same: float
    noise: float
    middles: Mapping[str, Floats]

    def middle(self, script: str) -> Floats:
        """The mean vector of ordinary texts in a script, of all where none were measured."""
        return self.middles.get(script, self.middles[""])


def calibrate(embedder: Embedder) -> Scale:
    """Measure an embedder on the fixed pairs; deterministic for a deterministic embedder."""
    import numpy as np

    asked, told = ([pair[side] for pair in _PAIRS] for side in (0, 1))
    questions = embedder.embed(asked, as_query=True).astype(np.float64)
    texts = embedder.embed([*asked, *told]).astype(np.float64)
    scripts = [script(text) for text in (*asked, *told)]
    middles = {"": texts.mean(axis=0)} | {
        one: texts[[name == one for name in scripts]].mean(axis=0) for one in set(scripts)
    }
    spread = np.array([middles[name] for name in scripts])
    questions = centred(questions, spread[: len(asked)])
    answers = centred(texts[len(asked) :], spread[len(asked) :])
    cosines = questions @ answers.T
    # Answers lie around their mean; halfway from there to identity leaves room for the best of them.
    # An embedder that cannot tell them apart still gets a scale that divides.
    same = max((1.0 + float(cosines.diagonal().mean())) / 2, 0.05)
    others = np.where(np.eye(len(cosines), dtype=bool), -1.0, cosines).max(axis=1)
    return Scale(same, max(float(others.mean()) / same, 0.0), MappingProxyType(middles))
