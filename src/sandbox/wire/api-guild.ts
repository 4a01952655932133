import {
  type APIGuild,
  type GatewayGuildCreateDispatchData,
  GuildDefaultMessageNotifications,
  GuildExplicitContentFilter,
  GuildMFALevel,
  GuildNSFWLevel,
  GuildPremiumTier,
  type GuildSystemChannelFlags,
  GuildVerificationLevel,
  Locale,
} from "discord-api-types/v10";
import { canView } from "../world/permissions.ts";
import type { Guild } from "../world/state.ts";
import type { World } from "../world/world.ts";
import { apiGuildChannel, apiThread } from "./api-channel.ts";
import { apiGuildMember, apiRole } from "./api-member.ts";

export function apiGuild(guild: Guild): APIGuild {
  return {
    id: guild.id,
    name: guild.name,
    owner_id: guild.ownerId,
    icon: null,
    splash: null,
    discovery_splash: null,
    banner: null,
    description: null,
    vanity_url_code: null,
    region: "",
    afk_channel_id: null,
    afk_timeout: 300,
    system_channel_id: null,
    system_channel_flags: 0 as GuildSystemChannelFlags,
    rules_channel_id: null,
    public_updates_channel_id: null,
    safety_alerts_channel_id: null,
    application_id: null,
    verification_level: GuildVerificationLevel.None,
    default_message_notifications: GuildDefaultMessageNotifications.AllMessages,
    explicit_content_filter: GuildExplicitContentFilter.Disabled,
    mfa_level: GuildMFALevel.None,
    nsfw_level: GuildNSFWLevel.Default,
    premium_tier: GuildPremiumTier.None,
    premium_progress_bar_enabled: false,
    preferred_locale: Locale.EnglishUS,
    hub_type: null,
    incidents_data: null,
    features: [],
    emojis: [],
    stickers: [],
    roles: Object.values(guild.roles).map(apiRole),
  };
}

/** GUILD_CREATE: the server with all its channels, and with the active threads that the viewer sees. */
export function apiWholeGuild(world: World, guild: Guild, viewerId: string): GatewayGuildCreateDispatchData {
  const threads = world.threadsOf(guild.id).filter((thread) => !thread.archived && canView(world, viewerId, thread));
  const members = Object.values(guild.members);
  return {
    ...apiGuild(guild),
    joined_at: guild.members[viewerId]?.joinedAt ?? "",
    large: false,
    unavailable: false,
    member_count: members.length,
    members: members.map((member) => apiGuildMember(world, member)),
    channels: world.channelsOf(guild.id).map(apiGuildChannel),
    threads: threads.map((thread) => apiThread(thread, viewerId)),
    voice_states: [],
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}
