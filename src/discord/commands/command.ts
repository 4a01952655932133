import type { ChatInputCommandInteraction, RESTPostAPIChatInputApplicationCommandsJSONBody } from "discord.js";
import type { Conversation } from "../../conversation/conversation.ts";
import type { Logger } from "../../log.ts";
import type { ReplyView } from "../../reply/reply-view.ts";
import type { MessageWriter } from "../message-writer.ts";
import type { RequestBudget } from "../request-budget.ts";

export type CommandDefinition = RESTPostAPIChatInputApplicationCommandsJSONBody;

/** What a command works with. */
export interface CommandTools {
  readonly conversation: Conversation;
  readonly budget: RequestBudget;
  readonly writer: MessageWriter;
  readonly log: Logger;
  /** The model's name for /help, if it is to be told. */
  readonly modelName: string | undefined;
  readonly commands: readonly Command[];
}

/** A slash command. It has been acknowledged when `run` is called; what it yields is its answer. */
export interface Command {
  /** As Discord takes it: https://discord.com/developers/docs/interactions/application-commands */
  readonly definition: CommandDefinition;
  /** Only who gave the command sees the answer. */
  readonly ephemeral: boolean;
  run(interaction: ChatInputCommandInteraction, tools: CommandTools): AsyncIterable<ReplyView>;
}
