import {
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  InteractionType,
  Locale,
} from "discord-api-types/v10";
import type { Interaction } from "../world/interaction.ts";
import { permissionsIn } from "../world/permissions.ts";
import type { World } from "../world/world.ts";
import { apiChannel } from "./api-channel.ts";
import { apiGuildMember, apiUser } from "./api-member.ts";
import { apiMessage } from "./api-message.ts";

/** INTERACTION_CREATE. https://discord.com/developers/docs/interactions/receiving-and-responding */
export function apiInteraction(world: World, interaction: Interaction): object {
  const { id, token, userId, channelId, asked } = interaction;
  const channel = world.channel(channelId);
  const guildId = "guildId" in channel ? channel.guildId : undefined;
  const bits = (who: string) => String(permissionsIn(world, who, channel));
  const user = apiUser(world.user(userId));
  return {
    id,
    application_id: world.state.botId,
    token,
    version: 1,
    channel_id: channelId,
    channel: { ...apiChannel(world, channel, world.state.botId), permissions: bits(userId) },
    app_permissions: bits(world.state.botId),
    attachment_size_limit: 10 * 1_024 * 1_024,
    locale: Locale.EnglishUS,
    entitlements: [],
    ...(guildId
      ? {
          guild_id: guildId,
          guild: { id: guildId, locale: Locale.EnglishUS, features: [] },
          guild_locale: Locale.EnglishUS,
          member: { ...apiGuildMember(world, world.member(guildId, userId)), permissions: bits(userId) },
          context: InteractionContextType.Guild,
          authorizing_integration_owners: { [ApplicationIntegrationType.GuildInstall]: guildId },
        }
      : {
          user,
          context: InteractionContextType.BotDM,
          authorizing_integration_owners: { [ApplicationIntegrationType.GuildInstall]: "0" },
        }),
    ...(asked.kind === "command"
      ? {
          type: InteractionType.ApplicationCommand,
          data: {
            id: asked.commandId,
            name: asked.name,
            type: ApplicationCommandType.ChatInput,
            ...(asked.options.length > 0 && { options: asked.options }),
            ...(Object.keys(asked.resolved).length > 0 && { resolved: asked.resolved }),
          },
        }
      : {
          type: InteractionType.MessageComponent,
          data: { custom_id: asked.customId, component_type: asked.componentType },
          message: apiMessage(world, world.message(channelId, asked.messageId), {
            id: world.state.botId,
            mayRead: true,
          }),
        }),
  };
}
