import type { Message, Sandbox } from "../sandbox/sandbox.ts";

/** How long a message must stay as it is before it is read out, in milliseconds: answers grow by an edit a second. */
const restMs = 1_200;

/**
 * Reads a channel out as it goes on: each message when it has come to rest, and of the last one, as
 * it goes on growing, only what is new.
 */
export class ChannelReader {
  readonly #sandbox: Sandbox;
  readonly #print: (text: string, message: Message) => void;
  readonly #stop: () => void;
  readonly #printed = new Map<string, string>();
  readonly #resting = new Map<string, { readonly message: Message; readonly timer: NodeJS.Timeout }>();
  #channelId: string;
  #lastId: string | undefined;

  constructor(sandbox: Sandbox, channelId: string, print: (text: string, message: Message) => void) {
    this.#sandbox = sandbox;
    this.#channelId = channelId;
    this.#print = print;
    this.#stop = sandbox.onChange((change) => {
      if (change.type === "message-created" || change.type === "message-edited") this.#hear(change.message);
    });
  }

  /** Turns to another channel and reads out its last messages. */
  turnTo(channelId: string, last = 0): void {
    this.flush();
    this.#channelId = channelId;
    const messages = this.#sandbox.messages(channelId);
    for (const message of messages.slice(Math.max(0, messages.length - last))) this.#read(message);
  }

  /** Reads out at once what has not come to rest. */
  flush(): void {
    for (const { message, timer } of this.#resting.values()) {
      clearTimeout(timer);
      this.#read(message);
    }
  }

  close(): void {
    this.#stop();
    this.flush();
  }

  #hear(message: Message): void {
    if (message.channelId !== this.#channelId) return;
    clearTimeout(this.#resting.get(message.id)?.timer);
    const timer = setTimeout(() => this.#read(message), restMs);
    this.#resting.set(message.id, { message, timer });
  }

  #read(message: Message): void {
    this.#resting.delete(message.id);
    const text = this.#sandbox.messageText(message);
    const before = this.#printed.get(message.id);
    this.#printed.set(message.id, text);
    if (text === before) return;
    const goesOn = before !== undefined && text.startsWith(before) && this.#lastId === message.id;
    this.#lastId = message.id;
    this.#print(goesOn ? `  ${text.slice(before.length).trimStart()}` : text, message);
  }
}
