import type { Message } from "discord.js";
import { ThreadkeeperError } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { Painter } from "../reply/reply-view.ts";
import { errorWording } from "../reply/wording.ts";
import { permissionMissing } from "./permissions.ts";
import { type Place, toReplyTo } from "./place.ts";

/** How long the same thing is not said again in the same channel, in milliseconds. */
const silenceMs = 10 * 60_000;

/** Says in a channel why the bot can't do there what it should; the same thing only once in a while. */
export class Complaints {
  readonly #painter: Painter;
  readonly #log: Logger;
  readonly #said = new Map<string, number>();

  constructor(painter: Painter, log: Logger) {
    this.#painter = painter;
    this.#log = log;
  }

  /** Said where the bot can speak: in the channel itself, or in the one that a thread belongs to. */
  permissionMissing(message: Message, permissions: readonly string[]): void {
    const { channel } = message;
    const parent = channel.isThread() ? channel.parentId : undefined;
    const place = parent ? { channel: parent } : { channel: channel.id, message: message.id };
    this.#say(place, permissionMissing(permissions), permissions.join(), message.id);
  }

  /** Said each time, since each time an answer stands where nobody expects it. */
  tooManyThreads({ channelId, id, guildId }: Message): void {
    const error = new ThreadkeeperError(
      "DISCORD_TOO_MANY_THREADS",
      `server ${guildId} has as many active threads as Discord allows; archive some`,
      { fields: { answeredHere: true } },
    );
    this.#say({ channel: channelId, message: id }, error, id, id);
  }

  /** @param about the message that is the reason: other processes say the same of it */
  #say(place: Place, error: ThreadkeeperError, what: string, about: string): void {
    this.#log.warn({ channel: place.channel, ...error.fields, code: error.code }, error.message);
    const now = Date.now();
    const key = `${place.channel} ${error.code} ${what}`;
    if (now - (this.#said.get(key) ?? Number.NEGATIVE_INFINITY) < silenceMs) return;
    for (const [old, at] of this.#said) if (now - at >= silenceMs) this.#said.delete(old);
    this.#said.set(key, now);
    const chunks = [errorWording(error)];
    const notice = `${error.code} ${about}`;
    void this.#painter.draw({ notice, replyTo: toReplyTo(place), chunks, typing: false, finished: true });
  }
}
