"""What counts as a wish and what does not: negation, quotation, words in words, variants."""

import pytest

from jobclaw.intent.cascade import Cascade
from jobclaw.intent.keyword_table import KeywordTable
from jobclaw.model.decision import UNKNOWN, Classification

INTENTS = {
    "RECOMMEND": {
        "推荐": 1.0,
        "recommend": 1.0,
        "job": 0.9,
        "jobs": 0.9,
        "Java 岗位": 0.9,
        "java岗位": 0.95,
        "ai": 0.9,
        "换一批": 0.9,
        "リモート": 0.9,
        "review": 0.9,
        "职位": 0.9,
        "c++": 0.9,
        ".net": 0.9,
        "/plan": 0.9,
        "machine learning": 0.9,
        "node.js": 0.9,
        "岗位": 0.9,
    },
    "SUBSCRIBE": {
        "订阅": 1.0,
        "推送": 0.9,
        "提醒我": 0.95,
        "job alerts": 0.95,
        "subscribe": 1.0,
    },
    "UNSUBSCRIBE": {"取消订阅": 1.0, "unsubscribe": 1.0},
    "QUERY": {
        "进度": 0.9,
        "查进度": 1.0,
        "查询进度": 1.0,
        "application status": 1.0,
        "面试": 0.9,
    },
    "SEARCH": {"搜索": 1.0, "search": 0.95},
}


@pytest.fixture(scope="module")
def cascade() -> Cascade:
    return Cascade(KeywordTable.build(INTENTS, {}))


def certain(classification: Classification) -> str:
    return classification.intent if classification.certain else "nothing"


DENIED = """
不要推荐岗位了
先不查进度
别推荐了
别再给我推荐了
不想看推荐
不用给我推荐新的岗位
不要帮我推荐
不要再帮我推荐岗位
没有要订阅
我没说要订阅
没让你推荐
停止推荐
取消推送
无需推荐
请勿推送
暂停推送
不再订阅
不推荐
不打算找岗位
不会推荐
不要不要推荐
不不不要推荐
少给我推荐
不想再收到推送了
能不能别推荐了
还是不要推荐了
我不是学生不要推荐
不要给我发那些乱七八糟的推荐了
推荐就不用了
推荐？不用了
推荐，算了吧
推荐岗位？还是算了
推荐！不要了。
推荐？不需要
recommend jobs? no thanks
recommend jobs, not interested.
推荐岗位就算了
订阅取消吧
推送帮我取消
推荐、订阅都不要
对推荐不感兴趣
不要推薦職位
別再推薦了
don't recommend jobs
don’t recommend
dont recommend jobs
do not recommend
Please do not send me any more job alerts
I'm not looking for a job
no job alerts
never recommend that again
stop sending me job alerts
cancel job alerts
don't unsubscribe me
without jobs
"""

NOT_DENIED = """
不仅要推荐还要内推|RECOMMEND
不只是推荐|RECOMMEND
不但要推荐|RECOMMEND
不光推荐，还要别的|RECOMMEND
别的岗位推荐一下|RECOMMEND
特别推荐一下|RECOMMEND
不是不想看推荐|RECOMMEND
不是不要订阅|SUBSCRIBE
不能不推荐|RECOMMEND
不得不推荐|RECOMMEND
别停止推送|SUBSCRIBE
是不是可以推荐岗位|RECOMMEND
能不能推荐几个|RECOMMEND
要不要推荐几个|RECOMMEND
有没有推荐|RECOMMEND
推不推荐|RECOMMEND
可不可以订阅|SUBSCRIBE
推荐一下好不好|RECOMMEND
要不推荐几个吧|RECOMMEND
为什么不推荐|RECOMMEND
怎么还不推送|SUBSCRIBE
你不会推荐吗|RECOMMEND
不好意思推荐一下|RECOMMEND
不错，再推荐几个|RECOMMEND
不加班的岗位推荐几个|RECOMMEND
不需要经验的岗位推荐几个|RECOMMEND
不同城市的推荐|RECOMMEND
推荐岗位不要外包的|RECOMMEND
推荐不出差的岗位|RECOMMEND
不用了推荐几个吧|RECOMMEND
推荐就算了，查进度|QUERY
推荐？算了，查进度|QUERY
推荐一下，不要了解公司|RECOMMEND
推荐岗位，不用了解我|RECOMMEND
推荐，上次的不用了|RECOMMEND
推荐，不需要经验|RECOMMEND
recommend jobs, no experience needed|RECOMMEND
no thanks, recommend|RECOMMEND
别忘了提醒我|SUBSCRIBE
不要忘记订阅|SUBSCRIBE
不要推荐，要搜索|SEARCH
不是推荐而是搜索|SEARCH
不是推荐是搜索|SEARCH
不要推荐只要搜索|SEARCH
不要推荐！！！订阅|SUBSCRIBE
我要推荐，不要订阅|RECOMMEND
我不知道有什么推荐|RECOMMEND
我不喜欢现在的公司帮我推荐|RECOMMEND
不满意换一批|RECOMMEND
不行就推荐别的|RECOMMEND
查不到进度|QUERY
收不到推送|SUBSCRIBE
面试被取消了怎么办|QUERY
取消订阅，不是订阅|UNSUBSCRIBE
not only recommend but also search|RECOMMEND
don't stop the job alerts|SUBSCRIBE
don't forget to recommend|RECOMMEND
I don't know which job to take|RECOMMEND
why don't you recommend|RECOMMEND
I have not received job alerts|SUBSCRIBE
no, recommend jobs|RECOMMEND
I do not like it, recommend another|RECOMMEND
I can't find my application status|QUERY
"""

QUOTED = r"""
打开文件 job-recommend-2024.pdf
运行用例 003-查询进度
运行用例 003_查询进度
查询进度-003 跑通了
foo_recommend
job-search
“推荐”是什么意思
＂推荐＂怎么写
「推荐」
｢推荐｣
『推荐』
《推荐》讲什么
"推荐"怎么写
'recommend' in French
‘推荐’怎么读
`recommend`
```\n推荐\n```
```推荐
https://x.com/recommend?job=1
https://x.com/推荐
x.com/s?q=推荐&page=1
https://x.com/中文-推荐/1
www.recommend.com
see recommend.com/jobs
recommend@x.com
see recommend.py
推荐表.xlsx
/usr/bin/recommend
C:\recommend\job
"don't recommend" he said
"""

OUTSIDE = """
“推荐|RECOMMEND
推荐”|RECOMMEND
他说"推荐，然后|RECOMMEND
推荐“Java”给我|RECOMMEND
don't say "job" but say search now|SEARCH
it's 'x' search it's|SEARCH
看 https://x.com/a 推荐|RECOMMEND
看https://x.com/a推荐一下|RECOMMEND
看https://x.com/a，推荐一下|RECOMMEND
看https://x.com/a？推荐一下|RECOMMEND
看https://x.com/中文 推荐一下|RECOMMEND
帮我推荐node.js|RECOMMEND
帮我推荐foo_bar|RECOMMEND
推荐25-30k的|RECOMMEND
see a.pdf, recommend jobs|RECOMMEND
node.js|RECOMMEND
27" 显示器，推荐|RECOMMEND
"""

INSIDE_WORDS = """
my email is a@b.co|nothing
preview the page|nothing
need an ai job|RECOMMEND
said|nothing
recommendation|nothing
recommended|nothing
/planet|nothing
use /plan now|RECOMMEND
c++|RECOMMEND
c++岗位|RECOMMEND
.net 开发|RECOMMEND
machine learning|RECOMMEND
machine  learning|RECOMMEND
machinelearning|nothing
jobSearch|nothing
帮我搜索一下|SEARCH
会ai吗|RECOMMEND
"""

VARIANTS = (
    ("ＪＡＶＡ 岗位", "java 岗位"),
    ("Java 岗位", "java 岗位"),
    ("JAVA岗位", "java岗位"),
    ("推薦職位", "推荐职位"),
    ("訂閱", "订阅"),
    ("查詢進度", "查询进度"),
    ("取消訂閱", "取消订阅"),
    ("崗位", "岗位"),
    ("搜尋進度", "搜寻进度"),
    ("面試", "面试"),
    ("換一批", "换一批"),
    ("職位", "职位"),
    ("提醒我面試", "提醒我面试"),
    ("ﾘﾓｰﾄ", "リモート"),
    ("推\u200b荐", "推荐"),
    ("\ufeff推荐", "推荐"),
    ("推\u00ad荐", "推荐"),
    ("Ｒｅｃｏｍｍｅｎｄ　ｊｏｂｓ", "recommend jobs"),
    ("machine\u3000learning", "machine learning"),
    ("machine\u00a0learning", "machine learning"),
    ("𝐫𝐞𝐜𝐨𝐦𝐦𝐞𝐧𝐝", "recommend"),
)


def rows(table: str) -> list[tuple[str, str]]:
    parts = (line.rpartition("|") for line in table.strip().splitlines())
    return [(text.replace("\\n", "\n"), intent) for text, _, intent in parts]


def lines(table: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in table.strip().splitlines()]


@pytest.mark.parametrize("text", lines(DENIED))
def test_a_denied_keyword_does_not_count_at_all(cascade: Cascade, text: str):
    result = cascade.classify(text)
    assert (result.intent, result.candidates) == (UNKNOWN, ())
    assert "negated" in {hit.why for hit in result.keywords}
    assert not any(hit.counted for hit in result.keywords)


@pytest.mark.parametrize(("text", "intent"), rows(NOT_DENIED))
def test_what_only_looks_like_a_denial_denies_nothing(cascade: Cascade, text: str, intent: str):
    assert certain(cascade.classify(text)) == intent


@pytest.mark.parametrize("text", lines(QUOTED))
def test_what_is_quoted_does_not_count(cascade: Cascade, text: str):
    result = cascade.classify(text)
    assert result.intent == UNKNOWN
    assert {hit.why for hit in result.keywords} <= {"quoted"}


@pytest.mark.parametrize(("text", "intent"), rows(OUTSIDE))
def test_what_stands_beside_a_quotation_counts(cascade: Cascade, text: str, intent: str):
    assert certain(cascade.classify(text)) == intent


@pytest.mark.parametrize(("text", "intent"), rows(INSIDE_WORDS))
def test_latin_keywords_are_whole_words(cascade: Cascade, text: str, intent: str):
    assert certain(cascade.classify(text)) == intent


@pytest.mark.parametrize(("variant", "plain"), VARIANTS)
def test_spelling_variants_are_the_same(cascade: Cascade, variant: str, plain: str):
    ours, theirs = cascade.classify(variant), cascade.classify(plain)
    assert (ours.intent, ours.confidence) == (theirs.intent, theirs.confidence)
    assert [hit.keyword for hit in ours.keywords] == [hit.keyword for hit in theirs.keywords]


@pytest.mark.parametrize(
    "text", ["嗯哼", "？？？", "👍", "", " ", "。", "\x00", "\ud800", "啊" * 5000]
)
def test_nonsense_is_unknown(cascade: Cascade, text: str):
    result = cascade.classify(text)
    assert (result.intent, result.confidence, result.certain) == (UNKNOWN, 0.0, False)
    assert result.tier == "none"
    assert result.tiers[0].outcome == "none"


def test_a_keyword_inside_a_longer_one_does_not_count(cascade: Cascade):
    result = cascade.classify("取消订阅")
    assert [(hit.keyword, hit.start, hit.counted, hit.why) for hit in result.keywords] == [
        ("取消订阅", 0, True, ""),
        ("订阅", 2, False, "inside"),
    ]
    assert [one.intent for one in result.candidates] == ["UNSUBSCRIBE"]


def test_a_negator_that_belongs_to_a_keyword_denies_nothing_else(cascade: Cascade):
    result = cascade.classify("取消订阅推送")
    assert {hit.keyword for hit in result.keywords if hit.counted} == {"取消订阅", "推送"}


def test_what_follows_the_first_two_thousand_characters_is_not_read(cascade: Cascade):
    assert certain(cascade.classify("啊" * 1998 + "推荐")) == "RECOMMEND"
    assert certain(cascade.classify("啊" * 1999 + "推荐")) == "nothing"
