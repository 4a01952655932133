import { constants } from "node:os";

/** Resolves at the first SIGINT, SIGTERM or SIGHUP (the terminal was closed). A second one ends the process at once: somebody does not want to wait. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const hear = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(128 + constants.signals[signal]);
      asked = true;
      resolve(signal);
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, hear);
  });
}

/** What starts, or `undefined` if a signal comes first; then it is stopped as soon as it has started. */
export async function unlessStopped<Started extends { stop(): Promise<void> }>(
  starting: Promise<Started>,
  stopped: Promise<unknown>,
): Promise<Started | undefined> {
  const started = await Promise.race([starting, stopped.then(() => undefined)]);
  // The process ends meanwhile; what could not even start has nothing to stop.
  if (!started) starting.then((late) => late.stop()).catch(() => undefined);
  return started;
}
