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
