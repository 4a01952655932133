import type { LanguageModelV3 } from "@ai-sdk/provider";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { defineTool } from "../../src/agent/tool.ts";
import { hasCode } from "../../src/errors.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { drain, transcript } from "../support/agent-room.ts";
import { FaultyStore } from "../support/faulty-store.ts";
import { scriptedModel } from "../support/scripted-model.ts";
import type { StorePlace } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";
import { expectWhole } from "../support/whole-session.ts";

/** Rolls when it is asked to and has not, and else says what it makes of it. */
const model: LanguageModelV3 = {
  ...scriptedModel([]),
  async doStream(options) {
    const { prompt } = options;
    const asked = prompt.findLastIndex(({ role }) => role === "user");
    const words = JSON.stringify(prompt[asked]?.content);
    const rolled = prompt.slice(asked).some(({ role }) => role === "tool");
    const step = words.includes("roll") && !rolled ? ["Let me.", { tool: "roll", input: {} }] : [`Yes, ${rolled}.`];
    return scriptedModel([step]).doStream(options);
  },
};

const earlier = ["user: hello", "assistant: Yes, false."];
const asked = [...earlier, "user: roll"];
const called = [...asked, "assistant: Let me.", "call roll {}"];
const rolled = [...called, 'result roll "six"'];
const answered = [...rolled, "assistant: Yes, true."];
/** After each of the turn's commits. The fifth only ends the run. */
const whole = [earlier, asked, called, rolled, answered];

describe.each(everyPlace)("A turn with a tool call on $kind that fails at any one call", ({ makePlace }) => {
  let place: StorePlace;
  let store: Store;
  let rolls = 0;
  const roll = defineTool({
    name: "roll",
    description: "Rolls a die.",
    input: z.object({}),
    run: (_, { setState }) => {
      rolls += 1;
      setState({ rolled: 1 });
      return "six";
    },
  });
  const open = (through: Store) => openSessions({ store: through, takeOverMs: 600_000 });
  const agentOn = (sessions: SessionManager) => new Agent({ model, sessions, tools: [roll], maxRetries: 0 });

  beforeEach(async () => {
    place = await makePlace();
    store = await place.open();
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  for (const failAfterwards of [false, true]) {
    for (const goesOn of ["the same process", "another process"] as const) {
      it(`${failAfterwards ? "after it was done" : "before it is done"} is whole, and ${goesOn} goes on`, async () => {
        const seen = new Set<number>();
        let failures = 0;
        for (let failAt = 1, failed = true; failed; failAt++) {
          const sessionId = `s${failAt}`;
          const before = await open(store);
          await agentOn(before).run("hello", { sessionId, create: true });
          await before.close();

          const faulty = new FaultyStore(store);
          const sessions = await open(faulty);
          rolls = 0;
          const last = faulty.calls + failAt;
          Object.assign(faulty, { failAt: last, failAfterwards });
          const agent = agentOn(sessions);
          const outcome = await agent.run("roll", { sessionId }).catch((error) => error);
          faulty.failAt = Number.POSITIVE_INFINITY;
          failed = faulty.calls >= last;
          failures += failed ? 1 : 0;
          if (outcome instanceof Error) expect(hasCode(outcome, "STORE_UNAVAILABLE")).toBe(true);
          else expect(outcome).toMatchObject({ text: "Let me.\n\nYes, true." });

          const reader = await open(store);
          const lines = await transcript(reader, sessionId);
          expect(whole).toContainEqual(lines);
          const commits = whole.findIndex((each) => each.length === lines.length);
          expect((await reader.get(sessionId))?.state).toEqual(commits >= 3 ? { rolled: 1 } : {});
          await expectWhole(store, sessionId);
          seen.add(commits);

          if (goesOn === "another process") await sessions.close();
          const next = goesOn === "another process" ? agentOn(reader) : agent;
          expect((await next.run("and now?", { sessionId }))?.text).toBe("Yes, false.");
          const after = await transcript(reader, sessionId);
          expect(after.slice(0, lines.length)).toEqual(lines);
          expect(after.slice(-2)).toEqual(["user: and now?", "assistant: Yes, false."]);
          expect(after.filter((line) => line === "user: roll").length).toBe(commits === 0 ? 0 : 1);
          expect(rolls).toBeLessThanOrEqual(1);
          await expectWhole(store, sessionId);
          expect(await reader.unfinished()).toEqual([]);
          expect((await drain(next.resume(sessionId))).events).toEqual([]);
          await sessions.close();
          await reader.close();
        }
        // The reads of a process that knows nothing yet, and five commits. A save that failed is tried once more.
        expect(failures).toBe(7);
        expect([...seen].sort()).toEqual(failAfterwards ? [0, 1, 2, 3, 4] : [0, 2, 3, 4]);
      });
    }
  }
});
