import { own } from "../json-object.ts";
import { compareIds } from "../world/snowflake.ts";
import type { Channel } from "../world/state.ts";
import type { World } from "../world/world.ts";

/** A channel or thread, its id, or its name with or without `#`; of several of a name, the newest. */
export type ChannelReference = string | { readonly id: string };

export function lookForChannel(world: World, reference: ChannelReference): Channel | undefined {
  const wanted = typeof reference === "string" ? reference.replace(/^#/, "") : reference.id;
  const byId = own(world.state.channels, wanted);
  if (byId) return byId;
  return Object.values(world.state.channels)
    .filter((channel) => "name" in channel && channel.name === wanted)
    .sort((first, second) => compareIds(second.id, first.id))[0];
}

export function findChannel(world: World, reference: ChannelReference): Channel {
  const channel = lookForChannel(world, reference);
  if (!channel) throw new Error(`there is no channel ${typeof reference === "string" ? reference : reference.id}`);
  return channel;
}
