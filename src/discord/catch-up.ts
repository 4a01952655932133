import type { Client, Message } from "discord.js";
import type { Memory } from "../conversation/memory.ts";
import type { Logger } from "../log.ts";
import type { Absence } from "./absences.ts";
import { fairShare } from "./fair-share.ts";
import { HistoryReader } from "./history-reader.ts";
import type { Hold } from "./live-gate.ts";
import { MissedMessages } from "./missed-messages.ts";
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
  readonly hold: Hold;
  readonly limits: CatchUpLimits;
  /** The session that would answer a message of earlier; `undefined`: it wants no answer any more. */
  readonly sessionAsked: (message: Message) => string | undefined;
  /** The door for live messages. */
  readonly hear: (message: Message) => void;
  /** `false`: the bot is about to end. */
  readonly goesOn: () => boolean;
  readonly log: Logger;
}

const hourMs = 60 * 60_000;
/**
 * What was said so shortly before the absence may not have come to the store: its thread was still being opened, or the
 * connection was dead already and nobody knew. Discord's clock may differ, too. What is heard twice is answered once.
 */
const unsureMs = 120_000;
const placesAtOnce = 4;
/** Fewer than may wait in one session. */
const mostOfOnePlace = 40;

/**
 * Hears what was said while nobody listened: in the conversations that are known, archived or not, and calls in
 * channels. There is no cursor: everything goes through the door for live messages, where what is known is discarded.
 * Resolves to the channels and threads that another try may be able to read.
 */
export async function catchUp(plan: CatchUpPlan, absence: Absence): Promise<string[]> {
  const { client, hold, limits, log, hear, goesOn } = plan;
  if (limits.hours === 0) return [];
  const oldest = Date.now() - limits.hours * hourMs;
  const since = absence.since && Math.max(absence.since.getTime() - unsureMs, oldest);
  // At once: where something is said only from now on, nothing was missed.
  const busy = since === undefined ? [] : busyChannels(plan, absence, since);
  const known = await knownPlaces(plan, absence, new Date(oldest));
  const { channels = [...busy, ...known] } = absence;
  const places = [...new Set(channels)];
  hold.only(places);

  const span = { since: firstIdAt(since ?? Date.now()), oldest: firstIdAt(oldest) };
  const missed = new MissedMessages({ ...plan, ...span, reader: new HistoryReader(plan) });
  const found: Message[][] = [];
  const calls = new Set<string>();
  const look = async (place: string) => {
    const messages = await missed.in(place, known.has(place));
    if (messages.length === 0 && !calls.has(place)) hold.open(place);
    found.push(messages);
  };
  // Calls first: where a thread was opened on one of them, it comes before what was said in the thread.
  const isThread = (id: string) => client.channels.cache.get(id)?.isThread() ?? true;
  const threads = places.filter(isThread);
  await forEach(
    places.filter((id) => !isThread(id)),
    goesOn,
    look,
  );
  for (const { id } of found.flat()) calls.add(id);
  await forEach(threads, goesOn, look);

  if (!goesOn()) return [];
  // A call whose thread was deleted was answered there, and is not called out again.
  const open = found.map((messages) => messages.filter(({ id }) => !missed.gone.has(id)));
  const chosen = fairShare(open, limits.messages, mostOfOnePlace).flat();
  for (const message of chosen.sort((one, other) => compareIds(one.id, other.id))) {
    const now = hold.isReworded(message.id) ? await readAgain(message, plan) : message;
    if (goesOn() && !hold.isWithdrawn(message.channelId, message.id)) hear(now);
  }
  const counts = {
    messages: chosen.length,
    left: open.flat().length - chosen.length,
    conversations: places.filter((id) => known.has(id)).length,
    channels: places.filter((id) => !known.has(id)).length,
    erasedIn: missed.erasedIn,
    gone: missed.gone.size,
    unread: missed.unread.size,
  };
  log.info(counts, "caught up with what was said meanwhile");
  return [...missed.unread];
}

/** A message as it is now, if that can be found out. */
async function readAgain(message: Message, { budget }: CatchUpPlan): Promise<Message> {
  return budget.run(`messages of ${message.channelId}`, () => message.fetch(true)).catch(() => message);
}

/** The conversations on a connection in which something was said since. */
async function knownPlaces({ client, memory }: CatchUpPlan, absence: Absence, since: Date): Promise<Set<string>> {
  const me = client.user.id;
  const places = serversOf(client, absence).map(({ id }) => guildPlace(me, id));
  if (absence.shard === 0 && absence.only === undefined) places.push(directPlace(me));
  const found = new Set<string>();
  for (const place of places) {
    for (const sessionId of await memory.sessionsIn(place, since)) {
      const channel = channelOf(sessionId);
      if (channel !== undefined) found.add(channel);
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
