import type { Interaction } from "./interaction.ts";
import type { Channel, Guild, GuildChannel, Member, Message, Role, Thread } from "./state.ts";
import type { World } from "./world.ts";

/** Everything that can happen in the sandbox: what the gateway tells bots of, and what waiting tests look at. */
export type Change =
  | { readonly type: "message-created"; readonly message: Message }
  | { readonly type: "message-edited"; readonly message: Message }
  | { readonly type: "message-deleted"; readonly message: Message }
  | { readonly type: "messages-deleted"; readonly channel: Channel; readonly messages: readonly Message[] }
  | { readonly type: "thread-created"; readonly thread: Thread }
  | { readonly type: "thread-updated"; readonly thread: Thread }
  | { readonly type: "thread-deleted"; readonly thread: Thread }
  | {
      readonly type: "thread-members-changed";
      readonly thread: Thread;
      readonly joined: readonly string[];
      readonly left: readonly string[];
    }
  | { readonly type: "channel-created"; readonly channel: GuildChannel }
  | { readonly type: "channel-updated"; readonly channel: GuildChannel }
  | { readonly type: "channel-deleted"; readonly channel: GuildChannel }
  /** The bot sees a channel that it didn't see before. */
  | { readonly type: "channel-in-sight"; readonly channel: GuildChannel }
  | { readonly type: "guild-available"; readonly guild: Guild }
  | { readonly type: "guild-unavailable"; readonly guild: Guild }
  | { readonly type: "guild-left"; readonly guild: Guild }
  | { readonly type: "role-created"; readonly guildId: string; readonly role: Role }
  | { readonly type: "role-updated"; readonly guildId: string; readonly role: Role }
  | { readonly type: "member-joined"; readonly guildId: string; readonly member: Member }
  | { readonly type: "member-updated"; readonly guildId: string; readonly member: Member }
  | { readonly type: "member-left"; readonly guildId: string; readonly member: Member }
  | { readonly type: "typing"; readonly channelId: string; readonly userId: string }
  /** It ended by itself, of which Discord tells nobody. */
  | { readonly type: "typing-over" }
  | { readonly type: "interaction-created"; readonly interaction: Interaction }
  | { readonly type: "interaction-answered"; readonly interaction: Interaction }
  | { readonly type: "commands-registered" }
  /** A request was counted, a socket came or went. */
  | { readonly type: "traffic" };

/** The server in which it happened; a DM has none. */
export function guildIdOf(world: World, change: Change): string | undefined {
  if ("guildId" in change) return change.guildId;
  if ("guild" in change) return change.guild.id;
  if ("thread" in change) return change.thread.guildId;
  const channel = world.state.channels[channelIdOf(change) ?? ""];
  return channel && "guildId" in channel ? channel.guildId : undefined;
}

function channelIdOf(change: Change): string | undefined {
  if ("channel" in change) return change.channel.id;
  if ("message" in change) return change.message.channelId;
  if ("interaction" in change) return change.interaction.channelId;
  return "channelId" in change ? change.channelId : undefined;
}
