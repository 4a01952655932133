import { ThreadkeeperError } from "../errors.ts";

/** The end of what may take so long and no longer. */
export interface Deadline {
  /** Aborted with `RUN_DEADLINE` when the time is over. */
  readonly signal: AbortSignal;
  /** There is nothing left that it could end. */
  clear(): void;
}

export function startDeadline(deadlineMs: number): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(deadlineError(deadlineMs)), deadlineMs);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

function deadlineError(deadlineMs: number): ThreadkeeperError {
  return new ThreadkeeperError("RUN_DEADLINE", `it took longer than ${deadlineMs / 1000} s`, {
    fields: { deadlineMs },
  });
}
