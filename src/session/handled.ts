/**
 * Which inputs were accepted before, in little space: the newest ids, and a mark for those that fell out.
 *
 * The mark works for ids that grow with time (Discord's snowflakes): whatever is not above it counts as handled. Other
 * ids are simply forgotten when they fall out.
 */
export interface Handled {
  /** The newest ids, oldest first. */
  readonly recent: readonly string[];
  /** The highest snowflake that fell out of `recent`. */
  readonly mark?: string;
}

export const handledLimit = 64;
export const nothingHandled: Handled = { recent: [] };

/** Snowflakes have had 17 digits since 2015, and will have 20 at most (64 bits). */
const snowflake = /^[1-9]\d{16,19}$/;

export function wasHandled({ recent, mark }: Handled, id: string): boolean {
  if (recent.includes(id)) return true;
  return mark !== undefined && snowflake.test(id) && !isHigher(id, mark);
}

export function withHandled(handled: Handled, id: string): Handled {
  const all = [...handled.recent.filter((other) => other !== id), id];
  const fallen = all.slice(0, -handledLimit);
  const mark = fallen.reduce(
    (highest, other) =>
      snowflake.test(other) && (highest === undefined || isHigher(other, highest)) ? other : highest,
    handled.mark,
  );
  const recent = all.slice(-handledLimit);
  return mark === undefined ? { recent } : { recent, mark };
}

/** Compares whole numbers that are too large for a JavaScript number. */
function isHigher(id: string, than: string): boolean {
  return id.length === than.length ? id > than : id.length > than.length;
}
