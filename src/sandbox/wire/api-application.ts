import { type APIApplication, ApplicationFlags, ApplicationIntegrationType } from "discord-api-types/v10";
import type { World } from "../world/world.ts";
import { apiUser } from "./api-member.ts";

/** The bot's application; its flags say whether it may read what is written. */
export function apiApplication(world: World, mayReadContent: boolean): APIApplication {
  const flags = mayReadContent ? ApplicationFlags.GatewayMessageContentLimited : (0 as ApplicationFlags);
  return {
    id: world.state.botId,
    name: world.bot.name,
    icon: null,
    description: "",
    summary: "",
    bot_public: true,
    bot_require_code_grant: false,
    verify_key: "0".repeat(64),
    flags,
    flags_new: String(flags),
    team: null,
    bot: apiUser(world.bot),
    integration_types_config: { [ApplicationIntegrationType.GuildInstall]: {} },
  };
}
