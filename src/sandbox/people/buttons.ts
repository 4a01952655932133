import { ButtonStyle, ComponentType } from "discord-api-types/v10";
import type { Message } from "../world/state.ts";

export interface Button {
  readonly label: string;
  readonly customId: string;
  readonly disabled: boolean;
}

/** The buttons of a message that tell the bot when they are pressed: not those that are links. */
export function buttonsOf(message: Message): Button[] {
  return message.components
    .flatMap((row) => (row.type === ComponentType.ActionRow ? row.components : []))
    .filter((component) => component.type === ComponentType.Button)
    .filter((button) => button.style !== ButtonStyle.Link && button.style !== ButtonStyle.Premium)
    .map((button) => ({ label: button.label ?? "", customId: button.custom_id, disabled: button.disabled ?? false }));
}
