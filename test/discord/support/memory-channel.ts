import type { ChannelPage } from "../../../src/discord/adoption.ts";
import type { MessageWriter, SendOptions } from "../../../src/discord/message-writer.ts";

interface Posted {
  readonly id: string;
  readonly channel: string;
  readonly replyTo: string | undefined;
  readonly nonce: string;
  readonly kind: SendOptions["kind"];
  content: string;
}

/** Channels that live in memory: what is written stands there, every request takes 20 ms and is noted. */
export class MemoryChannels implements MessageWriter {
  readonly posted: Posted[] = [];
  readonly requests: { readonly what: string; readonly channel: string; readonly at: number }[] = [];
  /** Errors that the next requests meet, in order; `undefined`: none. Typing is not counted. */
  readonly failures: unknown[] = [];
  /** The same for requests that read. */
  readonly readFailures: unknown[] = [];
  /** Whether a nonce is known for ever, or not at all. */
  knowsNonces = true;
  /** How long a typing call takes. */
  typingMs = 0;
  readonly #lost: unknown[] = [];
  #open = 0;
  #sent = 0;
  /** The most requests that were ever under way at once, typing left out. */
  mostAtOnce = 0;

  async send(
    place: { readonly channel: string; readonly message?: string },
    content: string,
    { nonce, reply, kind, signal }: SendOptions,
  ): Promise<{ readonly id: string; readonly content: string }> {
    await this.#request("send", place.channel);
    signal?.throwIfAborted();
    const before = this.knowsNonces && this.posted.find((message) => message.nonce === nonce);
    const options = { nonce, replyTo: reply ? place.message : undefined, kind };
    const { id, content: standing } = before || this.post(place.channel, content, options);
    const lost = this.#lost.shift();
    if (lost !== undefined) throw lost;
    return { id, content: standing };
  }

  /** The next send is carried out, and its answer is this error. */
  loseAnswer(error: unknown): void {
    this.#lost.push(error);
  }

  /** Somebody has sent a message. */
  post(channel: string, content: string, options: Partial<Omit<Posted, "id" | "channel" | "content">> = {}): Posted {
    this.#sent += 1;
    const defaults = { replyTo: undefined, nonce: "", kind: "chunk" } as const;
    const posted: Posted = { ...defaults, ...options, id: `m${this.#sent}`, channel, content };
    this.posted.push(posted);
    return posted;
  }

  /** One page holds it all. */
  async read(channel: string): Promise<ChannelPage> {
    this.requests.push({ what: "read", channel, at: Date.now() });
    const failure = this.readFailures.shift();
    if (failure !== undefined) throw failure;
    const chunks = this.posted.filter((message) => message.channel === channel && message.kind === "chunk");
    return { chunks: chunks.map(({ id, content, replyTo }) => ({ id, content, replyTo })), next: undefined };
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
