"""The words of generated cases in both languages, side by side: scenes, names, relations, motives, hours. All invented.

Each entry is a pair (English, Chinese), so that one drawn story can be told in either language.
"""

from __future__ import annotations

from typing import Final, NamedTuple

Pair = tuple[str, str]
"""English, Chinese."""
COLUMN: Final = {"en": 0, "zh": 1}
"""Language -> column of a pair."""


class Name(NamedTuple):
    """A person's name in both languages, with the shorter forms by which it is called."""

    full: Pair
    short: tuple[Pair, ...]


class Scene(NamedTuple):
    """Where a story happens."""

    name: str
    title: Pair
    setting: Pair
    """One or two sentences: where, why all are together, why nobody could leave."""
    places: tuple[Pair, ...]
    means: tuple[Pair, ...]
    items: tuple[Pair, ...]


def _pairs(text: str) -> tuple[Pair, ...]:
    """Entries from `english = chinese; ...`."""
    made = [tuple(part.strip() for part in entry.split("=")) for entry in text.split(";") if entry.strip()]
    return tuple((entry[0], entry[1]) for entry in made)


def _names(text: str) -> tuple[Name, ...]:
    """Names from `english / short / shorter = chinese / short / shorter; ...`."""
    made = []
    for english, chinese in _pairs(text):
        first, second = ([part.strip() for part in side.split("/")] for side in (english, chinese))
        full, *short = zip(first, second, strict=True)
        made.append(Name(full, tuple(short)))
    return tuple(made)


NAMES: Final = _names("""
    Ada Vane / Ada = 林若安 / 若安; Bruno Hale / Bruno = 周伯年 / 伯年; Clara Moss / Clara = 沈可岚 / 可岚;
    Dorian Pike / Dorian = 杜仲平 / 仲平; Edith Lorne / Edith = 叶知秋 / 知秋; Felix Marrow / Felix = 费云舟 / 云舟;
    Greta Holm / Greta = 顾青禾 / 青禾; Hugo Brandt / Hugo = 洪有信 / 有信; Iris Calder / Iris = 尹雪晴 / 雪晴;
    Jonas Weir / Jonas = 蒋怀远 / 怀远; Kitty Sorrel / Kitty = 柯小满 / 小满; Leopold Finch / Leopold = 雷宗尧 / 宗尧;
    Mina Okell / Mina = 孟晓棠 / 晓棠; Nils Tarrant / Nils = 聂少陵 / 少陵; Olive Prosser / Olive = 欧静姝 / 静姝;
    Percy Quill / Percy = 潘立本 / 立本; Rosa Delmar / Rosa = 罗绮梅 / 绮梅; Silas Croft / Silas = 司徒恪 / 老恪;
    Thea Wynn / Thea = 唐以宁 / 以宁; Ulric Sand / Ulric = 吴砚田 / 砚田; Vera Lindqvist / Vera = 魏素心 / 素心;
    Walter Ames / Walter = 汪启明 / 启明; Xenia Roth / Xenia = 夏紫苑 / 紫苑; Yannick Dorr / Yannick = 严正廷 / 正廷;
    Zelda March / Zelda = 朱彩凤 / 彩凤; Tobias (Toby) Renn / Toby / Tobias Renn = 陶博（阿博） / 阿博 / 陶博;
    Dr. Imre Vass / Imre / Imre Vass = 何景仁医生 / 景仁 / 何景仁; Mrs. Agnes Tull / Agnes / Agnes Tull = 阮太太（玉珠） / 玉珠 / 阮太太
""")

RELATIONS: Final = _pairs("""
    the cousin = 表亲; an old friend = 老朋友; the employer = 雇主; the tenant = 房客; a creditor = 债主; a debtor = 欠债人;
    the business partner = 合伙人; the family doctor = 家庭医生; the lawyer = 律师; a former lover = 旧情人; the heir = 继承人;
    a rival = 对头; a neighbour = 邻居; the former pupil = 旧日学生; the former teacher = 旧日老师; the landlord = 房东;
    a secret admirer = 暗中的爱慕者; the secretary = 秘书; a confidant = 知己; a schoolmate = 同窗; the guardian = 监护人;
    a supplier = 供货人
""")

_OPPOSITE: Final = (
    ("a creditor", "a debtor"),
    ("the tenant", "the landlord"),
    ("the former pupil", "the former teacher"),
    ("an old friend", "a rival"),
    ("a confidant", "a rival"),
    ("the employer", "the secretary"),
    ("the guardian", "the former pupil"),
    ("a former lover", "a secret admirer"),
    ("the guardian", "the heir"),
    ("the guardian", "the secretary"),
    ("the guardian", "the landlord"),
    ("the employer", "the heir"),
    ("the employer", "the tenant"),
    ("the secretary", "the lawyer"),
    ("the secretary", "the family doctor"),
    ("the lawyer", "the family doctor"),
    ("a schoolmate", "the former teacher"),
    ("a schoolmate", "the guardian"),
    ("a schoolmate", "the former pupil"),
    ("the former pupil", "the employer"),
)
OPPOSITES: Final = frozenset(
    frozenset(number for number, pair in enumerate(RELATIONS) if pair[0] in opposite) for opposite in _OPPOSITE
)
"""Pairs of relations (numbers) that one person does not have to another at once."""

MOTIVES: Final = _pairs("""
    revenge for an old wrong = 为旧日的冤屈复仇; the inheritance = 遗产; a debt that could not be paid = 还不清的债;
    jealousy = 嫉妒; fear that a secret would come out = 害怕秘密败露; a broken engagement = 悔婚之恨;
    a stolen invention = 发明被窃取; a ruined career = 前程被毁
""")

TIMES: Final = (
    _pairs("20:00 = 晚上八点; 20:30 = 晚上八点半; 21:00 = 晚上九点; 21:30 = 晚上九点半; 22:00 = 晚上十点"),
    _pairs("17:00 = 下午五点; 17:30 = 下午五点半; 18:00 = 傍晚六点; 18:30 = 傍晚六点半; 19:00 = 晚上七点"),
    _pairs("22:00 = 晚上十点; 22:30 = 晚上十点半; 23:00 = 深夜十一点; 23:30 = 深夜十一点半; 00:00 = 午夜零点"),
)

SCENES: Final = (
    Scene(
        "harbour",
        ("Fog over the Harbour Inn", "雾锁港口客栈"),
        (
            "Thick fog lay over the harbour, and the ferry did not sail. All who had come for the auction of the old "
            "shipping company were kept at the Harbour Inn for the night.",
            "浓雾笼罩着港口，渡轮停航了。为了老船运公司的拍卖而来的人，都被困在港口客栈过夜。",
        ),
        _pairs("""the taproom = 酒堂; the net loft = 渔网阁楼; the boathouse = 船坞; the chart room = 海图室;
            the kitchen = 厨房; the ice cellar = 冰窖; the upper gallery = 楼上回廊; the sail store = 帆布仓"""),
        _pairs("""the boat hook = 船钩; the rat poison = 老鼠药; the flare pistol = 信号枪; the mooring rope = 缆绳;
            the gutting knife = 剖鱼刀; the sleeping drops = 安眠药水"""),
        _pairs("""the ship's ledger = 船上的账册; the brass compass = 铜罗盘; the sealed contract = 密封的合同;
            the cash box = 钱匣; the old photograph = 旧照片; the pearl brooch = 珍珠胸针"""),
    ),
    Scene(
        "observatory",
        ("The Last Comet", "最后的彗星"),
        (
            "On the night of the comet the founder's guests had gathered at the observatory on the mountain. A rockfall "
            "had closed the road, and the telephone was dead.",
            "彗星经过的那一夜，客人们聚集在山顶的天文台。落石封住了山路，电话也不通了。",
        ),
        _pairs("""the dome = 圆顶观测室; the library = 图书室; the darkroom = 暗房; the machine hall = 机房;
            the winter garden = 温室花园; the dining room = 餐厅; the cellar = 地窖; the clock room = 钟表间"""),
        _pairs("""the star chart weight = 星图镇纸; the darkroom acid = 暗房的酸液; the antique sabre = 古董军刀;
            the winch cable = 绞盘钢索; the hunting rifle = 猎枪; the heart medicine = 强心药"""),
        _pairs("""the logbook = 观测日志; the silver lens = 银框透镜; the letter of appointment = 聘书;
            the gold watch = 金怀表; the glass plate = 玻璃底片; the key of the safe = 保险柜的钥匙"""),
    ),
    Scene(
        "theatre",
        ("Curtain at the Alhambra", "落幕时分"),
        (
            "After the dress rehearsal the doors of the old theatre were locked, as on every night before a first "
            "performance. Only those who belonged to the play were still inside.",
            "彩排结束后，老剧院照例锁上了大门。首演前夜，留在里面的只有剧团的人。",
        ),
        _pairs("""the stage = 舞台; the dressing room = 化妆间; the prop room = 道具间; the royal box = 贵宾包厢;
            the orchestra pit = 乐池; the costume store = 服装间; the foyer = 门厅; the fly loft = 吊景台"""),
        _pairs("""the stage dagger = 舞台匕首; the sandbag = 配重沙袋; the absinthe = 苦艾酒; the curtain cord = 幕绳;
            the prop revolver = 道具左轮枪; the spirit lamp = 酒精灯"""),
        _pairs("""the prompt book = 提词本; the ruby ring = 红宝石戒指; the box-office takings = 票房款;
            the love letters = 情书; the new play = 新剧本; the opera glasses = 观剧望远镜"""),
    ),
    Scene(
        "teahouse",
        ("Rain on Tea Hill", "茶山夜雨"),
        (
            "The spring rain had washed away the bridge below the tea estate. The guests of the tasting had to stay in "
            "the old house, and nobody could come up from the valley.",
            "春雨冲垮了茶庄下面的小桥。前来品茶的客人只好留宿老宅，山谷里的人也上不来。",
        ),
        _pairs("""the tasting room = 品茶室; the drying loft = 晾茶阁; the ancestral hall = 祠堂; the herb garden = 药圃;
            the study = 书房; the storehouse = 库房; the bath house = 浴房; the west pavilion = 西亭"""),
        _pairs("""the tea knife = 茶刀; the monkshood root = 乌头根; the stone pestle = 石杵; the silk sash = 丝带;
            the iron kettle = 铁壶; the well rope = 井绳"""),
        _pairs("""the family seal = 家传印章; the recipe book = 配方簿; the jade cup = 玉杯; the deed of the land = 地契;
            the old diary = 旧日记; the silver tea caddy = 银茶罐"""),
    ),
    Scene(
        "train",
        ("The Night Mail to Varn", "开往瓦恩的夜车"),
        (
            "The night mail stood still in a snowdrift between two stations. The last coach was locked towards the rest "
            "of the train, and its passengers had it to themselves.",
            "夜班邮车被雪堆困在两站之间。最后几节车厢与前面隔断，只剩下这几位旅客。",
        ),
        _pairs("""the dining car = 餐车; the smoking saloon = 吸烟室; the baggage van = 行李车; the mail room = 邮件间;
            the rear platform = 车尾平台; the sleeping car = 卧铺车厢; the galley = 车上厨房; the guard's cabin = 车长室"""),
        _pairs("""the coal shovel = 煤铲; the chloroform = 氯仿; the signal lamp = 信号灯; the bell cord = 拉铃绳;
            the carving knife = 切肉刀; the pocket pistol = 袖珍手枪"""),
        _pairs("""the registered parcel = 挂号包裹; the forged passport = 假护照; the sapphire pin = 蓝宝石别针;
            the bearer bonds = 不记名债券; the code book = 密码本; the travelling clock = 旅行钟"""),
    ),
    Scene(
        "sanatorium",
        ("White Silence", "白色寂静"),
        (
            "The sanatorium above the tree line was cut off by an avalanche. The season was over; only the last patients, "
            "their visitors and a few of the house were left.",
            "雪崩切断了山上的疗养院。季节已过，只剩下最后几位病人、访客和院里的人。",
        ),
        _pairs("""the sun terrace = 日光露台; the reading room = 阅览室; the dispensary = 药房; the chapel = 小礼拜堂;
            the laundry = 洗衣房; the music room = 音乐室; the boiler room = 锅炉房; the consulting room = 诊室"""),
        _pairs("""the scalpel = 手术刀; the morphine = 吗啡; the ice axe = 冰镐; the bath cord = 浴袍带;
            the fire poker = 火钳; the oxygen flask = 氧气瓶"""),
        _pairs("""the medical file = 病历; the last will = 遗嘱; the emerald necklace = 祖母绿项链;
            the cheque book = 支票簿; the bundle of letters = 一捆信; the master key = 万能钥匙"""),
    ),
    Scene(
        "vineyard",
        ("A Bitter Vintage", "苦涩的年份"),
        (
            "The harvest supper of the vineyard had ended in a thunderstorm. The river had risen over the only road, and "
            "the family and its guests sat fast until morning.",
            "葡萄庄园的丰收晚宴在雷雨中结束。河水漫过了唯一的道路，主人和客人都要等到天亮。",
        ),
        _pairs("""the press house = 榨汁房; the barrel cellar = 酒桶窖; the salon = 客厅; the rose court = 玫瑰庭院;
            the stable = 马厩; the office = 账房; the pigeon tower = 鸽楼; the pantry = 食品间"""),
        _pairs("""the pruning shears = 修枝剪; the sulphur candle = 硫磺烛; the shotgun = 双管猎枪; the vine stake = 葡萄桩;
            the copper salts = 铜盐; the riding whip = 马鞭"""),
        _pairs("""the cellar book = 酒窖账本; the wedding ring = 结婚戒指; the bank draft = 银行汇票;
            the birth certificate = 出生证明; the signed receipt = 签字收据; the silver corkscrew = 银开瓶器"""),
    ),
    Scene(
        "museum",
        ("The Sealed Gallery", "封闭的展厅"),
        (
            "When the alarm of the little museum went off by mistake, its iron gates came down. Those who had stayed after "
            "the opening of the exhibition were locked in until the engineer could come.",
            "小博物馆的警报误响，铁门全部落下。展览开幕后还没走的人被锁在里面，只能等工程师赶来。",
        ),
        _pairs("""the armour hall = 盔甲厅; the map room = 地图室; the workshop = 修复工房; the courtyard = 中庭;
            the archive = 档案室; the tea room = 茶室; the porcelain gallery = 瓷器厅; the loading bay = 卸货间"""),
        _pairs("""the ceremonial axe = 仪仗斧; the restorer's solvent = 修复溶剂; the bronze bust = 青铜半身像;
            the picture wire = 挂画钢丝; the duelling pistol = 决斗手枪; the embalming salts = 防腐盐"""),
        _pairs("""the catalogue = 藏品目录; the scarab = 圣甲虫护符; the insurance policy = 保险单;
            the false label = 假标签; the donor's letter = 捐赠者的信; the ivory seal = 象牙印"""),
    ),
)
