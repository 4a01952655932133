import { ThreadkeeperError } from "../errors.ts";

/** Why a signal was aborted, as one of ours; a plain abort is a stop. */
export function abortReason(signal: AbortSignal): ThreadkeeperError {
  const reason: unknown = signal.reason;
  if (reason instanceof ThreadkeeperError) return reason;
  return new ThreadkeeperError("RUN_STOPPED", "the caller stopped the run", { cause: reason });
}

/**
 * Settles as `work` does, or throws the signal's reason as soon as it is aborted: work that ignores the signal can't
 * hold anybody up. It goes on unheard then, and so does its failure.
 */
export async function raceAbort<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(abortReason(signal));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
