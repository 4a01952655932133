import { placePrefix, saidKey, speakerPrefix, userPrefix } from "../../src/session/session-index.ts";
import { controlKey, eventKey, largeKey, openKey, summaryKey } from "../../src/session/session-record.ts";
import { startsTurn } from "../../src/session/turn-start.ts";

export interface PlainContext {
  readonly id: string;
  readonly author: string;
  readonly text: string;
}

export interface PlainInput {
  readonly id: string;
  readonly author: string;
  readonly text: string;
  readonly context: readonly PlainContext[];
}

export interface PlainEvent {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly turn: string;
  readonly author?: string;
  readonly context: readonly PlainContext[];
  readonly erased: boolean;
}

export interface PlainRun {
  readonly turn: string;
  readonly owner: string;
  readonly inputs: readonly string[];
  ended: boolean;
  abandoned: boolean;
}

/** What a session should be, as plain arrays: what the real ones are held against. */
export class PlainSession {
  events: PlainEvent[] = [];
  waiting: PlainInput[] = [];
  state = 0;
  places: string[] = [];
  known = new Set<string>();
  /** All who ever spoke, as far as it was not reset since. */
  speakers = new Set<string>();
  run: PlainRun | undefined;
  summary: { readonly upTo: number; readonly text: string } | undefined;

  /** What the model is shown. */
  get window(): PlainEvent[] {
    return this.events.slice(this.summary?.upTo ?? 0);
  }

  arrive(input: PlainInput, places: readonly string[]): void {
    this.known.add(input.id);
    this.waiting.push(input);
    this.places = [...this.places.filter((place) => !places.includes(place)), ...places];
  }

  /** Those who speak in what waits for longer than its own commit. */
  hear(): void {
    for (const { author, context } of this.waiting) {
      for (const speaker of [author, ...context.map((each) => each.author)]) this.speakers.add(speaker);
    }
  }

  /** All that waits becomes a run's. */
  begin(turn: string, owner: string): void {
    const ids = new Set(this.waiting.map(({ id }) => id));
    for (const { id, context } of this.window)
      for (const known of [id, ...context.map((each) => each.id)]) ids.add(known);
    for (const { id, author, text, context } of this.waiting) {
      const fresh = context.filter((each) => !ids.has(each.id));
      for (const each of fresh) ids.add(each.id);
      this.add({ id, role: "user", text, turn, author, context: fresh, erased: false });
    }
    this.run = { turn, owner, inputs: this.waiting.map(({ id }) => id), ended: false, abandoned: false };
    this.waiting = [];
  }

  add(event: PlainEvent): void {
    this.events.push(event);
    if (event.author) this.speakers.add(event.author);
    for (const { author } of event.context) this.speakers.add(author);
  }

  /** Places in `events` at which a turn begins with the user's words. */
  get starts(): number[] {
    const like = this.events.map(({ role, turn }) => ({ turn, message: { role } }) as never);
    return this.events.flatMap((_, seq) => (startsTurn(like[seq] as never, like[seq - 1]) ? [seq] : []));
  }

  /** The inputs that went. */
  rewind(turn: string): string[] | undefined {
    const last = this.events.findLastIndex((event) => event.turn === turn);
    if (last < 0) return undefined;
    const from = this.events.slice(0, last).findLastIndex((event) => event.turn !== turn) + 1;
    const gone = this.events.splice(from).filter(({ role }) => role === "user");
    this.run = undefined;
    if (this.summary && this.summary.upTo > from) this.summary = undefined;
    return gone.map(({ id }) => id);
  }

  /** Whether there was any of it. */
  erase(ids: readonly string[]): boolean {
    const hits = (event: PlainEvent): boolean =>
      (event.role === "user" && !event.erased && ids.includes(event.id)) ||
      event.context.some(({ id }) => ids.includes(id));
    const waits = this.waiting.some(({ id, context }) =>
      [id, ...context.map((each) => each.id)].some((each) => ids.includes(each)),
    );
    const first = this.events.findIndex(hits);
    if (this.summary && first >= 0 && this.summary.upTo > first) this.summary = undefined;
    const without = (context: readonly PlainContext[]) => context.filter(({ id }) => !ids.includes(id));
    this.events = this.events.map((event) => {
      if (!hits(event)) return event;
      const left = { ...event, context: without(event.context) };
      if (event.role !== "user" || event.erased || !ids.includes(event.id)) return left;
      const { author: _author, ...rest } = left;
      return { ...rest, text: "", erased: true };
    });
    this.waiting = this.waiting
      .filter(({ id }) => !ids.includes(id))
      .map((input) => ({ ...input, context: without(input.context) }));
    return waits || first >= 0;
  }

  reset(): PlainSession {
    const next = new PlainSession();
    next.known = this.known;
    next.places = this.places;
    return next;
  }

  /** `undefined`: there is no such turn. */
  fork(turn: string | undefined, places: readonly string[] | undefined): PlainSession | undefined {
    const count =
      turn === undefined ? this.events.length : this.events.findLastIndex((event) => event.turn === turn) + 1;
    if (turn !== undefined && count === 0) return undefined;
    const next = new PlainSession();
    next.known = new Set(this.known);
    next.state = this.state;
    next.places = [...(places ?? this.places)];
    for (const event of this.events.slice(0, count)) next.add(event);
    if (this.summary && this.summary.upTo <= count) next.summary = this.summary;
    return next;
  }

  /** Of all that is said in it. */
  *ids(): Generator<string> {
    for (const { id, context } of [...this.events, ...this.waiting]) {
      yield id;
      for (const each of context) yield each.id;
    }
  }

  /** All that is said in it. */
  *texts(): Generator<string> {
    for (const { text, context } of [...this.events, ...this.waiting]) {
      yield text;
      for (const each of context) yield each.text;
    }
    if (this.summary) yield this.summary.text;
  }

  /** The keys that the store should have of it, and no other. */
  keys(sessionId: string): string[] {
    const keys = [controlKey(sessionId)];
    if (this.summary?.text !== undefined) keys.push(summaryKey(sessionId));
    for (const [seq, { id, role, text, context, erased }] of this.events.entries()) {
      keys.push(eventKey(sessionId, seq));
      if (text.length > 16_384) keys.push(largeKey(sessionId, seq, 0));
      for (const said of [...(role === "user" && !erased ? [id] : []), ...context.map((each) => each.id)]) {
        keys.push(saidKey(said, sessionId, seq));
      }
    }
    for (const { id, context } of this.waiting) {
      for (const said of [id, ...context.map((each) => each.id)]) keys.push(saidKey(said, sessionId, "-"));
    }
    for (const place of this.places) keys.push(`${placePrefix(place)}${sessionId}`);
    for (const user of this.speakers)
      keys.push(`${userPrefix(user)}${sessionId}`, `${speakerPrefix(sessionId)}${user}`);
    if (this.run) keys.push(openKey(this.run.owner, sessionId));
    else if (this.waiting.length > 0) keys.push(openKey("-", sessionId));
    return [...new Set(keys)].sort();
  }
}
