import { ThreadkeeperError } from "../../errors.ts";
import { type Logger, silentLogger } from "../../log.ts";
import type { StoredRun } from "../control.ts";
import { randomId } from "../random-id.ts";
import type { Taken } from "../session-manager.ts";
import type { Store } from "../store/store.ts";
import { HeldRuns } from "./held-runs.ts";
import { findOpenSessions, type OpenSessions } from "./open-sessions.ts";
import { Owners } from "./owners.ts";
import { Presence } from "./presence.ts";
import { Reminders } from "./reminders.ts";

export interface OwnershipOptions {
  readonly store: Store;
  readonly log?: Logger;
  /** Names this process in the store; must be new: 1 to 100 of `A-Z a-z 0-9` and, within, `. _ -`. Default: random. */
  readonly ownerId?: string;
  /**
   * After how long without a beat this process counts as gone, in milliseconds. Default 20,000.
   */
  readonly takeOverMs?: number;
  /** Whether what is said now is heard: only then `lastBeat` moves on. Default: always. */
  readonly isListening?: () => boolean;
}

/** It is a part of keys, and what stands for nobody is none. */
const validOwnerId = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$/;

type Listener = (sessionIds: readonly string[]) => void;

/** Whose run is whose: what this process was given, and what others left behind. */
export class Ownership {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #held = new HeldRuns();
  readonly #owners: Owners;
  readonly #presence: Presence;
  readonly #reminders = new Reminders();
  #listener: Listener | undefined;
  #looking: Promise<void> | undefined;
  #left = false;

  constructor({
    store,
    log = silentLogger,
    ownerId = randomId(),
    takeOverMs = 20_000,
    isListening = () => true,
  }: OwnershipOptions) {
    if (!validOwnerId.test(ownerId)) {
      throw new ThreadkeeperError("INPUT_INVALID", "an owner id is 1 to 100 of A-Z a-z 0-9 and, within, . _ -", {
        fields: { path: "ownerId" },
      });
    }
    this.#store = store;
    this.#log = log;
    this.#owners = new Owners({ store, takeOverMs, log });
    this.#presence = new Presence({
      store,
      log,
      ownerId,
      takeOverMs,
      isListening,
      onLost: () => {
        this.#owners.forgetSights();
        this.#reminders.forget();
        this.#held.loseAll("this process was not heard of for too long");
      },
      onBeat: () => {
        this.#looking ??= this.#look().finally(() => {
          this.#looking = undefined;
        });
      },
    });
  }

  get lastBeat(): Date | undefined {
    return this.#presence.lastBeat;
  }

  arrive(): Promise<void> {
    return this.#presence.arrive();
  }

  /** Goodbye: whoever finds a run of ours then takes it over. */
  async leave(): Promise<void> {
    this.#left = true;
    await this.#looking;
    await this.#presence.leave();
  }

  isSure(): boolean {
    return this.#presence.isSure();
  }

  /** The name under which a run may be started now. @throws ThreadkeeperError what keeps the store from confirming it */
  async sureOwner(): Promise<string> {
    await this.#presence.makeSure();
    return this.#presence.ownerId;
  }

  /** Gives out a run if `take` stored one under the given id. `ends`: the run that is over when it has been tried. */
  async giving(sessionId: string, take: (runId: string) => Promise<Taken>, ends?: string): Promise<Taken> {
    // If what was given before is lost, then not this one with it.
    this.isSure();
    const runId = randomId();
    const signal = this.#held.begin(runId, sessionId);
    let taken: Taken | undefined;
    try {
      taken = await take(runId);
    } finally {
      if (ends !== undefined) this.#held.letGo(ends);
      if (taken?.outcome === "run") this.#held.stored(runId);
      else this.#held.letGo(runId);
    }
    return taken.outcome === "run" ? { outcome: "run", run: { ...taken.run, signal } } : taken;
  }

  letGo(runId: string): void {
    this.#held.letGo(runId);
  }

  /** Whether nobody will go on with it. */
  async isAbandoned({ id, owner }: StoredRun): Promise<boolean> {
    return owner === this.#presence.ownerId ? !this.#held.has(id) : this.#owners.isGone(owner);
  }

  /** Sessions that somebody must take up. */
  async unfinished(): Promise<string[]> {
    return this.#unheld(await this.#open());
  }

  /** After each beat, `listener` is told of what `unfinished` gives; of the same session again only if it stays so. */
  onUnfinished(listener: Listener): void {
    this.#listener = listener;
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    try {
      await this.#owners.look();
      const held = this.#held.allStored();
      const open = await this.#open();
      for (const [runId, { sessionId }] of held) {
        if (!open.mine.has(sessionId)) this.#held.lose(runId, "somebody took it away");
      }
      const due = this.#reminders.due(this.#unheld(open));
      if (due.length > 0 && !this.#left) this.#listener?.(due);
    } catch (error) {
      this.#log.warn({ err: error }, "what others left behind could not be looked for");
    }
  }

  #open(): Promise<OpenSessions> {
    return findOpenSessions({
      store: this.#store,
      mine: this.#presence.ownerId,
      isGone: (ownerId) => this.#owners.isGone(ownerId),
    });
  }

  #unheld({ mine, nobodys }: OpenSessions): string[] {
    const held = this.#held.sessions();
    return [...[...mine].filter((sessionId) => !held.has(sessionId)), ...nobodys];
  }
}
