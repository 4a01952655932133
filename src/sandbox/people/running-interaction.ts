import { MessageFlags } from "discord-api-types/v10";
import { acknowledgeWithin, type Interaction, isMissed } from "../world/interaction.ts";
import type { Message } from "../world/state.ts";
import type { World } from "../world/world.ts";
import { type Patience, until } from "./waiting.ts";

/** A command or a click on its way: what the bot has answered so far, and waiting for it. */
export class RunningInteraction {
  readonly #world: World;
  readonly #token: string;

  constructor(world: World, interaction: Interaction) {
    this.#world = world;
    this.#token = interaction.token;
  }

  /** As it is now. */
  get interaction(): Interaction {
    const interaction = this.#world.interactions.get(this.#token);
    if (!interaction) throw new Error("the interaction is gone");
    return interaction;
  }

  /** The answer and the follow-ups that are there now, oldest first; "is thinking…" is not an answer. */
  get messages(): Message[] {
    const { originalId, followUpIds, channelId, asked } = this.interaction;
    const isOwn = originalId !== undefined && !(asked.kind === "component" && asked.messageId === originalId);
    const ids = isOwn ? [originalId, ...followUpIds] : followUpIds;
    return ids
      .map((id) => this.#world.findMessage(channelId, id))
      .filter((message) => message !== undefined && !(message.flags & MessageFlags.Loading)) as Message[];
  }

  /** Waits for the first answer; rejects when the bot lets 3 seconds go by without acknowledging. */
  answer(patience: Patience = {}): Promise<Message> {
    return this.#wait(() => this.messages[0], patience);
  }

  /** Waits until the bot has taken notice, with or without an answer. */
  acknowledgement(patience: Patience = {}): Promise<Interaction> {
    return this.#wait(() => (this.interaction.status === "open" ? undefined : this.interaction), patience);
  }

  async #wait<Found>(read: () => Found | undefined, patience: Patience): Promise<Found> {
    const missed = this.interaction.at + acknowledgeWithin + 1 - Date.now();
    // Looked at once more when the time is over: by then nothing else may happen.
    const bell = setTimeout(() => this.#world.announce({ type: "traffic" }), Math.max(0, missed));
    try {
      return await until(
        this.#world,
        () => {
          const found = read();
          if (!found && isMissed(this.interaction)) throw new Error("The application did not respond");
          return found;
        },
        patience,
        () => `no answer to the interaction, which is ${this.interaction.status}`,
      );
    } finally {
      clearTimeout(bell);
    }
  }
}
