import { InteractionResponseType, MessageFlags, MessageType } from "discord-api-types/v10";
import { DiscordError } from "./discord-error.ts";
import { checkDraft, type Draft, demandSomething } from "./drafts.ts";
import { type Edit, revise } from "./editing.ts";
import { type Asked, type Interaction, isMissed, tokenLifetime } from "./interaction.ts";
import { publish } from "./posting.ts";
import { type Message, newSecret } from "./state.ts";
import type { World } from "./world.ts";

/** A person asks something of the bot. */
export function ask(world: World, userId: string, channelId: string, asked: Asked): Interaction {
  return world.addInteraction({
    id: world.newId(),
    token: newSecret(),
    userId,
    channelId,
    at: Date.now(),
    asked,
    status: "open",
    followUpIds: [],
  });
}

/** How a bot may answer here; modals and suggestions are not in the sandbox yet. */
export type Callback =
  | { readonly type: InteractionResponseType.ChannelMessageWithSource; readonly draft: Draft }
  | { readonly type: InteractionResponseType.DeferredChannelMessageWithSource; readonly draft: Draft }
  | { readonly type: InteractionResponseType.DeferredMessageUpdate }
  | { readonly type: InteractionResponseType.UpdateMessage; readonly edit: Edit };

/** The acknowledgement: once, and within 3 seconds. Returns the message that it made or changed. */
export function acknowledge(world: World, id: string, token: string, callback: Callback): Message | undefined {
  const interaction = world.interactions.get(token);
  if (!interaction || interaction.id !== id || isMissed(interaction)) throw new DiscordError(10062);
  if (interaction.status !== "open") throw new DiscordError(40060);
  const { asked } = interaction;
  switch (callback.type) {
    case InteractionResponseType.ChannelMessageWithSource: {
      checkDraft(callback.draft);
      demandSomething(callback.draft);
      const answer = publishAnswer(world, interaction, callback.draft);
      world.changeInteraction(token, { status: "answered", originalId: answer.id });
      return answer;
    }
    case InteractionResponseType.DeferredChannelMessageWithSource: {
      const { flags } = callback.draft;
      const answer = publishAnswer(world, interaction, { flags }, MessageFlags.Loading);
      world.changeInteraction(token, { status: "deferred", originalId: answer.id });
      return answer;
    }
    case InteractionResponseType.DeferredMessageUpdate:
      world.changeInteraction(token, { status: "acknowledged", originalId: pressedOn(asked) });
      return undefined;
    case InteractionResponseType.UpdateMessage: {
      const updated = revise(world, world.message(interaction.channelId, pressedOn(asked)), callback.edit);
      world.changeInteraction(token, { status: "answered", originalId: updated.id });
      return updated;
    }
  }
}

/** The message whose button was pressed; a command has none to update. */
function pressedOn(asked: Asked): string {
  if (asked.kind !== "component") throw new DiscordError(50035);
  return asked.messageId;
}

function publishAnswer(world: World, interaction: Interaction, draft: Draft, loading: number = 0): Message {
  const { id, userId, channelId, asked } = interaction;
  const isEphemeral = ((draft.flags ?? 0) & MessageFlags.Ephemeral) !== 0;
  const isCommand = asked.kind === "command";
  return publish(world, {
    authorId: world.state.botId,
    channelId,
    draft: { ...draft, nonce: undefined },
    type: isCommand ? MessageType.ChatInputCommand : MessageType.Reply,
    ...(!isCommand && { reference: { channelId, messageId: asked.messageId } }),
    flags: loading | (isEphemeral ? MessageFlags.Ephemeral : 0),
    interaction: { id, userId, ...(isCommand && { command: asked.name }) },
    onlyFor: isEphemeral ? userId : undefined,
  });
}

/** An acknowledged interaction by its token, which works as a webhook for 15 minutes. */
function acknowledged(world: World, token: string): Interaction {
  const interaction = world.interactions.get(token);
  if (!interaction || interaction.status === "open") throw new DiscordError(10015);
  if (Date.now() - interaction.at > tokenLifetime) throw new DiscordError(50027);
  return interaction;
}

/** One of an interaction's own messages; `@original` is its answer. */
export function answerMessage(world: World, token: string, messageId: string): Message {
  const interaction = acknowledged(world, token);
  const id = messageId === "@original" ? interaction.originalId : messageId;
  if (!id || (id !== interaction.originalId && !interaction.followUpIds.includes(id))) throw new DiscordError(10008);
  return world.message(interaction.channelId, id);
}

export function editAnswer(world: World, token: string, messageId: string, edit: Edit): Message {
  const edited = revise(world, answerMessage(world, token, messageId), edit);
  const interaction = acknowledged(world, token);
  const fulfils = interaction.status === "deferred" && edited.id === interaction.originalId;
  world.changeInteraction(token, fulfils ? { status: "answered" } : {});
  return edited;
}

/** A further message; the first one after a deferral takes the place of the answer that is awaited. */
export function followUp(world: World, token: string, draft: Draft): Message {
  const interaction = acknowledged(world, token);
  checkDraft(draft);
  demandSomething(draft);
  if (interaction.status === "deferred")
    return editAnswer(world, token, "@original", { ...draft, content: draft.content });
  const message = publishAnswer(world, interaction, draft);
  world.changeInteraction(token, { followUpIds: [...interaction.followUpIds, message.id] });
  return message;
}

export function deleteAnswer(world: World, token: string, messageId: string): void {
  world.removeMessage(answerMessage(world, token, messageId));
  world.changeInteraction(token, {});
}
