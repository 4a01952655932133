import type { Json, JsonObject } from "./plain-json.ts";

/** The format in which every record is written. An older one is upgraded when it is read, a newer one refused. */
export const format = 2;

/** Whether a record that could be read is of an older format. Of all records it is what they begin with. */
export function isOlder(text: string | undefined): boolean {
  return Number(/^\{"format":(\d+)/.exec(text ?? "")?.[1]) < format;
}

/** Makes a record of one format what the next one would have written. Pure; leaves alone what it does not know. */
type Upgrade = (record: JsonObject) => JsonObject;

/** The first is from format 1 to 2. */
const controlUpgrades: readonly Upgrade[] = [
  // A run now tells how its turn ended, not only that it did.
  (record) => {
    const { run } = record;
    return isObject(run) && run["ended"] === true ? { ...record, run: { ...run, ended: {} } } : record;
  },
];

/** A control record of format `from` as it would be written today. */
export function upgradeControl(record: JsonObject, from: number): JsonObject {
  return controlUpgrades.slice(from - 1).reduce((older, upgrade) => upgrade(older), record);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
