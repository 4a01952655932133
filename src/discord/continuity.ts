import { type Client, type GatewayDispatchPayload, type Guild, type Message, Status } from "discord.js";
import type { Memory } from "../conversation/memory.ts";
import type { Logger } from "../log.ts";
import { within } from "../within.ts";
import { type Absence, Absences } from "./absences.ts";
import { forgetAbsentPlaces } from "./absent-places.ts";
import { type CatchUpLimits, catchUp } from "./catch-up.ts";
import { readNews } from "./gateway-news.ts";
import { type Hold, LiveGate } from "./live-gate.ts";
import type { RequestBudget } from "./request-budget.ts";
import type { Streams } from "./streams.ts";
import { Upkeep } from "./upkeep.ts";

/** How long live messages wait at most for what was said before them, in milliseconds. */
const heldMs = 30_000;
/** How long each try to find out what was missed waits, if it has to, in milliseconds. */
const triesAfterMs = [1_000, 1_000, 5_000, 25_000, 125_000] as const;

/** An absence to be looked after. */
interface Task {
  readonly client: Client<true>;
  readonly absence: Absence;
  /** What is held back meanwhile; absent: nothing yet. */
  readonly hold: Hold | undefined;
  /** How often it was tried in vain. */
  readonly tries: number;
}

export interface ContinuityPlan {
  readonly client: Client;
  readonly memory: Memory;
  readonly budget: RequestBudget;
  readonly streams: Streams;
  /** Absent: nothing is caught up with, and what went while nobody listened is not forgotten. */
  readonly catchUp: (CatchUpLimits & { readonly since: Date | undefined }) | undefined;
  /** Ids of bots that are listened to like people. */
  readonly allowedBots: ReadonlySet<string>;
  /** The session that would answer a message of earlier; `undefined`: it wants no answer any more. */
  readonly sessionAsked: (message: Message) => string | undefined;
  readonly hear: (message: Message) => void;
  /** `false`: the bot is about to end. */
  readonly goesOn: () => boolean;
  readonly log: Logger;
}

/** Everything is heard once and in order, whatever was missed, and what is remembered stays true to what is there. */
export class Continuity {
  readonly #plan: ContinuityPlan;
  readonly #upkeep: Upkeep;
  readonly #absences: Absences;
  readonly #gate = new LiveGate();
  /** Of connections that began anew, until it is found out what was missed on them. */
  readonly #holds = new Map<number, Hold>();
  /** Connections that began anew are looked after one after another. */
  #caughtUp: Promise<void> = Promise.resolve();
  #behind = 0;

  constructor(plan: ContinuityPlan) {
    this.#plan = plan;
    this.#upkeep = new Upkeep(plan);
    this.#absences = new Absences(plan.catchUp?.since);
  }

  /** Every packet of the gateway, before discord.js reads it. */
  learn(packet: GatewayDispatchPayload, shard: number): void {
    const { client, streams, allowedBots } = this.#plan;
    const news = readNews(packet, { me: client.user?.id, allowedBots });
    if (news?.news === "began") {
      this.#absences.began(shard, news.guilds);
      this.#holds.get(shard)?.release();
      if (this.#plan.catchUp) this.#holds.set(shard, this.#gate.hold(heldMs));
    } else if (news?.news === "guild-out") {
      this.#absences.isOut(news.guild);
    } else if (news) {
      if (news.news === "messages-deleted") this.#gate.withdraw(news.messages);
      if (news.news === "thread-gone") this.#gate.withdraw([news.thread]);
      if (news.news === "channel-gone") this.#gate.withdraw([news.channel]);
      if (news.news === "message-edited") this.#gate.reword(news.message);
      streams.follow(this.#upkeep.take(news), "what happened on Discord did not reach what is remembered");
    }
    this.#absences.heard(shard);
  }

  /** A live message: heard behind what was said before it. */
  pass(message: Message): void {
    this.#gate.pass(message.channelId, message.id, () => this.#plan.hear(message));
  }

  /** Resolves when what was missed until now is caught up with, could not be, or has been waited for as long as live messages do. */
  async caughtUp(): Promise<void> {
    await within(heldMs, this.#caughtUp, { holds: false });
  }

  /**
   * Whether nothing is missing: every connection stands, and what was missed on it is caught up with. Until then this
   * process does not say that it was listening, so that one that comes after it looks, too.
   */
  isWhole(): boolean {
    const { client } = this.#plan;
    return this.#behind === 0 && client.ws.shards.every(({ status }) => status === Status.Ready);
  }

  /** A connection knows its servers. If it began anew, what was missed on it is caught up with. */
  ready(client: Client<true>, shard: number): void {
    const absence = this.#absences.take(shard);
    if (!absence) return;
    for (const id of absence.guilds) {
      if (!client.guilds.cache.get(id)?.available) this.#absences.isOut(id, absence.since);
    }
    const hold = this.#holds.get(shard);
    this.#holds.delete(shard);
    this.#catchUp({ client, absence, hold, tries: 0 });
  }

  /** A server is there again after an outage, or comes late. */
  available(client: Client<true>, { id, shardId }: Pick<Guild, "id" | "shardId">): void {
    const absence = this.#absences.takeGuild(id, shardId);
    const hold = absence && this.#plan.catchUp && this.#gate.hold(heldMs);
    if (absence) this.#catchUp({ client, absence, hold, tries: 0 });
  }

  #catchUp(task: Task): void {
    const { catchUp: limits, streams } = this.#plan;
    if (!limits) return;
    this.#behind += 1;
    const run = this.#caughtUp
      .then(() => this.#lookAfter(task, limits))
      .finally(() => {
        this.#behind -= 1;
      });
    this.#caughtUp = run.catch(() => {});
    streams.follow(run, "what was said meanwhile could not be caught up with");
  }

  async #lookAfter(task: Task, limits: CatchUpLimits): Promise<void> {
    const { goesOn } = this.#plan;
    if (!goesOn()) return;
    const { client, absence, hold = this.#gate.hold(heldMs) } = task;
    // It broke off meanwhile, and its servers are not there.
    if (client.ws.shards.get(absence.shard)?.status !== Status.Ready) return this.#later({ ...task, hold });
    const plan = { ...this.#plan, client, limits, hold };
    try {
      const unread = await catchUp(plan, absence);
      hold.release();
      if (!absence.only && !absence.channels && goesOn()) {
        const gone = await forgetAbsentPlaces(plan, absence);
        if (gone > 0) plan.log.info({ sessions: gone }, "what was left or deleted meanwhile is forgotten");
      }
      if (unread.length > 0) this.#again(task, { ...absence, channels: unread });
    } catch (error) {
      this.#again(task, absence);
      throw error;
    } finally {
      hold.release();
    }
  }

  #again({ client, tries }: Task, absence: Absence): void {
    const { shard, channels } = absence;
    if (tries + 1 < triesAfterMs.length) this.#later({ client, absence, hold: undefined, tries: tries + 1 });
    else this.#plan.log.error({ shard, channels }, "what was said meanwhile is given up");
  }

  #later(task: Task): void {
    this.#behind += 1;
    const again = () => {
      this.#behind -= 1;
      this.#catchUp(task);
    };
    setTimeout(again, triesAfterMs[task.tries]).unref();
  }
}
