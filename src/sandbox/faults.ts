import { OverwriteType, PermissionFlagsBits } from "discord-api-types/v10";
import type { BotAccess, PrivilegedIntent } from "./bot-access.ts";
import type { Gateway } from "./gateway/gateway.ts";
import { type ChannelReference, findChannel } from "./people/channel-reference.ts";
import type { Delay, Failure, RequestFaults } from "./rest/request-faults.ts";
import { isGuildChannel, isThread } from "./world/channel-kinds.ts";
import type { PermissionName } from "./world/permissions.ts";
import type { GuildChannel, Message } from "./world/state.ts";
import type { World } from "./world/world.ts";

/** Everything that can be made to go wrong. What returns a function is ended by calling it. */
export class Faults {
  readonly #world: World;
  readonly #gateway: Gateway;
  readonly #access: BotAccess;
  readonly #requests: RequestFaults;

  constructor(parts: { world: World; gateway: Gateway; access: BotAccess; requests: RequestFaults }) {
    this.#world = parts.world;
    this.#gateway = parts.gateway;
    this.#access = parts.access;
    this.#requests = parts.requests;
  }

  /** The next requests fail, by default the next one that sends a message. */
  fail(failure: Failure): () => void {
    return this.#requests.fail(failure);
  }

  /** The next requests are answered late. */
  slow(delay: Delay): () => void {
    return this.#requests.delay(delay);
  }

  /** Cuts the bot's connections; `resumable` says whether RESUME will work. */
  dropSockets(options: { readonly resumable: boolean }): void {
    this.#gateway.dropSockets(options);
  }

  /** Asks the bot to connect again (operation 7). */
  askToReconnect(): void {
    this.#gateway.askToReconnect();
  }

  /** Tells the bot of a message once more. */
  redeliver(message: Message): void {
    this.#gateway.tell({ type: "message-created", message });
  }

  /** As if switched off in the developer portal: from the next IDENTIFY on. */
  refuseIntent(intent: PrivilegedIntent): () => void {
    this.#access.intents.delete(intent);
    return () => this.#access.intents.add(intent);
  }

  /** Takes a permission away from the bot, in one channel or in all that there are. */
  takeAway(permission: PermissionName, place: { readonly in?: ChannelReference } = {}): () => void {
    const channels = this.#channels(place.in);
    const before = channels.map(({ id, overwrites }) => ({ id, overwrites }));
    const id = this.#world.state.botId;
    for (const channel of channels) {
      const own = channel.overwrites.find((overwrite) => overwrite.id === id);
      const deny = String(BigInt(own?.deny ?? 0) | PermissionFlagsBits[permission]);
      const overwrites = channel.overwrites.filter((overwrite) => overwrite !== own);
      this.#world.changeChannel(channel.id, {
        overwrites: [...overwrites, { id, type: OverwriteType.Member, allow: own?.allow ?? "0", deny }],
      });
    }
    return () => {
      for (const { id: channelId, overwrites } of before) this.#world.changeChannel(channelId, { overwrites });
    };
  }

  #channels(reference: ChannelReference | undefined): GuildChannel[] {
    if (reference === undefined) return Object.values(this.#world.state.channels).filter(isGuildChannel);
    const channel = findChannel(this.#world, reference);
    const place = isThread(channel) ? this.#world.channel(channel.parentId) : channel;
    return isGuildChannel(place) ? [place] : [];
  }

  /** Somebody with every right deletes a message. */
  deleteMessage(message: Message): void {
    this.#world.removeMessage(this.#world.message(message.channelId, message.id));
  }

  /** Somebody with every right deletes several messages of a channel at once. */
  deleteMessages(messages: readonly Message[]): void {
    const [first] = messages;
    if (!first) return;
    const gone = messages.map((message) => this.#world.message(message.channelId, message.id));
    this.#world.removeMessages(first.channelId, gone);
  }

  /** Somebody with every right deletes a channel or a thread. */
  deleteChannel(channel: ChannelReference): void {
    this.#world.removeChannel(findChannel(this.#world, channel).id);
  }

  /** The servers are out: the bot is told so, and hears nothing of them until it ends. */
  outage(): () => void {
    const guilds = this.#world.guildsOf(this.#world.state.botId);
    for (const guild of guilds) {
      this.#world.outages.add(guild.id);
      this.#world.announce({ type: "guild-unavailable", guild });
    }
    return () => {
      for (const { id } of guilds) {
        this.#world.outages.delete(id);
        this.#world.announce({ type: "guild-available", guild: this.#world.guild(id) });
      }
    };
  }

  /** The bot is thrown out of a server. */
  removeBot(guild: { readonly id: string }): void {
    this.#world.removeMember(guild.id, this.#world.state.botId);
  }

  /** How many threads a server may have open; past it the answer is 160006. */
  limitActiveThreads(most: number): () => void {
    const before = this.#world.maxActiveThreads;
    this.#world.maxActiveThreads = most;
    return () => {
      this.#world.maxActiveThreads = before;
    };
  }
}
