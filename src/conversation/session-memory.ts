import { hasCode, ThreadkeeperError } from "../errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { withAttachments } from "./attachment-note.ts";
import type { Calls } from "./calls.ts";
import { type InboundOf, saysNothing } from "./inbound.ts";
import type { Amendment, Heard, Memory } from "./memory.ts";

const pageSize = 200;
/** How many events are looked at for what is known of a conversation. */
const newestEvents = 300;

/** The memory of the sessions that there are, and of the calls that bring something into them right now. */
export class SessionMemory implements Memory {
  readonly #sessions: SessionManager;
  readonly #calls: Calls;

  constructor(sessions: SessionManager, calls: Calls) {
    this.#sessions = sessions;
    this.#calls = calls;
  }

  async amend({ sessionIds, id, text, attachments }: Amendment): Promise<boolean> {
    // Where nothing is left to answer, what was said first stands.
    if (saysNothing({ text, attachments })) return false;
    const bringing = this.#calls.bringing((message) => message.id === id);
    const atStore = bringing.filter((call) => !call.reword(text, attachments));
    if (bringing.length > atStore.length) return true;
    await Promise.all(atStore.map(({ stored }) => stored));
    const input = { id, content: withAttachments(text, attachments) };
    for (const sessionId of new Set([...atStore.map((call) => call.sessionId), ...sessionIds])) {
      if (await this.#sessions.amend(sessionId, input)) return true;
    }
    return false;
  }

  async erase(ids: readonly string[]): Promise<number> {
    await this.#withdraw("its message was deleted", ({ id }) => ids.includes(id));
    return (await this.#sessions.erase(ids)).length;
  }

  async forget(sessionId: string): Promise<boolean> {
    await this.#withdraw("its place is gone", (message) => message.sessionId === sessionId);
    // The store forgets first, so that nothing which a run still writes is taken.
    const existed = await this.#sessions.delete(sessionId);
    for (const call of this.#calls.takenIn(sessionId)) call.abort(lost("the session was deleted"));
    return existed;
  }

  async forgetPlace(place: string): Promise<number> {
    await this.#withdraw("its place is gone", ({ places }) => places.includes(place));
    let count = 0;
    for (const sessionId of await this.#list({ place })) if (await this.forget(sessionId)) count += 1;
    return count;
  }

  places(prefix: string): Promise<readonly string[]> {
    return this.#sessions.places(prefix);
  }

  sessionsIn(place: string, activeSince: Date): Promise<readonly string[]> {
    return this.#list({ place, activeSince });
  }

  async heard(sessionId: string): Promise<Heard> {
    const said: string[] = [];
    const nearby: string[] = [];
    let left = newestEvents;
    try {
      for await (const event of this.#sessions.history(sessionId, { direction: "backward" })) {
        if (event.author && !event.erased) said.push(event.id);
        nearby.push(...(event.context ?? []).map(({ id }) => id));
        left -= 1;
        if (left === 0) break;
      }
    } catch (error) {
      if (!hasCode(error, "SESSION_NOT_FOUND")) throw error;
    }
    const waiting = await this.#sessions.waiting(sessionId);
    return { waiting: waiting.toReversed(), said, nearby };
  }

  /** Calls that bring such a message come to nothing. Those that are at the store are waited for: it has them then. */
  async #withdraw(why: string, fits: (message: InboundOf<"message">) => boolean): Promise<void> {
    const atStore = this.#calls.bringing(fits).filter((call) => !call.withdraw(lost(why)));
    await Promise.all(atStore.map(({ stored }) => stored));
  }

  async #list(where: { readonly place: string; readonly activeSince?: Date }): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const after = ids.at(-1);
      const page = await this.#sessions.list({ ...where, limit: pageSize, ...(after !== undefined && { after }) });
      ids.push(...page.map(({ sessionId }) => sessionId));
      if (page.length < pageSize) return ids;
    }
  }
}

function lost(why: string): ThreadkeeperError {
  return new ThreadkeeperError("RUN_LOST", why);
}
