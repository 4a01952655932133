import type { LanguageModelV3, SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { UserContent } from "ai";
import { ThreadkeeperError, toThreadkeeperError } from "../errors.ts";
import { type Logger, silentLogger } from "../log.ts";
import { checkInput } from "../session/check-input.ts";
import type { Json } from "../session/plain-json.ts";
import { randomId } from "../session/random-id.ts";
import type { Author, ContextMessage, SessionEvent } from "../session/session-event.ts";
import type { Input, SessionManager } from "../session/session-manager.ts";
import type { AgentResult } from "./agent-event.ts";
import { type AgentStream, type OutcomeStream, openStream } from "./agent-stream.ts";
import { checkContent } from "./check-content.ts";
import { ExecutionContext } from "./execution-context.ts";
import { buildInstructions } from "./instructions.ts";
import { ModelWindow } from "./model-window.ts";
import { type SessionCall, SessionCalls } from "./session-calls.ts";
import { checkTools, type Tool } from "./tool.ts";
import { answerTurn, failCall, type TurnPlan } from "./turn.ts";
import type { Outcome } from "./waiting-calls.ts";

export type { AgentResult };

export interface AgentOptions {
  readonly model: LanguageModelV3;
  /** Without it the agent knows no sessions, and every run starts blank. */
  readonly sessions?: SessionManager;
  readonly tools?: readonly Tool[];
  /** What the agent is and how it should answer. How to read the conversation is added to it. */
  readonly instructions?: string;
  /** Model calls in a turn, at most; the last may not call tools. Default 12. */
  readonly maxSteps?: number;
  /** How long a turn may take, in milliseconds. Default 300,000. */
  readonly deadlineMs?: number;
  /** Per model call. Default 4,096. */
  readonly maxOutputTokens?: number;
  /** How often a model call that failed before its first word is repeated. Default 2. */
  readonly maxRetries?: number;
  /**
   * How much of a conversation the model is shown, in its tokens; of what grows beyond, the older half is summarised.
   * Must be well below what the model can take. Default 32,000.
   */
  readonly windowTokens?: number;
  /** The AI SDK's (https://ai-sdk.dev/docs/foundations/provider-options), over our own. */
  readonly providerOptions?: SharedV3ProviderOptions;
  readonly log?: Logger;
}

export interface ResumeOptions {
  /**
   * Ends the run. Its reason may be a `ThreadkeeperError`: `RUN_LOST`, or `RUN_SHUTDOWN`, which leaves the turn to who
   * takes the session up next; any other is a stop. What waits in the session goes on by the calls that wait for it, or
   * else when somebody calls next.
   */
  readonly signal?: AbortSignal;
  /** Called once the store has taken or refused the input: from then on, calls that begin later come behind it. */
  readonly onTaken?: () => void;
}

export interface RunOptions extends ResumeOptions {
  /** The session to go on with. Without it the run starts blank and saves nothing. */
  readonly sessionId?: string;
  /** Makes the session if it does not exist. */
  readonly create?: boolean;
  readonly author?: Author;
  /** The platform's id of the input; the same id is never answered twice. Default: a random one. */
  readonly eventId?: string;
  /** What was said nearby since the last turn. */
  readonly context?: readonly ContextMessage[];
  /** Where the answer goes; opaque, given back in `turn-start`. */
  readonly replyTo?: Json;
  /** Everything that the session lies in, so that it is found by them. */
  readonly places?: readonly string[];
}

/**
 * Runs a model and its tools on what is said to it. With a session manager and a `sessionId`, a run starts from the
 * session's history and saves the grown history back.
 *
 * Two calls on one session never run at once: an input that comes in a run waits in the store, and one turn answers
 * all that waits. A call whose input another call's turn covers yields nothing and returns that turn's result;
 * `undefined` means that its input is answered by another process, or was before.
 */
export class Agent {
  readonly #plan: TurnPlan;
  readonly #sessionCalls: SessionCalls | undefined;

  /** @throws ThreadkeeperError `TOOL_INVALID` */
  constructor(options: AgentOptions) {
    const instructions = buildInstructions(options.instructions);
    const tools = checkTools(options.tools ?? []);
    this.#plan = {
      model: options.model,
      instructions,
      tools,
      maxSteps: options.maxSteps ?? 12,
      deadlineMs: Math.min(options.deadlineMs ?? 300_000, longestTimer),
      maxOutputTokens: options.maxOutputTokens ?? 4_096,
      maxRetries: options.maxRetries ?? 2,
      windowTokens: options.windowTokens ?? 32_000,
      fixedBytes: Buffer.byteLength(JSON.stringify([instructions, ...tools])),
      // OpenAI would otherwise keep the conversation, and a stored one would come to depend on what it keeps.
      providerOptions: {
        ...options.providerOptions,
        openai: { store: false, ...options.providerOptions?.["openai"] },
      },
      log: options.log ?? silentLogger,
    };
    this.#sessionCalls = options.sessions && new SessionCalls(options.sessions, this.#plan);
  }

  /**
   * One run. Returns its result, or that of the turn that covered its input.
   * @throws ThreadkeeperError what a `turn-failed` or `call-failed` event holds; `RUN_LOST` if the session was reset
   */
  async run(input: string | UserContent, options: RunOptions = {}): Promise<AgentResult | undefined> {
    // One of its own: a signal that many calls listen to is warned of as a leak.
    const signal = AbortSignal.any(options.signal ? [options.signal] : []);
    const events = this.#events(input, options, { signal, listens: false });
    let step = await events.next();
    while (!step.done) step = await events.next();
    if (step.value && "error" in step.value) throw step.value.error;
    return step.value?.result;
  }

  /**
   * The same run as its events, as they happen. Never throws: it ends with `turn-end`, `turn-failed` or `call-failed`
   * (or with nothing, when its input is answered elsewhere or the session was reset). Once in a session's life there
   * comes `summarised` behind that, when its older part has been summarised. Pulling past `turn-end` finishes
   * the run; to leave before (`break`, `return()`) is to stop it, unless it answers others' inputs too: those keep their
   * turn, which goes on in the next call that waits for it, or else when somebody calls next.
   */
  stream(input: string | UserContent, options: RunOptions = {}): AgentStream {
    return openStream(options.signal, (signal) => this.#events(input, options, { signal, listens: true }));
  }

  /** Takes up what waits in a session, if nobody runs. */
  resume(sessionId: string, options: ResumeOptions = {}): AgentStream {
    return openStream(options.signal, (signal) => this.#resume(sessionId, options, signal));
  }

  /**
   * For an end in order: no turn begins in a session any more. Turns that have begun go on; what waits, and what is said
   * from now on, is stored for the process that comes after (`SessionManager.unfinished`, `resume`), and its calls come
   * to nothing. Summaries that are being made are given up.
   */
  retire(): void {
    this.#sessionCalls?.retire();
  }

  /** Resolves when no conversation is being summarised: that goes on beside the turns, and `run` does not wait for it. */
  async idle(): Promise<void> {
    await this.#sessionCalls?.idle();
  }

  async *#events(
    content: string | UserContent,
    options: RunOptions,
    { signal, listens }: Pick<SessionCall, "signal" | "listens">,
  ): OutcomeStream {
    const { log } = this.#plan;
    const { sessionId, create = false } = options;
    let input: Input;
    try {
      input = makeInput(content, options);
    } catch (error) {
      return yield* refuse(log, toThreadkeeperError(error), sessionId);
    }
    if (sessionId === undefined) return yield* this.#blankTurn(input, signal);
    if (!this.#sessionCalls) return yield* refuse(log, noSessions(), sessionId);
    return yield* this.#sessionCalls.events({ sessionId, input, create, signal, listens, onTaken: options.onTaken });
  }

  async *#resume(sessionId: string, { onTaken }: ResumeOptions, signal: AbortSignal): OutcomeStream {
    if (!this.#sessionCalls) return yield* refuse(this.#plan.log, noSessions(), sessionId);
    return yield* this.#sessionCalls.events({
      sessionId,
      input: undefined,
      create: false,
      signal,
      listens: true,
      onTaken,
    });
  }

  /** A turn of no session: it starts from its input alone, and nothing of it is saved. */
  async *#blankTurn({ id, author, content, context, replyTo }: Input, signal: AbortSignal): OutcomeStream {
    const turn = randomId();
    const event: SessionEvent = {
      id,
      at: new Date().toISOString(),
      turn,
      ...(author && { author }),
      ...(context && { context }),
      message: { role: "user", content },
    };
    let outcome: Outcome;
    yield* answerTurn(this.#plan, {
      context: new ExecutionContext({ turn, author, events: [event], state: {} }),
      inputs: [{ id, ...(author && { author }), ...(replyTo !== undefined && { replyTo }) }],
      signal,
      window: new ModelWindow(this.#plan, { earlier: 0 }),
      sessionId: undefined,
      isShared: false,
      save: async () => {},
      settle: (settled) => {
        outcome = settled;
      },
    });
    return outcome;
  }
}

/** A longer one, such as one of `Infinity`, would go off at once. */
const longestTimer = 2 ** 31 - 1;

/** @throws ThreadkeeperError `INPUT_INVALID`, `NOT_PLAIN_JSON` */
function makeInput(content: string | UserContent, options: RunOptions): Input {
  const { eventId: id = randomId(), author, context, replyTo, places } = options;
  const input: Input = checkInput({ id, content, author, context, replyTo, places } as Input);
  checkContent(input.content);
  return input;
}

function noSessions(): ThreadkeeperError {
  return new ThreadkeeperError("INPUT_INVALID", "a session id was given to an agent that was made without sessions");
}

async function* refuse(log: Logger, error: ThreadkeeperError, sessionId: string | undefined): OutcomeStream {
  yield failCall(log, error, sessionId);
  return { error };
}
