/** How long typing shows if no message ends it. */
export const typingMs = 10_000;

/** Who is seen typing. It can't be taken back: it ends by a message or by itself. */
export class Typing {
  readonly #until = new Map<string, { readonly channelId: string; readonly userId: string; readonly at: number }>();

  start(channelId: string, userId: string): void {
    this.#until.set(`${channelId}:${userId}`, { channelId, userId, at: Date.now() + typingMs });
  }

  end(channelId: string, userId: string): void {
    this.#until.delete(`${channelId}:${userId}`);
  }

  /** In one channel, or anywhere. */
  userIds(channelId?: string): string[] {
    return [...this.#until.values()]
      .filter((typing) => typing.at > Date.now() && (channelId === undefined || typing.channelId === channelId))
      .map(({ userId }) => userId);
  }
}
