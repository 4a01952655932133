import type { Config } from "../config.ts";
import type { ThreadkeeperError } from "../errors.ts";
import { startBot } from "../main.ts";
import { counted } from "./counted.ts";
import { openLog } from "./open-log.ts";
import { readSettings } from "./settings.ts";
import { stopSignal, unlessStopped } from "./stop-signal.ts";
import { storeSetting } from "./store-setting.ts";

/** Starts the bot: on Discord if there is a token, else on the sandbox in this terminal. Gives the exit code. */
export async function start(): Promise<number> {
  const config = readSettings();
  if (config.discord) return onDiscord(config, config.discord);
  const { playground } = await import("./playground.ts");
  return playground(config);
}

async function onDiscord(config: Config, discord: NonNullable<Config["discord"]>): Promise<number> {
  const log = openLog(config);
  let shutOut: (error: ThreadkeeperError) => void = () => {};
  const shutOutForGood = new Promise<ThreadkeeperError>((resolve) => {
    shutOut = resolve;
  });
  const store = storeSetting(config);
  const stopped = stopSignal();
  const starting = startBot({ config, discord, store, log, onShutOut: (error) => shutOut(error) });
  const bot = await unlessStopped(starting, stopped);
  if (!bot) return 0;
  const servers = counted(bot.guilds.length, "server");
  console.log(`Threadkeeper is on Discord as ${bot.userName}, in ${servers}, answering with ${config.model.setting}.`);
  console.log(`Sessions are kept in ${bot.store}.`);
  console.log(`Invite it to a server with: ${bot.inviteLink}`);
  const reason = await Promise.race([stopped, shutOutForGood]);
  if (typeof reason === "string") console.log(`${reason}: stopping; answers that are being written get 10 seconds.`);
  await bot.stop();
  if (typeof reason === "string") return 0;
  throw reason;
}
