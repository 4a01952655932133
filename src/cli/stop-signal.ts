/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once: somebody does not want to wait. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const hear = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(signal === "SIGINT" ? 130 : 143);
      asked = true;
      resolve(signal);
    };
    process.on("SIGINT", hear);
    process.on("SIGTERM", hear);
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
