/** One way of keeping sessions, with one file of its own, as it is measured. */
export interface Way {
  /** Sessions `0` to `sessions - 1`, each with so many events; fast, and not part of what is measured. */
  fill(sessions: number, events: number): Promise<void>;
  /** One turn: the words of the user are durable before the model would be called, the answer after. */
  turn(session: number): Promise<void>;
  /** Durable commits that were asked for so far. */
  readonly commits: number;
  close(): Promise<void>;
}

export interface WayKind {
  /** As it stands in the table. */
  readonly name: string;
  /** How many events it can be given in all before it is no longer bearable. */
  readonly mostEvents: number;
  open(file: string): Promise<Way>;
}
