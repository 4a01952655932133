import type { Sandbox } from "../sandbox/sandbox.ts";

/** Discord's limit in a channel: who has used it up goes on only when this time is over, in milliseconds. */
const limitSpanMs = 5_000;
const nearLimit = 4;

/**
 * Resolves when nobody is typing in the sandbox, nothing has happened for `quietMs` and the bot is not near its limit,
 * where it would be silent though it had more to say; at the latest after `atMostMs`.
 */
export function settled(sandbox: Sandbox, { quietMs = 1_200, atMostMs = 120_000 } = {}): Promise<void> {
  return new Promise((resolve) => {
    let sent: number[] = [];
    const end = (): void => {
      stop();
      clearTimeout(latest);
      clearTimeout(quiet);
      resolve();
    };
    const look = (): void => {
      sent = sent.filter((time) => time > Date.now() - limitSpanMs);
      if (sandbox.isAnybodyTyping || sent.length >= nearLimit) quiet.refresh();
      else end();
    };
    const quiet = setTimeout(look, quietMs);
    const latest = setTimeout(end, atMostMs);
    const stop = sandbox.onChange((change) => {
      if (change.type === "traffic") return;
      const isMessage = change.type === "message-created" || change.type === "message-edited";
      if (isMessage && change.message.authorId === sandbox.bot.id) sent.push(Date.now());
      quiet.refresh();
    });
  });
}
