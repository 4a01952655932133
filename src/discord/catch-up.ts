import type { Client, Message } from "discord.js";
import type { Memory } from "../conversation/memory.ts";
import type { Logger } from "../log.ts";
import type { Absence } from "./absences.ts";
import { forgetAbsentPlaces } from "./absent-places.ts";
import { fairShare } from "./fair-share.ts";
import { HistoryReader } from "./history-reader.ts";
import type { LiveGate } from "./live-gate.ts";
import { type KnownPlace, MissedMessages } from "./missed-messages.ts";
import { channelOf } from "./place.ts";
import type { RequestBudget } from "./request-budget.ts";
import { compareIds, firstIdAt } from "./snowflake.ts";
import { directPlace, guildPlace } from "./whereabouts.ts";

export interface CatchUpLimits {
  /** What is older is not answered any more. 0: nothing is caught up with. */
  readonly hours: number;
  /** How many messages are heard at most, each time. */
  readonly messages: number;
}

export interface CatchUpPlan {
  readonly client: Client<true>;
  readonly memory: Memory;
  readonly budget: RequestBudget;
  readonly gate: LiveGate;
  readonly limits: CatchUpLimits;
  /** Whether a message of earlier can still want an answer. */
  readonly isUnanswered: (message: Message) => boolean;
  /** The door for live messages. */
  readonly hear: (message: Message) => void;
  /** `false`: the bot is about to end. */
  readonly goesOn: () => boolean;
  readonly log: Logger;
}

const hourMs = 60 * 60_000;
/** Discord's clock and ours may differ. What is heard twice is answered once. */
const clocksApartMs = 15_000;
const placesAtOnce = 4;
/** Fewer than may wait in one session. */
const mostOfOnePlace = 40;

/**
 * Hears what was said while nobody listened: in the conversations that are known, archived or not, and calls in
 * channels. There is no cursor: everything goes through the door for live messages, where what is known is discarded.
 */
export async function catchUp(plan: CatchUpPlan, absence: Absence): Promise<void> {
  const { gate, limits, log, hear, goesOn } = plan;
  const oldest = Date.now() - limits.hours * hourMs;
  const since = absence.since && Math.max(absence.since.getTime() - clocksApartMs, oldest);
  // At once: where something is said only from now on, nothing was missed.
  const busy = since === undefined ? [] : busyChannels(plan, absence, since);
  const gone = absence.only === undefined ? await forgetAbsentPlaces(plan, absence) : 0;
  if (gone > 0) log.info({ sessions: gone }, "what was left or deleted meanwhile is forgotten");
  if (limits.hours === 0) return;
  const conversations = await knownPlaces(plan, absence, new Date(oldest));
  const known = new Set(conversations.map(({ channel }) => channel));
  const channels = busy.filter((id) => !known.has(id));
  gate.holdOnly([...known, ...channels]);

  const missed = new MissedMessages({ ...plan, reader: new HistoryReader(plan) });
  const found: Message[][] = [];
  // Calls first: where a thread was opened on one of them, it comes before what was said in the thread.
  await forEach(channels, goesOn, async (id) => found.push(await missed.inChannel(id, firstIdAt(since ?? oldest))));
  const calls = new Set(found.flat().map(({ id }) => id));
  await forEach(conversations, goesOn, async (place) => {
    const messages = await missed.inConversation(place, firstIdAt(oldest));
    if (messages.length === 0 && !calls.has(place.channel)) gate.open(place.channel);
    found.push(messages);
  });

  // A call whose thread was deleted was answered there, and is not called out again.
  const open = found.map((messages) => messages.filter(({ id }) => !missed.gone.has(id)));
  const chosen = fairShare(open, limits.messages, mostOfOnePlace).flat();
  for (const message of chosen.sort((one, other) => compareIds(one.id, other.id))) {
    if (goesOn() && !gate.isWithdrawn(message.id)) hear(message);
  }
  const counts = {
    messages: chosen.length,
    left: open.flat().length - chosen.length,
    conversations: conversations.length,
    channels: channels.length,
    erasedIn: missed.erasedIn,
    gone: missed.gone.size,
  };
  log.info(counts, "caught up with what was said meanwhile");
}

/** The conversations on a connection in which something was said since. */
async function knownPlaces({ client, memory }: CatchUpPlan, absence: Absence, since: Date): Promise<KnownPlace[]> {
  const me = client.user.id;
  const places = serversOf(client, absence).map(({ id }) => guildPlace(me, id));
  if (absence.shard === 0 && absence.only === undefined) places.push(directPlace(me));
  const found: KnownPlace[] = [];
  for (const place of places) {
    for (const sessionId of await memory.sessionsIn(place, since)) {
      const channel = channelOf(sessionId);
      if (channel !== undefined) found.push({ channel, sessionId });
    }
  }
  return found;
}

function serversOf(client: Client, { shard, only }: Absence) {
  return client.guilds.cache.filter(({ id, available, shardId }) => {
    return available && shardId === shard && (only === undefined || id === only);
  });
}

/** The channels and open threads on a connection in which anybody said something since. */
function busyChannels({ client }: CatchUpPlan, absence: Absence, sinceMs: number): string[] {
  const since = firstIdAt(sinceMs);
  return serversOf(client, absence)
    .flatMap((guild) => guild.channels.cache)
    .filter((channel) => channel.isTextBased() && compareIds(channel.lastMessageId ?? "", since) >= 0)
    .map(({ id }) => id);
}

/** A few at a time. */
async function forEach<T>(
  items: readonly T[],
  goesOn: () => boolean,
  look: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let item = items[next++]; item !== undefined && goesOn(); item = items[next++]) await look(item);
  };
  await Promise.all(Array.from({ length: placesAtOnce }, work));
}
