"""What a player of Werewolf does who trusts the others by given numbers: the one rule behind all ways of inference.

It uses the standing of the others, what the seat knows for certain, and the newest messages, which all methods show
alike. A village player poisons and checks the least trusted, protects and defends the most trusted, and votes against
the player it does not trust who is accused most by others it does not distrust. To a werewolf, who knows the sides, a
low standing means danger: it kills and accuses the most dangerous. It votes against a player that it accused, or with the table
if the table is wrong. Sometimes it lies with a claim or a false check.

An option is known by its code, `kind:arguments` (`"vote:3"`, `"vote"` for nobody, `"report:2,1"`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from parlour.envs.core import accept
from parlour.envs.hidden_roles.bidding import BID, HIGHEST_BID
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import (
    BALLOT,
    CHECKS,
    GUARDS,
    HEALS,
    KILL,
    POISONS,
    SEER,
    SHOOTS,
    VILLAGE,
    VILLAGER,
)
from parlour.policies.agents.seat import code
from parlour.policies.agents.werewolf import reading
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.situation import WerewolfSelfInfo, WerewolfSituation
from parlour.policies.heuristic.werewolf import Liar, lies, turns

SUSPECT: Final = -0.2
"""A standing below which a village player accuses, and the hunter shoots."""
_NO_ALLY: Final = 0.2
"""... below which it votes: who passes leaves the vote to the werewolves."""
_PRAISED: Final = 0.3
"""... above which it defends."""
_POISON: Final = -0.6
"""... below which the witch poisons."""
_DOOMED: Final = -0.4
"""... below which she lets somebody die."""
_PRESSED: Final = 2
"""Number of accusers at which a player with a power reveals its role."""
_LIES: Final = 0.1
"""How often a wolf reports a check that never was, while no other wolf has."""
_ACCUSES: Final = 0.6
"""How often a wolf that does not lie accuses; otherwise it praises somebody."""


class WerewolfDecision:
    """One decision of one seat.

    Args:
        me: Who decides.
        now: What is asked.
        standing: Standing of each player in the seat's eyes, in seat order, each in [-1, 1]: trust; to a werewolf, the lower the
            more dangerous.
        messages: The newest ones, oldest first.
        rng: For what is left to chance.
    """

    def __init__(
        self,
        me: WerewolfSelfInfo,
        now: WerewolfSituation,
        standing: Sequence[float],
        messages: Sequence[HeardMessage],
        rng: np.random.Generator,
    ) -> None:
        self.me, self.now, self.rng = me, now, rng
        self.noise = rng.random(len(standing)) * 1e-6
        """Breaks ties."""
        self.standing = [float(number) for number in standing]
        self.others = [seat for seat in now.alive if seat != me.seat]
        self.statements = [(m, reading.read(m.speaker, m.in_full, len(standing))) for m in messages]

    def choose(self, options: Mapping[str, str]) -> str:
        """The code of the option taken. Raises `ParlourError` if these are no options of Werewolf in this situation."""
        villager = self.me.side == VILLAGE
        decide: dict[str, Callable[[], list[str]]] = {
            "speak": self._speak_as_villager if villager else self._speak_as_wolf,
            "last_words": self._speak_as_villager if villager else self._speak_as_wolf,
            "whisper": lambda: [code(speech.RECOMMEND, self._prey())],
            KILL: lambda: [code(KILL, self._prey())],
            GUARDS: lambda: self._protect(options),
            HEALS: self._save,
            POISONS: self._poison,
            CHECKS: self._check,
            SHOOTS: self._shoot,
            BALLOT: self._vote_as_villager if villager else self._vote_as_wolf,
            BID: self._bid,
        }
        for wanted in decide[self.now.does]():
            if wanted in options:
                return wanted
        for idle in (code(speech.SILENT, ()), code(self.now.does, ())):
            if idle in options:
                return idle
        raise accept("options", list(options), f"Werewolf's options to {self.now.does}")

    # -- what is on the table ----------------------------------------------------------------------------------

    def _lowest(self, seats: Sequence[int]) -> int:
        return min(seats, key=lambda j: self.standing[j] + self.noise[j])

    def _highest(self, seats: Sequence[int]) -> int:
        return max(seats, key=lambda j: self.standing[j] + self.noise[j])

    def _intents(self, *, today: bool = False) -> Iterator[tuple[HeardMessage, reading.ReadIntent]]:
        """The intents in the messages; on demand only those in the talk of today."""
        for message, statement in self.statements:
            if not today or (message.day == self.now.day and not message.private):
                yield from ((message, intent) for intent in statement.intents)

    def heat(self, *, believed: bool = False) -> Counter[int]:
        """How many players attacked each one in the talk of today; on demand only those who are not distrusted."""
        who = [seat for seat in self.now.alive if not believed or self.standing[seat] >= SUSPECT]
        attacks = {(a, b) for _, (a, kind, b, _) in self._intents(today=True) if kind != reading.DEFEND and a in who}
        return Counter(target for _, target in sorted(attacks))

    def claimed(self, identity: str) -> list[int]:
        """The living others who say they are something, latest last."""
        said = [(message.speaker, claim) for message, statement in self.statements for claim in statement.judgements]
        claimed = [who for who, (player, what, _) in said if (player, what) == (who, identity) and who in self.others]
        return list(dict.fromkeys(claimed))

    def _reported(self) -> list[int]:
        """The players on whom the seat has reported in the messages it sees."""
        own = [intent for message, intent in self._intents() if message.speaker == self.me.seat]
        return [intent.target for intent in own if intent.score == reading.CHECK]

    # -- by day ------------------------------------------------------------------------------------------------

    def _speak_as_villager(self) -> list[str]:
        wishes = self._checks_to_tell()
        pressed = self.heat()[self.me.seat] >= _PRESSED or (self.me.role == SEER and self.claimed("seer"))
        if pressed and self.me.role != VILLAGER:
            roles = list(dict.fromkeys(self.me.roles))
            wishes.append(code(speech.CLAIM_ROLE, (roles.index(self.me.role),)))
        if not self.others:
            return wishes
        worst, best = self._suspect(SUSPECT, together=True), self._highest(self.others)
        if worst is not None:
            wishes.append(code(speech.ACCUSE, (worst,)))
        if self.standing[best] > _PRAISED:
            wishes.append(code(speech.DEFEND, (best,)))
        return wishes

    def _checks_to_tell(self) -> list[str]:
        """The seer tells of living werewolves at once; of innocents when pressed, when dying, or from the second on."""
        reported = self._reported()
        new = [check for check in reversed(self.now.checks) if check.player not in reported]
        wolves = [check for check in new if check.werewolf and check.player in self.now.alive]
        innocent = [check for check in new if not check.werewolf and check.player in self.now.alive]
        pressed = self.heat()[self.me.seat] >= _PRESSED or bool(self.claimed("seer"))
        due = self.now.does == "last_words" or self.now.day > 1 or pressed
        checks = wolves + (innocent if due else [])
        return [code(speech.REPORT, (check.player, int(check.werewolf))) for check in checks]

    def _suspect(self, below: float, *, together: bool = False) -> int | None:
        """A living player whom the village trusts less than so far: the least trusted, or the most accused of these.

        Args:
            below: The standing.
            together: Whether it takes others to do it, as votes that scatter change nothing. A distrusted
                player accuses in vain.
        """
        known = [seat for seat in self.others if seat in self.now.wolves]
        doubted = [j for j in self.others if j not in self.now.innocent and self.standing[j] < below]
        seats = known or doubted
        if not seats:
            return None
        if not together:
            return self._lowest(seats)
        heat = self.heat(believed=True)
        return min(seats, key=lambda j: (-heat[j], self.standing[j] + self.noise[j]))

    def _bid(self) -> list[str]:
        """Most to report a check or to answer a charge; 1 to speak for the first time today; else it listens."""
        today = [message for message, _ in self.statements if message.day == self.now.day and not message.private]
        spoken = any(message.speaker == self.me.seat for message in today)
        charged = bool(self.heat()[self.me.seat]) and bool(today) and today[-1].speaker != self.me.seat
        urgent = charged or (self.me.side == VILLAGE and bool(self._checks_to_tell()))
        return [code(BID, (HIGHEST_BID if urgent else int(not spoken),))]

    def _vote_as_villager(self) -> list[str]:
        worst = self._suspect(_NO_ALLY, together=True)
        return [] if worst is None else [code(BALLOT, (worst,))]

    def _vote_as_wolf(self) -> list[str]:
        """Against whom it accused itself today, else with the table, so as not to stand out; a fellow only if he is lost."""
        heat = self.heat()
        own = self._accused_today()
        if self._deceives() and heat and not turns(len(self.now.alive) - len(self._victims()), len(self._victims())):
            return [code(BALLOT, (max(self.others, key=lambda j: (heat[j], self.noise[j])),))]
        if own:
            return [code(BALLOT, (own[-1],))]
        ranked = sorted(self.others, key=lambda j: (-heat[j], self.standing[j] + self.noise[j]))
        for seat in ranked:
            lost = heat[seat] > len(self.now.alive) // 2
            if heat[seat] and (seat not in self.now.wolves or lost):
                return [code(BALLOT, (seat,))]
        return []

    # -- the werewolves ----------------------------------------------------------------------------------------

    def _victims(self) -> list[int]:
        return [seat for seat in self.others if seat not in self.now.wolves]

    def _accused_today(self) -> list[int]:
        """Whom it attacked in the talk of today itself, latest last."""
        own = [intent for message, intent in self._intents(today=True) if message.speaker == self.me.seat]
        return [intent.target for intent in own if intent.kind != reading.DEFEND and intent.target in self._victims()]

    def _deceives(self) -> bool:
        """Drawn anew for each word and vote; without deceit nothing is drawn."""
        return self.me.deceit > 0 and bool(self.rng.random() < self.me.deceit)

    def _as_liar(self, victims: Sequence[int]) -> Liar:
        """What the table thinks, by who was attacked least and most in the messages; of equals, the most dangerous."""
        attacks = {(intent.speaker, intent.target) for _, intent in self._intents() if intent.kind != reading.DEFEND}
        blamed = Counter(target for _, target in attacks)
        fellows = [seat for seat in self.others if seat in self.now.wolves]
        worst = max(fellows, key=lambda j: (blamed[j], self.noise[j]), default=None)
        suspected = worst if worst is not None and blamed[worst] > max(blamed[seat] for seat in victims) else None
        reported = self._reported()
        seers = self.claimed("seer")
        trusted = min(victims, key=lambda j: (blamed[j], self.standing[j], self.noise[j]))
        return Liar(trusted, [j for j in seers if j in victims], suspected, reported, any(j in fellows for j in seers))

    def _speak_as_wolf(self) -> list[str]:
        victims = self._victims()
        if not victims:
            return []
        if self._deceives():
            return [code(lie.kind, lie.args) for lie in lies(self._as_liar(victims))]
        threat, heat = self._lowest(victims), self.heat()
        report = (reading.ATTACK, self.me.seat, reading.CHECK)
        reported_me = [intent.speaker for _, intent in self._intents() if intent[1:] == report]
        if reported_me and reported_me[-1] in victims:  # two seers: one of them lies, and the table must guess which
            return [code(speech.REPORT, (reported_me[-1], 1))]
        draw = self.rng.random()
        seers = set(self.claimed("seer"))
        if draw < _LIES and not seers.intersection(self.now.wolves):
            return [code(speech.REPORT, (threat, 1))]
        if draw < _LIES + (1 - _LIES) * _ACCUSES:
            # rather with the others than alone
            return [
                code(speech.ACCUSE, (max(victims, key=lambda j: (min(heat[j], 1), -self.standing[j] + self.noise[j])),))
            ]
        return [code(speech.DEFEND, (self._highest(victims),))]

    def _prey(self) -> tuple[int, ...]:
        """Whom the wolves are to kill: whom a fellow names already, or who claims to see, or the most dangerous one."""
        victims = self._victims()
        if not victims:
            return ()
        intents = [
            (m, intent) for m, intent in self._intents() if m.day == self.now.day and m.speaker in self.now.wolves
        ]
        tonight = [b for _, (_, kind, b, _) in intents if kind == reading.ATTACK and b in victims]
        if tonight:
            return (tonight[0],)
        seers = [seat for seat in self.claimed("seer") if seat in victims]
        return (self._lowest(seers or victims),)

    # -- powers ------------------------------------------------------------------------------------------------

    def _protect(self, options: Mapping[str, str]) -> list[str]:
        """The trusted who claim to see, then the most trusted, then himself."""
        allowed = [seat for seat in self.now.alive if code(GUARDS, (seat,)) in options]
        seers = [seat for seat in self.claimed("seer") if seat in allowed and self.standing[seat] > SUSPECT]
        others = [seat for seat in allowed if seat != self.me.seat and self.standing[seat] > -SUSPECT]
        order = [self._highest(group) for group in (seers, others) if group]
        return [code(GUARDS, (seat,)) for seat in (*order, self.me.seat, *allowed)]

    def _save(self) -> list[str]:
        victim = self.now.attacked
        worth = victim is not None and (victim == self.me.seat or self.standing[victim] > _DOOMED)
        return [code(HEALS, (int(worth),))]

    def _poison(self) -> list[str]:
        worst = self._suspect(_POISON)
        return [] if worst is None else [code(POISONS, (worst,))]

    def _shoot(self) -> list[str]:
        worst = self._suspect(SUSPECT)
        return [] if worst is None else [code(SHOOTS, (worst,))]

    def _check(self) -> list[str]:
        known = {*self.now.wolves, *self.now.innocent}
        unknown = [seat for seat in self.others if seat not in known]
        return [code(CHECKS, (self._lowest(unknown),))] if unknown else []
