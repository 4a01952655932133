import type { Change } from "../world/change.ts";
import type { Message } from "../world/state.ts";
import type { World } from "../world/world.ts";
import { channelText } from "./channel-text.ts";

export interface Patience {
  /** Default 10,000. */
  readonly timeoutMs?: number;
}

/**
 * Waits until `read` gives something, looking again whenever anything happens in the sandbox; nothing is polled.
 * Rejects after `timeoutMs` with what `describe` says, or at once with what `read` throws.
 */
export function until<Found>(
  world: World,
  read: (change?: Change) => Found | undefined | null | false,
  { timeoutMs = 10_000 }: Patience = {},
  describe: () => string = () => `what was waited for didn't come about: ${read}`,
): Promise<Found> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      stop();
      clearTimeout(timer);
      settle();
    };
    const look = (change?: Change) => {
      try {
        const found = read(change);
        if (found !== undefined && found !== null && found !== false) end(() => resolve(found));
      } catch (error) {
        end(() => reject(error));
      }
    };
    const stop = world.onChange(look);
    const timer = setTimeout(() => end(() => reject(new Error(`${describe()} (${timeoutMs} ms)`))), timeoutMs);
    look();
  });
}

/** The next message in a channel of which `fits` is true, be it at once or after an edit. */
export function nextMessage(
  world: World,
  channelId: string,
  fits: (message: Message) => boolean,
  patience: Patience,
): Promise<Message> {
  const known = new Set(world.messages(channelId).map(({ id }) => id));
  const read = (change?: Change) => {
    if (change?.type !== "message-created" && change?.type !== "message-edited") return undefined;
    const { message } = change;
    return message.channelId === channelId && !known.has(message.id) && fits(message) ? message : undefined;
  };
  const describe = () => `no message came that fits ${fits}; the channel reads:\n${channelText(world, channelId)}\n`;
  return until(world, read, patience, describe);
}
