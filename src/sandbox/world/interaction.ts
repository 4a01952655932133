import type {
  APIApplicationCommandInteractionDataOption,
  APIInteractionDataResolved,
  ComponentType,
} from "discord-api-types/v10";

/** Discord's patience: 3 seconds until the acknowledgement, 15 minutes for everything after it. */
export const acknowledgeWithin = 3_000;
export const tokenLifetime = 15 * 60_000;

/** What a person asked of the bot other than by words. It doesn't outlive the sandbox. */
export interface Interaction {
  readonly id: string;
  /** Whoever has it may answer, without any other right. */
  readonly token: string;
  readonly userId: string;
  readonly channelId: string;
  readonly at: number;
  readonly asked: Asked;
  readonly status: InteractionStatus;
  /** `@original`: the answer, or the message whose button was pressed. */
  readonly originalId?: string;
  readonly followUpIds: readonly string[];
}

export type Asked =
  | {
      readonly kind: "command";
      readonly commandId: string;
      readonly name: string;
      readonly options: readonly APIApplicationCommandInteractionDataOption[];
      readonly resolved: APIInteractionDataResolved;
    }
  | {
      readonly kind: "component";
      readonly customId: string;
      readonly componentType: ComponentType.Button;
      readonly messageId: string;
    };

/** `deferred`: acknowledged, the answer is still to come. `acknowledged`: a button's press, taken without any. */
export type InteractionStatus = "open" | "deferred" | "acknowledged" | "answered";

/** Whether the bot has let the 3 seconds go by. */
export function isMissed(interaction: Interaction, now = Date.now()): boolean {
  return interaction.status === "open" && now - interaction.at > acknowledgeWithin;
}
