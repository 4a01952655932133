import type { HttpBindings } from "@hono/node-server";
import type { BotAccess } from "../bot-access.ts";
import type { TrafficCounters } from "../counters.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { World } from "../world/world.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { RequestFaults } from "./request-faults.ts";

/** What the routes work on. */
export interface RestParts {
  readonly world: World;
  readonly access: BotAccess;
  readonly counters: TrafficCounters;
  readonly limits: RateLimits;
  readonly faults: RequestFaults;
  readonly gateway: Gateway;
  readonly onUnknown: (what: string) => void;
}

export interface RestEnvironment {
  Bindings: HttpBindings;
}
