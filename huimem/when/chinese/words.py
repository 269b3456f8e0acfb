"""Chinese words of time, by kind, in simplified characters. Variants of one word are joined by `|`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from huimem.when.expressions import Daypart, Vague

MORNING = Daypart(5, 12)
NOON = Daypart(11, 14)
AFTERNOON = Daypart(12, 18)
NIGHT = Daypart(18, 29, night=True)
LATE = Daypart(22, 29, night=True)
DAWN = Daypart(5, 9)

DAYPARTS = {
    "凌晨": Daypart(0, 6),
    "清晨|清早|一清早|一大早|大清早": DAWN,
    "早上|早晨|早间|上午|朝早|朝头早|上昼": MORNING,
    "中午|正午|晌午|午间": NOON,
    "下午|午后|下昼|晏昼": AFTERNOON,
    "傍晚|黄昏": Daypart(17, 19),
    "晚上|晚间|夜里|夜间|夜晚|晚黑|夜晚黑": NIGHT,
    "深夜|半夜|午夜|大半夜": LATE,
}
# Of a day only: alone they are other words or parts of them.
SHY_DAYPARTS = {"早|晨": MORNING, "一早|黎明|拂晓": DAWN, "晚|夜": NIGHT}
# A day and its part in one word: days from today, part.
DAYS_WITH_PART = {
    "今早|今晨|今朝": (0, MORNING),
    "今晚|今夜": (0, NIGHT),
    "昨早|昨晨": (-1, MORNING),
    "昨晚|昨夜|寻晚|琴晚|噚晚": (-1, NIGHT),
    "前晚": (-2, NIGHT),
    "明早|明晨|听朝": (1, MORNING),
    "明晚|听晚": (1, NIGHT),
    "后晚": (2, NIGHT),
}
DAYS = {
    "今天|今日|今儿|今儿个": 0,
    "昨天|昨日|昨儿|昨儿个|寻日|琴日|噚日": -1,
    "前天|前日|前儿|前儿个": -2,
    "大前天|大前日": -3,
    "大大前天": -4,
    "明天|明日|明儿|明儿个|听日": 1,
    "后天|后日|后儿|后儿个": 2,
    "大后天|大后日": 3,
    "大大后天": 4,
}
YEARS = {
    "今年|本年|本年度": 0,
    "去年|上年|上年度|上一年度|旧年": -1,
    "前年": -2,
    "大前年": -3,
    "明年|下年|下年度|下一年度|来年|出年": 1,
    "后年": 2,
    "大后年": 3,
}
# Of two holidays the second is what the name may mean as well.
FESTIVALS: dict[str, str | tuple[str, str]] = {
    "元旦|元旦节|新年第一天|阳历年": "new_year",
    "新年": ("new_year", "spring_festival"),
    "妇女节|三八节|三八妇女节|女神节": "womens_day",
    "植树节": "arbor_day_cn",
    "消费者权益日": "consumer_day",
    "愚人节": "april_fools",
    "清明|清明节": "qingming",
    "寒食节": "cold_food",
    "地球日|世界地球日": "earth_day",
    "读书日|世界读书日": "book_day",
    "五一|五一节|劳动节|五一劳动节|五一国际劳动节": "workers_day",
    "青年节|五四青年节": "youth_day",
    "护士节": "nurses_day",
    "母亲节": "mothers_day",
    "儿童节|六一儿童节|六一节": "childrens_day",
    "父亲节": "fathers_day",
    "建党节|七一建党节": "party_day",
    "建军节|八一建军节": "army_day",
    "医师节": "doctors_day_cn",
    "抗战胜利纪念日": "victory_day_cn",
    "教师节": "teachers_day",
    "烈士纪念日": "martyrs_day",
    "国庆|国庆节|国庆日|十一国庆|十一国庆节"
    "|十一假期|十一期间|十一长假|十一黄金周|国庆黄金周|国庆长假": "national_day_cn",
    "双十节": "double_tenth",
    "万圣节|万圣夜": "halloween",
    "记者节": "journalists_day_cn",
    "双十一|双11|光棍节": "singles_day",
    "感恩节": "thanksgiving",
    "黑色星期五|黑五": "black_friday",
    "网络星期一": "cyber_monday",
    "双十二|双12": "double_twelve",
    "国家公祭日|公祭日": "nanjing_memorial_day",
    "冬至|冬至节": "winter_solstice",
    "平安夜|圣诞夜|圣诞前夜|圣诞前夕": "christmas_eve",
    "圣诞|圣诞节|耶诞节": "christmas",
    "情人节": "valentine",
    "白色情人节": "white_day",
    "复活节": "easter",
    "腊八|腊八节": "laba",
    "小年|北方小年": "little_new_year",
    "南方小年": "little_new_year_south",
    "除夕|大年三十|年三十|大年夜|年三十晚": "lunar_new_year_eve",
    "春节|过年|农历新年|旧历新年|阴历新年|中国农历新年|农历年|旧历年|阴历年|中国新年": "spring_festival",
    "元宵|元宵节|上元节": "lantern",
    "龙抬头": "dragon_head",
    "上巳节": "shangsi",
    "浴佛节|佛诞": "buddha_birthday",
    "端午|端午节|端阳节": "dragon_boat",
    "七夕|七夕节|七夕情人节": "qixi",
    "中元节|盂兰节|鬼节": "ghost_festival",
    "中秋|中秋节": "mid_autumn",
    "重阳|重阳节": "double_ninth",
    "寒衣节": "cold_clothes",
    "下元节": "xiayuan",
}
LONG = frozenset(("spring_festival", "national_day_cn", "workers_day"))

# What a number counts, so that it is no weekday (这周三个会) …
COUNTED = (
    "个|位|次|场|条|件|项|款|张|份|篇|只|棵|辆|趟|遍|顿|斤|公斤|千克|公里|元|岁|倍|万|亿|人|名|家|杯|瓶"
    "|盒|首|封|台|套|轮|集|种|节"
    "|块钱|平米|平方|来个|人次|件套|毫升|厘米|号人"
)
# … and no day of a month (3月5本书).
MEASURES = COUNTED + (
    "|本|部|局|起|门|茶匙|汤匙|勺|碗|包|袋|箱|块|毛|页|行|段|句|章|期|届|批|组|双|成|折|层|楼|间|所|栋"
    "|座|级|票|步|圈|回|桌|笔"
    "|单|声|幅|支|根|把|道|顶|副|面|扇|堂|通|版|股|码|寸|尺|米|吨|克|升|余|多|分之|比|对|队|排|盘|片|头"
    "|度|千|百|平方米|周岁"
)
# What points are made of: three points of advice, no o'clock.
POINTS = (
    "建议|意见|想法|原因|理由|要求|要点|内容|共识|结论|体会|感想|收获|启示|说明|补充|注意|好处|坏处|区别|不同"
    "|看法|问题|经验|教训|改进|希望|疑问|不足|优势|优点|缺点|劣势|总结|发现|事项|心得|方案|规则|声明"
    "|差异|特征|特点"
    "|原则|反馈|提醒|需求|分歧|关键|核心|依据|证据|贡献|创新|策略|措施|办法|方法|诉求|修改|考虑|顾虑"
    "|期望|感受|感悟"
)
# Words after which a phrase may begin: who speaks and asks, and what joins.
LEAD_INS = (
    "我|你|他|她|您|咱|咱们|我们|你们|他们|她们|大家|谁|和|跟|与|同|在|是|把|从|了|想|问|查|找|看|说|还"
    "|就|都|请|请问|帮我|关于|有关|记得"
    "|那|但|而|也|又|再|曾|曾经|比|像|对|给|让|叫|被|老师|妈妈|爸爸|老板|同事|朋友|老公|老婆|儿子|女儿"
    "|有|没有|不是|是不是|有没有|到底|究竟"
)
# What is told of a feast and not of a day when it was kept.
LORE = (
    "由来|来历|习俗|传说|英文|英语|诗句|古诗|祝福|祝福语|贺词|文案|手抄报|意义|起源|典故|风俗|含义|简介"
    "|谜语|歌曲|歌词|诗歌|作文|贺卡|对联|海报|诗|古诗词|成语|词语|段子|主持词|主持稿|童谣"
)
# What may follow a date of bare figures: 5/20 送的花.
TOLD = (
    "的|记|送|聊|说|讲|谈|买|写|开|吃|去|拍|发|做|那|我|你|跟|和|在|是|有|提|问|给|定|订|收|看|玩|见|交"
    "|改|签|寄|到|至|约|打|来|回|卖|付|聚|住"
)
# What a number with 号 counts where it is no day.
NUMBERED = (
    "线|楼|电池|干电池|乾电池|球员|球衣|选手|出口|口|公寓|字|字体|房|房间|机|机组|门|院|馆|桌|柜|车厢|车|位|台"
    "|店|仓|仓库|码|床|厅|病房|文件"
    "|令|决议|航站楼|种子|染色体|风球|项目|方案|作品|宿舍|教学楼|厂房|码头|泊位|井|高炉|螺丝|针|色|色号"
    "|口红|汽油|柴油|油|窗口|柜台|跑道"
    "|公路|国道|高速|公交|巴士|地铁|轻轨|弄|大院|公馆|公园|地块|地|铺|摊|档|包间|包厢|会议室|实验室"
    "|教室|办公室|服务器|主机|节点|端口"
    "|卡|键|牌|球|嘉宾|技师|客服|员工|人|队员|队|运动员|位置|矿|坑|桥|站|站台|井盖|字母|信箱|邮箱|分机"
    "|样品|样本|试剂|疫苗|病人|病床|患者"
    "|候选人|玩家|同学|考生|考场|参赛|模型|电梯|单元|坝|船|飞船|火箭|卫星|探测器|发射|航班|列车|高铁"
    "|动车|货架|鞋|衣服|尺码|铅笔|球杆|线路|馆子|令牌|首长|人物|种|楼盘|试卷|题|图|表|附件|提案|议案"
    "|基金|档案|鱼雷|反应堆|泳池|缆车|闸机|坑位"
)

_DAYS_BACK = Vague((7, "day"))
_LATELY = Vague((30, "day"))
_WHILE = Vague((120, "day"), (7, "day"))
_MONTHS_BACK = Vague((8, "month"))
VAGUE = {
    "刚才|刚刚|方才|头先|刚刚才|几分钟前|几分钟之前|几分钟以前": Vague((2, "hour")),
    "几小时前|几个小时前|几个钟头前|好几个小时前|几小时之前|几个小时之前": Vague((12, "hour")),
    "前几天|前两天|前几日|前两日|前些天|前些日子|前些时日|几天前|几日前|几天以前|几天之前|好几天前"
    "|这几天|这两天|这几日|这两日|这些天|这些日子|近几天|近几日|近两天|最近几天|最近两天|最近这几天"
    "|最近这两天|最近几日|过去几天|过去的几天|头两天|头几天|两三日前|呢几日|呢两日|前嗰几日": _DAYS_BACK,
    "最近|近来|近期|近日|这阵子|这一阵|这一阵子|这段时间|这段日子|最近这段时间|最近一段时间|最近这阵子"
    "|近段时间|近一段时间|前不久|不久前|不久之前|呢排|呢阵|最近这些天": _LATELY,
    "几周前|几个星期前|几个礼拜前|几星期前|几礼拜前|几周之前|几周以前|几个星期以前|几个星期之前|好几周前"
    "|前几周|前几个星期|前几个礼拜|前几星期": Vague((42, "day"), (7, "day")),
    "最近几周|近几周|过去几周|这几周|最近几个星期|这几个星期|过去几个星期|近几个星期|最近几个礼拜"
    "|这几个礼拜": Vague((42, "day")),
    "前段时间|前一段时间|前段日子|前阵子|前一阵|前一阵子|前阵|一段时间前|一段时间以前|一阵子前"
    "|有段时间前|前些时候|前些时间": _WHILE,
    "几个月前|前几个月|好几个月前|几个月以前|几个月之前|几月前": Vague((8, "month"), (1, "month")),
    "最近几个月|近几个月|过去几个月|过去的几个月|这几个月": _MONTHS_BACK,
    "几年前|前几年|好几年前|几年以前|几年之前|前些年|早几年": Vague((6, "year"), (1, "year")),
    "最近几年|近几年|近年来|近年|这几年|过去几年|过去的几年|这些年": Vague((6, "year")),
    "从前|很久以前|很久之前|很早以前|很早之前|好久以前|好久之前|很久前|当年|那时候|那时|那会儿|那阵子"
    "|那段时间|当初|早年|早先|旧时|旧阵时|以往": Vague(),
}


def _counted(names: str, value: Any = None) -> Mapping[str, Any]:
    return {name: value for name in names.split("|")}


_TELLING: tuple[Mapping[str, Any], ...] = (DAYS_WITH_PART, YEARS, FESTIVALS, VAGUE)
# What is named by a number that follows: 订单号20230412.
_LABELS = dict.fromkeys(
    (
        "订单号|单号|订单|编号|序号|型号|帐号|账号|手机号|电话|学号|工号|车牌号|版本|版本号|端口|端口号|房间号"
        "|房号|门牌号|身份证号|卡号|邮编|验证码|密码|批号|货号|流水号|工单|工单号|快递单号|发票号|群号",
    )
)

WORDS: Mapping[str, Mapping[str, Any]] = {
    "label": _LABELS,
    "word": _LABELS,
    # Of two rules that fit alike the kind that stands first here decides: the narrower.
    "week unit": {"周|星期|礼拜": "isoweek"},
    "month unit": {"个月|个多月": "month"},
    "year unit": {"年": "year"},
    "unit": {
        "秒|秒钟": "second",
        "分钟": "minute",
        "小时|钟头|个钟|个小时|个钟头": "hour",
        "天|日": "day",
        "周|星期|礼拜": "isoweek",
        "个月|个多月": "month",
        "季度": "quarter",
        "年": "year",
        "世纪": "century",
    },
    # What 上 and 下 count: no days, which 上 and 下 do not point at.
    "span unit": {
        "小时|钟头|个钟|个小时|个钟头": "hour",
        "周|星期|礼拜": "isoweek",
        "周末": "weekend",
        "月|个月|月份": "month",
        "季度": "quarter",
        "世纪": "century",
    },
    "day unit": {"天|日": "day"},
    "clock unit": {"秒|秒钟": "second", "分钟": "minute", "小时|钟头|个钟|个小时|个钟头": "hour"},
    "one figure": {"周|星期|礼拜|初": None},
    "month mark": {"月|月份": None},
    "sunday": {"日|天": 6},
    "step": {"上": -1, "上上": -2, "上上上": -3, "这|本|今|呢": 0, "下": 1, "下下": 2, "下下下": 3},
    "day with part": DAYS_WITH_PART,
    "daypart": DAYPARTS,
    "close daypart": SHY_DAYPARTS | DAYPARTS,
    "relative day": DAYS,
    "relative year": YEARS,
    "season": {"春天|春季|春": 3, "夏天|夏季|夏": 6, "秋天|秋季|秋": 9, "冬天|冬季|冬": 12},
    # In full: also without a year beside it.
    "season word": {"春天|春季": 3, "夏天|夏季": 6, "秋天|秋季": 9, "冬天|冬季": 12},
    "half word": {"上半年|前半年": 1, "下半年|后半年": 2},
    "third": {
        "上旬": "early",
        "中旬": "mid",
        "下旬": "late",
        "上半月|前半月": "first half",
        "下半月|后半月": "second half",
    },
    "turn": {"初|初期": "early", "中|中期": "mid", "底|末|末期": "late"},
    "festival": FESTIVALS,
    "vague word": VAGUE,
    "lunar month": {"正月": 1, "冬月": 11, "腊月": 12},
    "counted": _counted(COUNTED),
    "measure": _counted(MEASURES),
    "lore": _counted(LORE),
    "points": _counted(POINTS),
    "lead in": _counted(LEAD_INS),
    "told": _counted(TOLD),
    "numbered": {f"号{name}": None for name in NUMBERED.split("|")},
    "clue": {
        **{name: None for table in _TELLING for names in table for name in names.split("|")},
        **_counted(
            "月|月份|年代|世纪|周末|上旬|中旬|下旬|上半月|下半月|前半月|后半月|上半年|下半年|前半年|后半年|暑假|寒假"
            "|正月|冬月|腊月|大年|号|以前|之前|跨年|今明两天|昨今两天"
        ),
    },
}
DIGITS = "零〇一二两三四五六七八九十百千廿卅"
