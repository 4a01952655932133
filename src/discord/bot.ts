import { randomUUID } from "node:crypto";
import {
  type ChatInputCommandInteraction,
  type Client,
  Events,
  type GatewayDispatchPayload,
  type Message,
} from "discord.js";
import type { Conversation } from "../conversation/conversation.ts";
import { ThreadkeeperError } from "../errors.ts";
import { type Logger, silentLogger } from "../log.ts";
import { type Painter, type ReplyView, replyViews } from "../reply/reply-view.ts";
import { errorWording } from "../reply/wording.ts";
import { Admission } from "./admission.ts";
import type { CatchUpLimits } from "./catch-up.ts";
import { createClient, destroyClient, inviteLink } from "./client.ts";
import { commands } from "./commands/all.ts";
import { registerCommands } from "./commands/registration.ts";
import { Complaints } from "./complaints.ts";
import { connect, connectionError } from "./connection.ts";
import { logConnection } from "./connection-log.ts";
import { Continuity } from "./continuity.ts";
import { toOurError } from "./discord-error.ts";
import { acknowledge, InteractionPainter } from "./interaction-painter.ts";
import { createMessageWriter, type MessageWriter } from "./message-writer.ts";
import { RequestBudget } from "./request-budget.ts";
import { Streams } from "./streams.ts";
import { ThreadPainter } from "./thread-painter.ts";
import { type Addressed, Threads } from "./threads.ts";

/** How long the end waits for what has still to be drawn, in milliseconds. */
const lastDrawingsMs = 5_000;

export interface BotPlan {
  readonly token: string;
  /** Where Discord's API is, without a version. Default: https://discord.com/api */
  readonly api?: string | undefined;
  readonly conversation: Conversation;
  /** Ids of bots that are listened to like people. The bot itself never is. */
  readonly allowedBots?: readonly string[];
  /** The model's name, if /help shall tell it. */
  readonly modelName?: string | undefined;
  /** Whether turns that this process was given are surely still its own; while they are not, none is drawn. Default: always. */
  readonly ownsTurns?: () => boolean;
  /** Called if Discord shuts the bot out for good while it runs (its token was reset, an intent taken away). */
  readonly onShutOut?: (error: ThreadkeeperError) => void;
  /**
   * What is heard of the time in which the bot was not there. `since`: when a process like this last was; absent, if
   * none ever was. Default: nothing is caught up with, and places that went meanwhile are not forgotten.
   */
  readonly catchUp?: CatchUpLimits & { readonly since: Date | undefined };
  /** How long the start waits for Discord, in milliseconds. Default 45,000. */
  readonly readyWithinMs?: number;
  readonly log?: Logger;
}

export interface BotReady {
  /** Where the owner of a server invites the bot. */
  readonly inviteLink: string;
  readonly userName: string;
  readonly userId: string;
  readonly guilds: readonly { readonly id: string; readonly name: string }[];
}

/** The door to Discord: what is said to the bot goes into the conversation, what comes out is drawn. */
export interface Bot {
  /**
   * Resolves when messages are heard. Commands are registered meanwhile, or their failure is logged.
   * @throws ThreadkeeperError `DISCORD_TOKEN_REFUSED`, `DISCORD_INTENT_REFUSED`, `DISCORD_UNREACHABLE`, `DISCORD_FAILED`
   */
  start(): Promise<BotReady>;
  /** Takes up what a process that is gone left unanswered in these sessions. Returns at once. */
  resume(sessionIds: readonly string[]): void;
  /** Whether everything that was said to the bot was heard, and what is said now is too. */
  isListening(): boolean;
  /** Resolves when nothing that was said to the bot is being answered or drawn. */
  idle(): Promise<void>;
  /** First step of an orderly end: nothing new is handed to the conversation. */
  closeIntake(): void;
  /** Last step: waits until what is left is drawn, at most 5 s, then leaves Discord. */
  stop(): Promise<void>;
}

export function createBot(plan: BotPlan): Bot {
  return new DiscordBot(plan);
}

class DiscordBot implements Bot {
  readonly #plan: BotPlan;
  readonly #log: Logger;
  readonly #client: Client;
  readonly #budget = new RequestBudget();
  readonly #writer: MessageWriter;
  readonly #painter: ThreadPainter;
  readonly #admission: Admission;
  readonly #threads: Threads;
  readonly #continuity: Continuity;
  readonly #streams: Streams;
  #open = true;

  constructor(plan: BotPlan) {
    this.#plan = plan;
    this.#log = plan.log ?? silentLogger;
    this.#client = createClient(plan);
    const log = this.#log;
    const shared = { budget: this.#budget, log };
    const apology = errorWording(new ThreadkeeperError("DISCORD_FAILED", "an answer could not be posted"));
    this.#writer = createMessageWriter(this.#client);
    this.#painter = new ThreadPainter({ ...shared, writer: this.#writer, ownsTurns: plan.ownsTurns, apology });
    const complaints = new Complaints(this.#painter, log);
    const allowedBots = new Set(plan.allowedBots);
    this.#admission = new Admission({ complaints, allowedBots, log });
    this.#threads = new Threads({ ...shared, complaints });
    this.#streams = new Streams(log);
    this.#continuity = new Continuity({
      ...shared,
      client: this.#client,
      memory: plan.conversation.memory,
      streams: this.#streams,
      catchUp: plan.catchUp,
      allowedBots,
      sessionAsked: (message) => this.#admission.sessionAsked(message),
      hear: (message) => this.#hear(message),
      goesOn: () => this.#open,
    });
  }

  async start(): Promise<BotReady> {
    const client = this.#client;
    client.on(Events.Raw, (packet: GatewayDispatchPayload, shard: number) => this.#continuity.learn(packet, shard));
    client.on(Events.MessageCreate, (message) => this.#continuity.pass(message));
    client.on(Events.InteractionCreate, (interaction) => {
      if (interaction.isChatInputCommand()) this.#streams.follow(this.#command(interaction));
    });
    logConnection(client, this.#log, () => this.#open);
    const ready = await connect(client, this.#plan.token, this.#plan.readyWithinMs);
    client.on(Events.ShardDisconnect, ({ code }) => this.#shutOut(connectionError(code)));
    this.#streams.follow(this.#register(ready));
    client.on(Events.GuildAvailable, (guild) => this.#continuity.available(ready, guild));
    client.on(Events.ShardReady, (shard) => this.#continuity.ready(ready, shard));
    for (const shard of client.ws.shards.keys()) this.#continuity.ready(ready, shard);
    const guilds = ready.guilds.cache.map(({ id, name }) => ({ id, name }));
    return {
      inviteLink: inviteLink(ready.application.id),
      userName: ready.user.displayName,
      userId: ready.user.id,
      guilds,
    };
  }

  resume(sessionIds: readonly string[]): void {
    // What was deleted or edited meanwhile is not answered as it was.
    const views = async (sessionId: string) => {
      await this.#continuity.caughtUp();
      await this.#draw(replyViews(this.#plan.conversation.resume(sessionId)));
    };
    for (const sessionId of sessionIds) this.#streams.follow(views(sessionId));
  }

  isListening(): boolean {
    return this.#open && this.#client.isReady() && this.#continuity.isWhole();
  }

  idle(): Promise<void> {
    return this.#streams.idle();
  }

  closeIntake(): void {
    this.#open = false;
  }

  async stop(): Promise<void> {
    this.closeIntake();
    await this.#streams.settle(lastDrawingsMs);
    this.#painter.close();
    await destroyClient(this.#client);
  }

  /** Synchronous up to the conversation: messages take their places in the order in which they came. */
  #hear(message: Message): void {
    if (!this.#open) return;
    const addressed = this.#admission.admit(message);
    if (!addressed) return;
    const { ground, inbound } = addressed;
    if (ground === "new-thread" && inbound.text === "" && inbound.attachments.length === 0) {
      this.#streams.follow(this.#greet(addressed));
      return;
    }
    const prepare = (signal: AbortSignal) => this.#threads.prepare(addressed, signal);
    this.#streams.follow(this.#draw(replyViews(this.#plan.conversation.handle(inbound, prepare))));
  }

  /** Only called, and nothing said: that is no turn, but the thread is opened, so that it can be said there. */
  async #greet(addressed: Addressed): Promise<void> {
    const { replyTo = addressed.inbound.replyTo } = await this.#threads.prepare(addressed);
    await this.#draw(replyViews(this.#plan.conversation.handle({ ...addressed.inbound, replyTo })));
  }

  /** The one stream: views become messages. A turn is drawn in its thread, whoever brought it on; `notices` the rest. */
  async #draw(views: AsyncIterable<ReplyView>, notices: Painter = this.#painter): Promise<void> {
    let last: ReplyView | undefined;
    try {
      for await (const view of views) {
        last = view;
        await (view.turn === undefined ? notices : this.#painter).draw(view);
      }
    } finally {
      if (last && !last.finished) this.#painter.drop(last);
    }
  }

  async #command(interaction: ChatInputCommandInteraction): Promise<void> {
    const command = commands.find(({ definition }) => definition.name === interaction.commandName);
    if (!this.#open || !command) return;
    if (!(await acknowledge(interaction, { ephemeral: command.ephemeral, log: this.#log }))) return;
    const { conversation, modelName } = this.#plan;
    const painter = new InteractionPainter(interaction, this.#log);
    try {
      const tools = { budget: this.#budget, writer: this.#writer, log: this.#log };
      await this.#draw(command.run(interaction, { conversation, modelName, commands, ...tools }), painter);
    } catch (thrown) {
      // Whoever gave the command would otherwise look at "is thinking…" for good.
      const error = toOurError(thrown, `/${command.definition.name} came to nothing`);
      const reference = randomUUID().slice(0, 8);
      this.#log.error({ err: error, code: error.code, reference }, error.message);
      const chunks = [errorWording(error, reference)];
      await painter.draw({ notice: error.code, replyTo: null, chunks, typing: false, finished: true });
    }
  }

  async #register(client: Client<true>): Promise<void> {
    try {
      const definitions = commands.map(({ definition }) => definition);
      const changed = await registerCommands(client, definitions, this.#budget);
      if (changed) this.#log.info({ commands: definitions.map(({ name }) => name) }, "commands registered");
    } catch (error) {
      this.#log.error({ err: error }, "the commands could not be registered; messages are answered all the same");
    }
  }

  #shutOut(error: ThreadkeeperError): void {
    this.#log.fatal({ err: error }, error.message);
    this.#plan.onShutOut?.(error);
  }
}
