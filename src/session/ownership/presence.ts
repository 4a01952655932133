import { ThreadkeeperError, toThreadkeeperError } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import { randomId } from "../random-id.ts";
import { aliveKey, formatRecord, ownerKey, parseRecord } from "../session-record.ts";
import type { Store } from "../store/store.ts";
import { formatOwner, thisProcess } from "./owner-record.ts";

/** By two clocks: the monotonic one may stand still while a machine sleeps, and the other one may be set back. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

const never: Moment = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
const now = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });
/** In milliseconds, by the clock that counted more: to be sure for too short a time costs little. */
const since = ({ monotonic, wall }: Moment): number => Math.max(performance.now() - monotonic, Date.now() - wall);

export interface PresencePlan {
  readonly store: Store;
  readonly ownerId: string;
  /** After how long without a beat others take over what is ours, in milliseconds. */
  readonly takeOverMs: number;
  /** Whether what is said now is heard: only then the time of the last beat moves on. */
  readonly isListening: () => boolean;
  /** From now on others may have taken what was ours. */
  readonly onLost: () => void;
  /** Called after each beat that the store confirmed. */
  readonly onBeat: () => void;
  readonly log: Logger;
}

/**
 * That this process is there, as far as the others can tell: one key in the store, rewritten every quarter of the
 * take-over time. Others count from when they see a beat, which is after it was sent; so whoever counts from the
 * sending of its last confirmed beat, and gives up after three quarters, has given up before anybody takes over.
 */
export class Presence {
  readonly #plan: PresencePlan;
  #ownerId: string;
  /** Of our key; `undefined`: it was not written yet. */
  #version: string | undefined;
  #beats = 0;
  /** When the last confirmed beat was sent. */
  #confirmed = never;
  #isLost = true;
  #isLate = false;
  #beating: Promise<void> | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #alarm: NodeJS.Timeout | undefined;
  #lastBeat: Date | undefined;

  constructor(plan: PresencePlan) {
    this.#plan = plan;
    this.#ownerId = plan.ownerId;
  }

  /** Our name in the store. Another one after ours was removed, so that what others took over stays theirs. */
  get ownerId(): string {
    return this.#ownerId;
  }

  /** When, before this process arrived, one was last there and listening. */
  get lastBeat(): Date | undefined {
    return this.#lastBeat;
  }

  async arrive(): Promise<void> {
    const { store, takeOverMs } = this.#plan;
    this.#lastBeat = await this.#readLastBeat();
    const sentAt = now();
    // Before the first one ever nothing was missed; what is said from now on is, if it dies before it listens.
    if (!(await this.#write({ isFirst: this.#lastBeat === undefined }))) {
      throw new ThreadkeeperError("UNEXPECTED", `the owner id ${this.#ownerId} is in use in ${store.description}`);
    }
    this.#confirm(sentAt);
    this.#ticker = setInterval(() => void this.#beat().catch(() => {}), takeOverMs / 4).unref();
  }

  /** Whether what is ours can't have been taken over yet. Finding out that it can tells `onLost`, once. */
  isSure(): boolean {
    if (since(this.#confirmed) < this.#silenceMs) return true;
    if (!this.#isLost) this.#lose("no beat was confirmed in time");
    return false;
  }

  /** @throws ThreadkeeperError what keeps the store from confirming a beat */
  async makeSure(): Promise<void> {
    for (let tries = 0; tries < 2; tries++) {
      if (this.isSure()) return;
      // One that is under way may have been sent too long ago.
      await this.#beat();
    }
    if (this.isSure()) return;
    throw new ThreadkeeperError("STORE_BUSY", `${this.#plan.store.description} takes too long to confirm a beat`);
  }

  /** Goodbye: what is left of ours is everybody's. No beat comes after it. */
  async leave(): Promise<void> {
    clearInterval(this.#ticker);
    clearTimeout(this.#alarm);
    await this.#beating?.catch(() => {});
    this.#confirmed = never;
    this.#isLost = true;
    const { store } = this.#plan;
    const key = ownerKey(this.#ownerId);
    const [stored] = await store.get([key]);
    if (stored) await store.commit({ key, was: stored.version, put: new Map(), remove: [key] });
  }

  get #silenceMs(): number {
    return (this.#plan.takeOverMs * 3) / 4;
  }

  /** One at a time: who comes while one is under way gets that one. */
  #beat(): Promise<void> {
    this.#beating ??= this.#beatOnce().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async #beatOnce(): Promise<void> {
    const { log, onBeat } = this.#plan;
    // A loss is told before it is made good.
    this.isSure();
    const sentAt = now();
    try {
      while (!(await this.#write())) await this.#readAgain();
    } catch (error) {
      if (!this.#isLate) log.warn({ err: toThreadkeeperError(error) }, "a beat failed; it is tried again and again");
      this.#isLate = true;
      throw error;
    }
    if (this.#isLate) log.info("beats are confirmed again");
    this.#isLate = false;
    this.isSure();
    this.#confirm(sentAt);
    onBeat();
  }

  /** `false`: our key is not as we left it. */
  async #write({ isFirst = false } = {}): Promise<boolean> {
    const { store, takeOverMs, isListening } = this.#plan;
    const key = ownerKey(this.#ownerId);
    const put = new Map([[key, formatOwner({ ...thisProcess, takeOverMs, beat: this.#beats })]]);
    if (isFirst || isListening()) put.set(aliveKey, formatRecord({ at: new Date().toISOString() }));
    const done = await store.commit({ key, was: this.#version, put });
    if (!done) return false;
    this.#version = done.version;
    this.#beats += 1;
    return true;
  }

  /** Our key was removed, or a commit of ours was made although the store could not say so. */
  async #readAgain(): Promise<void> {
    const [stored] = await this.#plan.store.get([ownerKey(this.#ownerId)]);
    if (!stored) {
      if (!this.#isLost) this.#lose("its key was removed");
      this.#ownerId = randomId();
    }
    this.#version = stored?.version;
  }

  #confirm(sentAt: Moment): void {
    this.#confirmed = sentAt;
    this.#isLost = false;
    clearTimeout(this.#alarm);
    this.#alarm = setTimeout(() => this.isSure(), this.#silenceMs - since(sentAt) + 1).unref();
  }

  #lose(why: string): void {
    this.#isLost = true;
    this.#confirmed = never;
    const { log, onLost, takeOverMs } = this.#plan;
    log.warn({ owner: this.#ownerId, takeOverMs }, `others may take over what this process was at: ${why}`);
    onLost();
  }

  async #readLastBeat(): Promise<Date | undefined> {
    const { store, log } = this.#plan;
    const [stored] = await store.get([aliveKey]);
    if (!stored) return undefined;
    try {
      const at = new Date(String(parseRecord(stored.value, aliveKey)["at"]));
      if (!Number.isNaN(at.getTime())) return at;
    } catch (error) {
      log.warn({ err: toThreadkeeperError(error) }, "when a process was last there cannot be read");
    }
    return undefined;
  }
}
