import type { Sandbox } from "../sandbox/sandbox.ts";

/** Resolves when nobody is typing in the sandbox and nothing has happened for `quietMs`; at the latest after `atMostMs`. */
export function settled(sandbox: Sandbox, { quietMs = 1_200, atMostMs = 120_000 } = {}): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      clearTimeout(latest);
      clearTimeout(quiet);
      resolve();
    };
    const look = (): void => {
      if (sandbox.isAnybodyTyping) quiet.refresh();
      else end();
    };
    const quiet = setTimeout(look, quietMs);
    const latest = setTimeout(end, atMostMs);
    const stop = sandbox.onChange(({ type }) => {
      if (type !== "traffic") quiet.refresh();
    });
  });
}
