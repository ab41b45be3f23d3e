"""The words of `negation`, as patterns over normalised text (Simplified, lower case).

Each group is a list of alternatives; the order within `NEGATOR` decides: what denies nothing is
taken out first, so that its letters are not read as a negator.
"""

from __future__ import annotations

import re


def _any_of(*patterns: str) -> str:
    return "(?:" + "|".join(patterns) + ")"


def _word_of(*patterns: str) -> str:
    return "(?<![a-z0-9-])" + _any_of(*patterns) + "(?![a-z0-9-])"


STATED = re.compile("不(?:想|打算|准备|希望|愿|感兴趣)|没")
"""Bans that say what the speaker is like, rather than tell the bot what not to do."""

STOP = ",。!?;:\n…~"
"""Punctuation that ends a clause; a full stop does too, if no letter follows (node.js)."""

_NONE_ZH = _any_of(
    # words that only look like it
    "不[仅只但光单止独错同限论管如妨久断知挑够愧幸料然至胜停行好对]",
    "不少(?!给|发|推)",
    "不(?:好意思|清楚|确定|懂|明白|了解|太清楚|太确定|太懂|太明白|太了解|太会)",
    "不(?:介意|在乎|在意|满意|合适|适合|一样|一定|匹配|得不|得已|见得|能不|可不|要求|用谢|用客气)",
    "[对了]不起|差不多|来不及|忍不住|怪不得|恨不得|巴不得|说不定|[免少]不了|离不开|舍不得|好不容易",
    "[特区级类性分告辨国差个鉴判派道识]别|别[的人处称墅名样致]",
    "没有?(?:要求|想到|想好)|被(?:拒绝|取消)",
    # it was tried, and did not work: the topic stands
    "[找收看查搜等见登打听读用记连]不[到了开出清懂着见上]",
    # do not forget, do not miss
    "(?:别|不要|不能|不想|不愿意?)(?:忘|错过|落下|漏)",
    # why not, rather, and a question that expects a yes
    "(?:为什么|为啥|怎么|咋|干嘛|干吗|为何)(?:还|就|都|又|总|老|一直)?不|何不",
    "要不(?:然|是|(?!要|不))",
    f"不(?:能|可以|是|会)(?=[^{STOP}]*[吗么])",
)
_NONE_EN = _any_of(
    "not (?:only|just|merely|simply|sure|yet|bad|certain|working|to mention)",
    "not (?:received?|heard?|seen|gotten|got|getting)",
    "(?:do|does|did)(?:n['’]?t| not) (?:know|understand|remember|forget|hesitate|miss|mind)",
    "(?:do|does|did)(?:n['’]?t| not) (?:care|see|get|receive|hear|just|only)",
    "never (?:got|received|heard|mind|seen|saw|get|miss)",
    "no[ -](?:problem|matter|idea|clue|rush|doubt|wonder|worries|thanks|one)",
    "no[ -](?:experience|degree|overtime|response|reply|news|updates?|feedback|answer)",
    "why (?:not|don['’]?t|do (?:you|we|they) not)|if not|or not",
)
# These close at once and look back: 不用了，推荐岗位吧.
_CLOSED_ZH = "(?:不用|不要|不必|不需要|不想要?|算|免|不|停)[了啦](?!解)"
_BAN_ZH = _any_of(
    "不(?:要|想|许|准|打算|准备|希望|愿意?|再|让|应该?|该|感兴趣)|别(?!别)",
    "没有?(?:说|让|叫|想|要|打算|必要)|勿|甭|休[想要]|用不着|少(?=给|发|推)",
    "取消|停(?:止|掉|下|发|推)|暂停|关[闭掉了]|拒绝|屏蔽|禁止|撤销|终止|中止",
)
_BAN_EN = _any_of(
    "(?:do|does|did|wo|would|should|is|are|was|were|ai)n['’]?t|do not|never|stop(?:ping)?",
    "quit|cancel|no (?:more|longer|need)|instead of|rather than|avoid|turn off",
    "disable|mute|pause",
)
# These often say only what something is like, and then end with 的.
_PLAIN_ZH = "不(?:是|用|必|需要?|能|可以?|会|肯)|无[需须]|免得|省得|不(?!不)"
_PLAIN_EN = "not|no|without"

# The look-ahead costs one comparison a character where no negator begins.
_FIRST_ZH = (
    "不别没勿甭休无停取关拒屏禁撤暂终中用少免省算对了差来忍怪恨巴说离舍好特区级类性分告辨国"
    "个鉴判派道识被找收看查搜等见登打听读记连为怎咋干何要"
)
NEGATORS = (
    (
        re.compile("[不别没勿甭休无停取关拒屏禁撤止少免省算]"),
        re.compile(
            f"(?=[{_FIRST_ZH}])(?:(?P<none>{_NONE_ZH})|(?P<closed>{_CLOSED_ZH})"
            f"|(?P<ban>{_BAN_ZH})|(?P<plain>{_PLAIN_ZH}))"
        ),
    ),
    (
        re.compile(
            "(?=[acdimnpqrstw])(?:n['’]?t(?![a-z])|(?<![a-z])(?:no|stop|cancel|never|without"
            "|quit|instead|rather|avoid|turn off|disable|mute|pause))"
        ),
        re.compile(
            "(?<![a-z0-9-])(?=[a-z])"
            f"(?:(?P<none>{_NONE_EN})|(?P<ban>{_BAN_EN})|(?P<plain>{_PLAIN_EN}))(?![a-z0-9-])"
        ),
    ),
)
"""A sign without which a text holds none, and the pattern, for each language."""

BORDER = re.compile(
    _any_of(
        rf"[{STOP}]|\.(?![a-z0-9])|[了吧啊呢嘛呀哦哈啦] ",
        "(?<!不)但|而是|而要|而且|不过|不然|否则|反而|还是|换成|改成|改为|只[是想要看需]|就要",
        "然后|所以|因为|于是|如果|除非|(?<![不还要都总老])是(?!不)",
        _word_of(
            "but|however|instead|then|otherwise|except|just|because|since|unless|although",
            "please|(?:can|could|would) you",
            "and (?:i|please|want|need|would|(?:show|give|find|send) me)",
        ),
    )
)
"""What ends the scope of a negator before the keyword."""

REQUEST = re.compile("帮我|帮忙|麻烦|请|求")
"""A request that starts anew, unless it follows the negator at once, as in 不要再帮我推荐."""

LIGHT = re.compile("[ 再你您们让给去来跟的了先都也继续老总随便]*")
"""What may stand between a negator and its verb."""

POSTPOSED_SIGN = re.compile("[不算免停没取关]|no|never")
POSTPOSED = re.compile(
    f"[^{STOP}]{{0,8}}?"
    + _any_of(
        "(?:不用|不要|不必|不需要|算|免|停)[了啦](?!解)|不感兴趣|没有?兴趣",
        "(?:都|先|给我|帮我|请|全部|全)(?:取消|停|关)|(?:取消|停|关)(?:掉|吧|一下)",
        f"(?:都|也|全)(?:不用|不要|不必|不需要|不想要?)(?=[{STOP}]|\\Z)",
        f"[,?!] ?(?:还是|就)?(?:(?:不用|不要|算|免|停)[了啦]吧?|不必|不需要)(?=[{STOP}]|\\Z)",
        f"[,?!] (?:no,? thank(?:s| you)|not (?:interested|now)|never ?mind)(?=[{STOP}.]|\\Z)",
    )
)
"""A denial that follows its keyword (推荐就不用了, 推荐？算了); the sign is what it needs."""

UNIT = re.compile(r"[a-z0-9'’]+|[^\W_]")
"""What the reach of a negator is counted in: a Latin word, or one CJK character."""
