import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { isJsonObject } from "../json-object.ts";
import type { SandboxState } from "./state.ts";
import type { World } from "./world.ts";

/** How long changes may wait to be saved, in milliseconds. */
const saveAfter = 200;

/** The state that a file holds, or nothing if there is no file; a file that isn't one of ours is an error. */
export async function readState(path: string): Promise<SandboxState | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${path} is not JSON: move it away to begin with a new sandbox`, { cause });
  }
  if (!isState(state)) {
    throw new Error(`${path} does not hold a sandbox of this version: move it away to begin anew`);
  }
  return state;
}

/** Has what every sandbox has. What stands in the single records is believed: nobody but a sandbox writes them. */
function isState(value: unknown): value is SandboxState {
  if (!isJsonObject(value) || value["format"] !== 1) return false;
  const { lastId, botId, botToken = "", users, guilds, channels, messages, commands, commandCreations, nonces } = value;
  const isTable = (table: unknown) => isJsonObject(table) && Object.values(table).every(isJsonObject);
  return (
    typeof lastId === "string" &&
    /^\d+$/.test(lastId) &&
    [users, guilds, channels, nonces].every(isTable) &&
    isJsonObject(messages) &&
    [...Object.values(messages), commands, commandCreations].every(Array.isArray) &&
    typeof botId === "string" &&
    typeof botToken === "string" &&
    isJsonObject(users) &&
    Object.hasOwn(users, botId)
  );
}

/** Saves a world whenever it has changed, whole or not at all, readable by its owner only. */
export class StateFile {
  readonly #path: string;
  readonly #world: World;
  readonly #stop: () => void;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(path: string, world: World) {
    this.#path = path;
    this.#world = world;
    this.#stop = world.onChange((change) => {
      if (change.type === "traffic" || change.type === "typing" || change.type === "typing-over") return;
      this.#timer ??= setTimeout(() => this.#saveSoon(), saveAfter);
    });
  }

  #saveSoon(): void {
    this.#timer = undefined;
    // A failure is kept for `close`: nobody waits for a save in between.
    this.#saving = this.#saving
      .then(() => this.#save())
      .catch((error: unknown) => {
        this.#failure = error;
      });
  }

  async #save(): Promise<void> {
    const text = JSON.stringify(this.#world.state);
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const temporary = `${this.#path}.${process.pid}.new`;
    const file = await open(temporary, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.#path);
    this.#failure = undefined;
  }

  /** Resolves when all that has happened so far is saved, or could not be. */
  async saved(): Promise<void> {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#saveSoon();
    }
    await this.#saving;
  }

  /** Saves a last time; throws if what happened could not be saved. */
  async close(): Promise<void> {
    this.#stop();
    clearTimeout(this.#timer);
    this.#saveSoon();
    await this.#saving;
    if (this.#failure) throw this.#failure;
  }
}
