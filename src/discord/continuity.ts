import { type Client, type GatewayDispatchPayload, type Guild, type Message, Status } from "discord.js";
import type { Memory } from "../conversation/memory.ts";
import type { Logger } from "../log.ts";
import { type Absence, Absences } from "./absences.ts";
import { type CatchUpLimits, catchUp } from "./catch-up.ts";
import { readNews } from "./gateway-news.ts";
import { LiveGate } from "./live-gate.ts";
import type { RequestBudget } from "./request-budget.ts";
import type { Streams } from "./streams.ts";
import { Upkeep } from "./upkeep.ts";

/** How long live messages wait at most for what was said before them, in milliseconds. */
const heldMs = 30_000;

export interface ContinuityPlan {
  readonly client: Client;
  readonly memory: Memory;
  readonly budget: RequestBudget;
  readonly streams: Streams;
  /** Absent: nothing is caught up with, and what went while nobody listened is not forgotten. */
  readonly catchUp: (CatchUpLimits & { readonly since: Date | undefined }) | undefined;
  /** Ids of bots that are listened to like people. */
  readonly allowedBots: ReadonlySet<string>;
  /** Whether a message of earlier can still want an answer. */
  readonly isUnanswered: (message: Message) => boolean;
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
    const { client, streams, allowedBots, catchUp: limits } = this.#plan;
    const news = readNews(packet, { me: client.user?.id, allowedBots });
    if (news?.news === "began") {
      this.#absences.began(shard, news.guilds);
      if (limits) this.#gate.hold(heldMs);
    } else if (news?.news === "guild-out") {
      this.#absences.isOut(news.guild);
    } else if (news) {
      if (news.news === "messages-deleted") this.#gate.withdraw(news.messages);
      streams.follow(this.#upkeep.take(news), "what happened on Discord did not reach what is remembered");
    }
    this.#absences.heard(shard);
  }

  /** A live message: heard behind what was said before it. */
  pass(message: Message): void {
    this.#gate.pass(message.channelId, message.id, () => this.#plan.hear(message));
  }

  /** Resolves when what was missed until now is caught up with, or could not be. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp;
  }

  /** Whether nothing is missing: every connection stands, and what was missed on it is caught up with. */
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
    this.#catchUp(client, absence);
  }

  /** A server is there again after an outage, or comes late. */
  available(client: Client<true>, { id, shardId }: Pick<Guild, "id" | "shardId">): void {
    const absence = this.#absences.takeGuild(id, shardId);
    if (!absence) return;
    if (this.#plan.catchUp) this.#gate.hold(heldMs);
    this.#catchUp(client, absence);
  }

  #catchUp(client: Client<true>, absence: Absence): void {
    const { catchUp: limits, streams } = this.#plan;
    if (!limits) return;
    const plan = { ...this.#plan, client, limits, gate: this.#gate };
    this.#behind += 1;
    const run = this.#caughtUp
      .then(() => catchUp(plan, absence))
      .finally(() => {
        this.#behind -= 1;
        this.#gate.openAll();
      });
    this.#caughtUp = run.catch(() => {});
    streams.follow(run, "what was said meanwhile could not be caught up with");
  }
}
