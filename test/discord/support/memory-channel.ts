import type { MessageWriter } from "../../../src/discord/message-writer.ts";

interface Posted {
  readonly id: string;
  readonly channel: string;
  readonly replyTo: string | undefined;
  readonly nonce: string;
  content: string;
}

/** Channels that live in memory: what is written stands there, every request takes 20 ms and is noted. */
export class MemoryChannels implements MessageWriter {
  readonly posted: Posted[] = [];
  readonly requests: { readonly what: string; readonly channel: string; readonly at: number }[] = [];
  /** Errors that the next requests meet, in order; `undefined`: none. Typing is not counted. */
  readonly failures: unknown[] = [];
  /** How long a typing call takes. */
  typingMs = 0;
  #open = 0;
  /** The most requests that were ever under way at once, typing left out. */
  mostAtOnce = 0;

  async send(
    place: { readonly channel: string; readonly message?: string },
    content: string,
    { nonce, reply }: { readonly nonce: string; readonly reply: boolean },
  ): Promise<string> {
    await this.#request("send", place.channel);
    const before = this.posted.find((message) => message.nonce === nonce);
    if (before) return before.id;
    const id = `m${this.posted.length}`;
    this.posted.push({ id, channel: place.channel, replyTo: reply ? place.message : undefined, nonce, content });
    return id;
  }

  async edit(channel: string, message: string, content: string): Promise<void> {
    await this.#request("edit", channel);
    for (const posted of this.posted) if (posted.id === message) posted.content = content;
  }

  async remove(channel: string, message: string): Promise<void> {
    await this.#request("remove", channel);
    const index = this.posted.findIndex(({ id }) => id === message);
    if (index >= 0) this.posted.splice(index, 1);
  }

  async showTyping(channel: string): Promise<void> {
    this.requests.push({ what: "typing", channel, at: Date.now() });
    await new Promise((resolve) => setTimeout(resolve, this.typingMs));
    this.requests.push({ what: "typed", channel, at: Date.now() });
  }

  text(channel: string): string[] {
    return this.posted.filter((message) => message.channel === channel).map(({ content }) => content);
  }

  async #request(what: string, channel: string): Promise<void> {
    this.requests.push({ what, channel, at: Date.now() });
    this.#open += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open);
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.#open -= 1;
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
  }
}
