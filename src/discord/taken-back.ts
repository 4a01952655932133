import type { Logger } from "../log.ts";
import { takenBackWording } from "../reply/wording.ts";
import { beginReading, type Chunk, chunksOf, type Reading, readOn } from "./adoption.ts";
import { isGone } from "./discord-error.ts";
import type { MessageWriter } from "./message-writer.ts";
import type { Place } from "./place.ts";
import type { RequestBudget } from "./request-budget.ts";

export interface TakingBack {
  readonly writer: MessageWriter;
  readonly budget: RequestBudget;
  readonly log: Logger;
}

/** Looks after which something that was on its way is taken for gone. */
const mostLooks = 4;

/**
 * Removes the bot's answer to a message; what can't be removed is struck. It is looked for as one that is adopted is,
 * and again until there is none, since some of it may still have been on its way.
 * @param asked the message, by the id of its input: in a thread that was opened on it, it stands elsewhere
 * @returns whether nothing of it stands any more; what went wrong is logged
 */
export async function takeBack(channel: string, asked: string, tools: TakingBack): Promise<boolean> {
  const struck = new Set<string>();
  try {
    for (let look = 0; look < mostLooks; look += 1) {
      const standing = (await answersTo(channel, asked, tools)).filter(({ id }) => !struck.has(id));
      if (standing.length === 0) return struck.size === 0;
      for (const { id } of standing.toReversed()) if (!(await remove(channel, id, tools))) struck.add(id);
    }
  } catch (error) {
    tools.log.warn({ channel, err: error }, "an answer that was undone could not be removed");
  }
  return false;
}

/** A message has its thread's id if the thread was opened on it, and if it began a forum's post, where it can be replied to. */
async function answersTo(channel: string, asked: string, tools: TakingBack): Promise<Chunk[]> {
  const place: Place = { channel, message: asked };
  const found = await readAll(place, tools);
  return [...(asked === channel ? chunksOf(found, { channel }) : []), ...chunksOf(found, place)];
}

async function readAll(place: Place, { writer, budget }: TakingBack): Promise<readonly Chunk[]> {
  let reading: Reading = beginReading(place);
  for (let isWhole = false; !isWhole; ) {
    const { after } = reading;
    const page = await budget.run(`messages of ${place.channel}`, () => writer.read(place.channel, after));
    ({ reading, isWhole } = readOn(reading, page, place));
  }
  return reading.found;
}

/** @returns whether it is gone */
async function remove(channel: string, message: string, { writer, budget, log }: TakingBack): Promise<boolean> {
  const within = (request: () => Promise<void>) => budget.run(`messages of ${channel}`, request);
  try {
    await within(() => writer.remove(channel, message));
    return true;
  } catch (error) {
    if (isGone(error)) return true;
    log.warn({ channel, message, err: error }, "a message could not be removed");
    await within(() => writer.edit(channel, message, takenBackWording));
    return false;
  }
}
