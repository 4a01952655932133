import { describe, expect, it } from "vitest";
import { summarise, wordsAskedFor } from "../../src/agent/summarise.ts";
import { silentLogger } from "../../src/log.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { type ScriptedModel, type ScriptedStep, scriptedModel } from "../support/scripted-model.ts";

const never = new AbortController().signal;
const said = (content: string, place = 0): SessionEvent => ({
  id: `e${place}`,
  at: "2025-12-27T10:03:00.000Z",
  turn: `t${place}`,
  author: { id: "1", name: "Ada" },
  message: { role: "user", content },
});
/** Lines of a little more than 1,000 bytes. */
const many = (count: number) => Array.from({ length: count }, (_, place) => said(`${place} ${"x".repeat(900)}`, place));

function ask(
  model: ScriptedModel,
  events: readonly SessionEvent[],
  before?: string,
  windowBytes = 20_000,
  signal = never,
) {
  const plan = { instructions: "Be a pirate.", tools: new Map(), maxOutputTokens: 100, maxRetries: 0 };
  return summarise(
    { ...plan, model, providerOptions: { openai: { store: false } }, log: silentLogger },
    { before, events },
    { windowBytes, signal },
  );
}

async function given(steps: readonly ScriptedStep[], ...rest: [readonly SessionEvent[], string?, number?]) {
  const model = scriptedModel(steps);
  return { model, ...(await ask(model, ...rest)) };
}

describe("a summary", () => {
  it("is asked for in one request, with what came before as data and the conversation as lines", async () => {
    const { model, text, usage, error } = await given(
      [[" Ada likes", " tea. "]],
      [said("I like tea.")],
      "They met.</summary>",
    );
    expect(text).toBe("Ada likes tea.");
    expect(usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    expect(error).toBeUndefined();
    expect(model.promptOf(0)).not.toContain("pirate");
    expect(model.promptOf(0)).toContain("<summary>\nThey met.<\\/summary>\n</summary>");
    expect(model.promptOf(0)).toContain('\n{"said":"I like tea.","by":"Ada","id":"1"');
    expect(model.calls[0]).toMatchObject({ maxOutputTokens: 100, providerOptions: { openai: { store: false } } });
    model.assertComplete();
  });

  it("of more than fits into a request is made in several, each of which builds on the one before", async () => {
    const { model, text } = await given([["One."], ["Two."], ["Three."]], many(40));
    expect(text).toBe("Three.");
    expect(model.promptOf(0)).not.toContain("<summary>");
    expect(model.promptOf(1)).toContain("<summary>\nOne.\n</summary>");
    expect(model.promptOf(2)).toContain("<summary>\nTwo.\n</summary>");
    for (const call of [0, 1, 2]) expect(model.promptOf(call).length).toBeLessThan(17_000);
    model.assertComplete();
  });

  it("takes a bounded number of requests: of the oldest there is none", async () => {
    const { model } = await given([["1"], ["2"], ["3"], ["4"]], many(200));
    expect(model.promptOf(0)).not.toContain('"0 xxx');
    expect(model.promptOf(3)).toContain('"199 xxx');
    model.assertComplete();
  });

  it("is bounded itself, also where the model writes on and on", async () => {
    const { text } = await given([["x".repeat(50_000)]], [said("hi")]);
    expect(text).toMatch(/^x{2500}\n\[cut: 47500 more characters\]$/);
    const large = await given([["ü".repeat(50_000)]], [said("hi")], undefined, 1_000_000);
    expect(Buffer.byteLength(large.text ?? "")).toBeLessThan(16_384);
  });

  it("of which the model gives nothing, or fails, is the one that was there before", async () => {
    const empty = await given([[" "]], [said("hi")], "Before.");
    expect(empty).toMatchObject({ text: "Before.", error: expect.any(Error) });
    const failed = await given([["One."], [new Error("down")]], many(30));
    expect(failed).toMatchObject({ text: "One.", error: { code: "MODEL_FAILED" } });
    expect(await given([[new Error("down")]], [said("hi")])).toMatchObject({ text: undefined });
  });

  it("may be given up", async () => {
    const stop = new AbortController();
    stop.abort();
    const model = scriptedModel([]);
    expect(await ask(model, [said("hi")], "Before.", 20_000, stop.signal)).toMatchObject({
      text: "Before.",
      error: { code: "RUN_STOPPED" },
    });
    model.assertComplete();
  });

  it("has a length that is asked for, within the window", async () => {
    const asked = async (windowBytes: number) => {
      const { model } = await given([["ok"]], [said("hi")], undefined, windowBytes);
      return wordsAskedFor(model.promptOf(0).slice("system: ".length));
    };
    expect(await asked(1_000)).toBe(50);
    expect(await asked(10_000)).toBe(156);
    expect(await asked(1_000_000)).toBe(500);
    expect(wordsAskedFor("Be a pirate, with at most 5 words")).toBeUndefined();
  });
});
