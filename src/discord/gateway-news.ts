import { GatewayDispatchEvents, type GatewayDispatchPayload, MessageFlags } from "discord.js";

/** What the gateway tells of things that were there before. */
export type GatewayNews =
  | { readonly news: "message-edited"; readonly channel: string; readonly message: string; readonly editedAt: number }
  | { readonly news: "messages-deleted"; readonly messages: readonly string[] }
  | { readonly news: "thread-gone"; readonly thread: string }
  | { readonly news: "channel-gone"; readonly channel: string }
  /** A server is out. */
  | { readonly news: "guild-out"; readonly guild: string }
  /** The bot was thrown out of a server, or it is no more. */
  | { readonly news: "guild-left"; readonly guild: string }
  /** A connection that begins anew: what was missed is not told. `guilds`: all that the bot is in, be they out or not. */
  | { readonly news: "began"; readonly guilds: readonly string[] };

/** Whose words are heard. */
export interface Listening {
  /** The bot's own id. */
  readonly me: string | undefined;
  /** Ids of bots that are listened to like people. */
  readonly allowedBots: ReadonlySet<string>;
}

/**
 * Reads a packet as it came, before discord.js does: that drops what happens in a direct conversation which it has not
 * seen since its start, and tells of a left server only if it knew it.
 */
export function readNews(packet: GatewayDispatchPayload, listening: Listening): GatewayNews | undefined {
  switch (packet.t) {
    case GatewayDispatchEvents.MessageUpdate: {
      const { id, channel_id, edited_timestamp: edited, author, webhook_id, flags = 0 } = packet.d;
      // A link preview comes without, and "is thinking…" that becomes an answer is none either.
      if (!edited || flags & MessageFlags.Loading) return undefined;
      // Bots that show a state edit all day long what nobody listens to.
      if (author && !isHeard(author.id, author.bot === true || webhook_id !== undefined, listening)) return undefined;
      return { news: "message-edited", channel: channel_id, message: id, editedAt: Date.parse(edited) };
    }
    case GatewayDispatchEvents.MessageDelete:
      return { news: "messages-deleted", messages: [packet.d.id] };
    case GatewayDispatchEvents.MessageDeleteBulk:
      return { news: "messages-deleted", messages: packet.d.ids };
    case GatewayDispatchEvents.ThreadDelete:
      return { news: "thread-gone", thread: packet.d.id };
    case GatewayDispatchEvents.ChannelDelete:
      return { news: "channel-gone", channel: packet.d.id };
    case GatewayDispatchEvents.GuildDelete:
      return { news: packet.d.unavailable ? "guild-out" : "guild-left", guild: packet.d.id };
    case GatewayDispatchEvents.Ready:
      return { news: "began", guilds: packet.d.guilds.map(({ id }) => id) };
    default:
      return undefined;
  }
}

function isHeard(author: string, isBot: boolean, { me, allowedBots }: Listening): boolean {
  return author !== me && (!isBot || allowedBots.has(author));
}
