import { Agent } from "./agent/agent.ts";
import { resolveModel } from "./agent/model.ts";
import { currentTime } from "./agent/tools/current-time.ts";
import type { Config } from "./config.ts";
import { createConversation } from "./conversation/create-conversation.ts";
import { tallied } from "./conversation/tally.ts";
import { type BotReady, createBot } from "./discord/bot.ts";
import type { ThreadkeeperError } from "./errors.ts";
import type { Logger } from "./log.ts";
import { openStore } from "./session/store/open-store.ts";
import { openSessions } from "./session/store-session-manager.ts";

/** How long runs may go on when the process is asked to stop, in milliseconds. */
const stopGraceMs = 10_000;
const dayMs = 24 * 60 * 60 * 1000;

const defaultInstructions = `You are a helpful member of a Discord server. You answer in a thread, which several people may read and write in.
Be brief and concrete; answer in the language that you are spoken to. Discord shows a little Markdown: bold, italics, lists, quotes, code, but no tables and no images.`;

export interface BotPlan {
  readonly config: Config;
  readonly discord: { readonly token: string; readonly api?: string | undefined };
  /** Where sessions are kept, as `openStore` reads it. */
  readonly store: string;
  readonly log: Logger;
  /** Called if Discord shuts the bot out while it runs; the process should then end. */
  readonly onShutOut?: (error: ThreadkeeperError) => void;
}

export interface RunningBot extends BotReady {
  /** Which store it is, and where; holds no password. */
  readonly store: string;
  /** Resolves when nothing that was said to the bot is being answered or drawn. */
  idle(): Promise<void>;
  /** In order: nothing new is taken, runs get 10 s, what is drawn is drawn, Discord is left, the store closes. */
  stop(): Promise<void>;
}

/**
 * Wires the house together: config → store → sessions → agent → conversation → bot. Starts whole or not at all: what
 * was opened before a failure is closed again.
 */
export async function startBot(plan: BotPlan): Promise<RunningBot> {
  const { config, log } = plan;
  const model = resolveModel(config.model.setting, config.model);
  const store = await openStore(plan.store, { log, key: config.sessionKey });
  const opened: (() => Promise<void>)[] = [() => store.close()];
  let isListening = () => false;
  try {
    const sessions = await openSessions({
      store,
      log,
      takeOverMs: config.takeOverMs,
      isListening: () => isListening(),
    });
    opened.unshift(() => sessions.close());
    const agent = new Agent({
      model,
      sessions,
      tools: [currentTime],
      instructions: config.instructions ?? defaultInstructions,
      maxSteps: config.maxSteps,
      windowTokens: config.windowTokens,
      deadlineMs: config.deadlineMs,
      maxOutputTokens: config.model.maxOutputTokens,
      log,
    });
    const { conversation, readTally } = tallied(createConversation({ agent, sessions, log }));
    const bot = createBot({
      ...plan.discord,
      conversation,
      ownsTurns: () => sessions.isPresent(),
      allowedBots: config.allowedBots,
      catchUp: { ...config.catchUp, since: sessions.lastBeat() },
      modelName: config.model.setting === "demo" ? "the built-in demo model" : config.model.setting,
      log,
      ...(plan.onShutOut && { onShutOut: plan.onShutOut }),
    });
    isListening = () => bot.isListening();
    // Before anything new can come in: what a process that is gone left behind.
    const unfinished = await sessions.unfinished();
    const ready = await bot.start();
    bot.resume(unfinished);
    sessions.onUnfinished((sessionIds) => bot.resume(sessionIds));
    const daily = setInterval(() => log.info(readTally(), "the last day"), dayMs);
    daily.unref();
    return {
      ...ready,
      store: store.description,
      idle: () => bot.idle(),
      async stop() {
        clearInterval(daily);
        bot.closeIntake();
        await conversation.close(stopGraceMs);
        await bot.stop();
        log.info(readTally(), "stopped");
        await closeAll(opened, log);
      },
    };
  } catch (error) {
    await closeAll(opened, log);
    throw error;
  }
}

/** In order, and each whatever becomes of the others. */
async function closeAll(opened: readonly (() => Promise<void>)[], log: Logger): Promise<void> {
  for (const close of opened) {
    try {
      await close();
    } catch (error) {
      log.error({ err: error }, "something could not be closed in order");
    }
  }
}
