import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { onTestFinished, vi } from "vitest";
import { Agent, type AgentOptions } from "../../../src/agent/agent.ts";
import type { Conversation } from "../../../src/conversation/conversation.ts";
import { createConversation } from "../../../src/conversation/create-conversation.ts";
import { type BotPlan, type BotReady, createBot } from "../../../src/discord/bot.ts";
import { createLogger } from "../../../src/log.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../../src/sandbox/sandbox.ts";
import type { SessionManager } from "../../../src/session/session-manager.ts";
import { openStore } from "../../../src/session/store/open-store.ts";
import { openSessions, type SessionsOptions } from "../../../src/session/store-session-manager.ts";

export interface HouseOptions {
  readonly model: LanguageModelV3;
  readonly agent?: Partial<AgentOptions>;
  readonly bot?: Partial<BotPlan>;
  readonly sessions?: Partial<SessionsOptions>;
  readonly sandbox?: SandboxOptions;
  /** Milliseconds that runs get when the bot is stopped; default 10,000 as in the program. */
  readonly graceMs?: number;
  /** Whether `start` waits until Discord knows the commands, which the program does not. Default true. */
  readonly awaitsCommands?: boolean;
  /** Whether `start` waits until what was said meanwhile is heard, which the program does not. Default true. */
  readonly awaitsCatchUp?: boolean;
}

/** One process's worth of bot, wired as the program wires it. */
export interface RunningHouse extends BotReady {
  readonly sessions: SessionManager;
  /** Resolves when no answer is under way. */
  quiet(): Promise<void>;
  /** In the program's order. */
  stop(): Promise<void>;
  /** Leaves everything as a process does that is killed: nothing is ended, finished or drawn. */
  crash(): Promise<void>;
}

export interface House {
  readonly sandbox: Sandbox;
  /** Where the SQLite file is. */
  readonly folder: string;
  /** What was logged, one object a line. */
  readonly logged: readonly Record<string, unknown>[];
  /** Starts the bot; of the one before, only the SQLite file is left. */
  start(options?: Partial<HouseOptions>): Promise<RunningHouse>;
}

/** A sandbox and a folder for a real SQLite file; both, and every bot started on them, end with the test. */
export async function openHouse(plan: HouseOptions): Promise<House> {
  const folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-e2e-"));
  const sandbox = await startSandbox(plan.sandbox);
  const running = new Set<RunningHouse>();
  const logged: Record<string, unknown>[] = [];
  const log = createLogger({
    level: "trace",
    secrets: [sandbox.botToken],
    destination: { write: (line) => void logged.push(JSON.parse(line)) },
  });
  onTestFinished(async () => {
    for (const house of running) await house.stop();
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(changes: Partial<HouseOptions> = {}): Promise<RunningHouse> {
    const {
      model,
      agent: agentOptions,
      bot: botOptions,
      sessions: sessionsOptions,
      graceMs = 10_000,
      awaitsCommands = true,
      awaitsCatchUp = true,
    } = { ...plan, ...changes };
    const store = await openStore(`sqlite:${path.join(folder, "sessions.sqlite")}`, { log });
    const sessions = await openSessions({ store, log, ...sessionsOptions });
    const agent = new Agent({ model, sessions, maxRetries: 0, log, ...agentOptions });
    const conversation = createConversation({ agent, sessions, log });
    const answers = new Set<Promise<void>>();
    const watched: Conversation = {
      memory: conversation.memory,
      resume: (sessionId) => conversation.resume(sessionId),
      close: (graceMs) => conversation.close(graceMs),
      handle(...args) {
        const events = conversation.handle(...args);
        let end = () => {};
        const over = new Promise<void>((resolve) => {
          end = resolve;
        });
        answers.add(over);
        return untilEnd(events, () => {
          answers.delete(over);
          end();
        });
      },
    };
    const bot = createBot({
      token: sandbox.botToken,
      api: sandbox.api,
      conversation: watched,
      ownsTurns: () => sessions.isPresent(),
      catchUp: { hours: 24, messages: 200, since: sessions.lastBeat() },
      log,
      ...botOptions,
    });
    const end = async () => {
      running.delete(house);
      await bot.stop();
      await sessions.close();
      await store.close();
    };
    let ready: BotReady;
    try {
      ready = await bot.start();
    } catch (error) {
      await sessions.close();
      await store.close();
      throw error;
    }
    const house: RunningHouse = {
      ...ready,
      sessions,
      async quiet() {
        while (answers.size > 0) await Promise.all(answers);
      },
      async stop() {
        bot.closeIntake();
        await conversation.close(graceMs);
        await end();
      },
      async crash() {
        bot.closeIntake();
        await sessions.close();
        await end();
      },
    };
    running.add(house);
    if (awaitsCommands) await vi.waitUntil(() => sandbox.state.commands.length > 0, { timeout: 10_000 });
    bot.resume(await sessions.unfinished());
    if (awaitsCatchUp) await vi.waitUntil(() => bot.isListening(), { timeout: 30_000 });
    sessions.onUnfinished((sessionIds) => bot.resume(sessionIds));
    return house;
  }

  return { sandbox, folder, logged, start };
}

async function* untilEnd<Event>(events: AsyncIterable<Event>, onEnd: () => void): AsyncGenerator<Event, void> {
  try {
    yield* events;
  } finally {
    onEnd();
  }
}
