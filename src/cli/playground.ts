import type { Config } from "../config.ts";
import { ThreadkeeperError } from "../errors.ts";
import { startBot } from "../main.ts";
import { type Sandbox, startSandbox } from "../sandbox/sandbox.ts";
import { claimFolder } from "./folder-claim.ts";
import { openLog } from "./open-log.ts";
import { stopSignal, unlessStopped } from "./stop-signal.ts";
import { storeSetting } from "./store-setting.ts";
import { Terminal } from "./terminal.ts";

const folder = "data/sandbox";

/** The real bot on a small Discord in this terminal, where one types as a member. Gives the exit code. */
export async function playground(config: Config): Promise<number> {
  const stopped = stopSignal();
  const giveUp = claimFolder(folder);
  try {
    return await play(config, stopped);
  } finally {
    giveUp();
  }
}

async function play(config: Config, stopped: Promise<unknown>): Promise<number> {
  const sandbox = await openSandbox();
  let store: string;
  try {
    const starting = startBot({
      config,
      discord: { token: sandbox.botToken, api: sandbox.api },
      store: storeSetting(config),
      log: openLog(config, `${folder}/threadkeeper.log`),
    });
    const bot = await unlessStopped(starting, stopped);
    if (!bot) return 0;
    ({ store } = bot);
    console.log(greeting(config, sandbox));
    // The commands are being registered: a person is slower than that, a pipe is not.
    if (!process.stdin.isTTY) await bot.idle();
    const terminal = new Terminal(sandbox, () => bot.idle());
    await Promise.race([terminal.run(stopped), stopped]);
    terminal.leave();
    // Answers that are being written are still read out.
    await bot.stop();
    terminal.close();
  } finally {
    await sandbox.close();
  }
  console.log(farewell(config, store));
  return 0;
}

function isKept({ sessionStore }: Config): boolean {
  return sessionStore !== "memory:";
}

/** @param store where the sessions are; holds no password */
function farewell(config: Config, store: string): string {
  if (!isKept(config)) return "Bye.";
  const where =
    config.sessionStore === undefined
      ? `All is kept in ${folder}`
      : `What was said is kept in ${folder}, and the sessions in ${store}`;
  return `Bye. ${where}: the next start goes on from here.`;
}

/** @throws ThreadkeeperError `STORE_CORRUPT` if what was kept can't be read; it stays as it is */
async function openSandbox(): Promise<Sandbox> {
  try {
    return await startSandbox({ state: `${folder}/discord.json` });
  } catch (cause) {
    throw new ThreadkeeperError("STORE_CORRUPT", (cause as Error).message, { cause });
  }
}

function greeting(config: Config, sandbox: Sandbox): string {
  const { name } = sandbox.owner;
  const who =
    config.model.setting === "demo"
      ? "a demo model: it has no network, and quotes what in the thread is closest to your question"
      : config.model.setting;
  return `Threadkeeper, the real bot, on a small Discord in this terminal (no DISCORD_TOKEN is set). It answers with ${who}.

You are ${name}. Begin with  @${sandbox.bot.name} The deadline for Project Alpha is December 27.
and in the thread that opens ask  When is the deadline?  ${
    isKept(config)
      ? "Leave with :quit, come back, ask again: it remembers."
      : "With SESSION_STORE=memory: it forgets when you leave."
  }
:help shows what else can be typed. For a real server see "On your server" in the README.
`;
}
