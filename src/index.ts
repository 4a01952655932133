/**
 * An agent with sessions. In the order in which one learns the house: what is remembered, where it is kept, who
 * answers, with what.
 *
 * @example
 * const sessions = await openSessions({ store: await openStore("sqlite:data/sessions.sqlite") });
 * const agent = new Agent({ model: resolveModel("demo"), sessions });
 * await sessions.create({ sessionId: "project-alpha" });
 * await agent.run("Set the deadline for Project Alpha to Dec 27.", { sessionId: "project-alpha" });
 *
 * @module
 */
export { Agent, type AgentOptions, type ResumeOptions, type RunOptions } from "./agent/agent.ts";
export type { AgentEvent, AgentResult, CallFailed, FinishReason } from "./agent/agent-event.ts";
export type { AgentStream } from "./agent/agent-stream.ts";
export { demoModel } from "./agent/demo-model.ts";
export { ExecutionContext } from "./agent/execution-context.ts";
export { limitCalls } from "./agent/limit-calls.ts";
export { type ModelOptions, resolveModel } from "./agent/model.ts";
export { defineTool, type Tool, type ToolContext } from "./agent/tool.ts";
export { currentTime } from "./agent/tools/current-time.ts";
export type { Usage } from "./agent/usage.ts";
export { type ErrorCode, type ErrorFields, StaleSessionError, ThreadkeeperError } from "./errors.ts";
export type { Json, JsonObject } from "./session/plain-json.ts";
export type { Session, Summary } from "./session/session.ts";
export type { Author, ContextMessage, SessionEvent } from "./session/session-event.ts";
export type {
  CoveredInput,
  ForkOptions,
  HistoryOptions,
  Input,
  ListOptions,
  LoadOptions,
  Rewound,
  Run,
  SessionEntry,
  SessionManager,
  StartOptions,
  Taken,
  TurnEnd,
} from "./session/session-manager.ts";
export { openStore, type StoreOptions } from "./session/store/open-store.ts";
export { type KeyvStoreOptions, openKeyvStore } from "./session/store/other.ts";
export type { Commit, Committed, Store, Stored } from "./session/store/store.ts";
export { openSessions, type SessionsOptions } from "./session/store-session-manager.ts";
