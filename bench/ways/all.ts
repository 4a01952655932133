import { driver } from "./driver.ts";
import { oneValue } from "./one-value.ts";
import { ours, oursAsTheBot } from "./ours.ts";
import { rows } from "./rows.ts";
import type { WayKind } from "./way.ts";

export const wayKinds = { ours, oursAsTheBot, rows, driver, oneValue } as const satisfies Record<string, WayKind>;

export type WayId = keyof typeof wayKinds;
