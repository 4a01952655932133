import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextStep, type Step, urgency } from "../../src/discord/drawing.ts";
import type { ReplyView } from "../../src/reply/reply-view.ts";

type Messages = { id: string | undefined; content: string }[];

function view(chunks: readonly string[], finished = false): ReplyView {
  return { turn: "t", replyTo: { channel: "1" }, chunks, typing: !finished, finished };
}

/** What Discord would show after a step. */
function taken(messages: Messages, step: Step): Messages {
  const after = messages.map((message) => ({ ...message }));
  if (step.do === "read") return after;
  if (step.do === "remove") after.splice(step.index, 1);
  else if (step.do === "send") after.push({ id: `m${step.index}`, content: step.content });
  else after[step.index] = { id: after[step.index]?.id, content: step.content };
  return after;
}

describe("a drawing", () => {
  it("is completed in order: what stands is corrected before something is added", () => {
    const messages = [{ id: "m0", content: "one" }];
    expect(nextStep({ view: view(["one!", "two"]), messages, reading: undefined })).toEqual({
      do: "edit",
      index: 0,
      content: "one!",
    });
    expect(nextStep({ view: view(["one", "two"]), messages, reading: undefined })).toEqual({
      do: "send",
      index: 1,
      content: "two",
    });
  });

  it("leaves a deleted message deleted", () => {
    const messages = [{ id: undefined, content: "one" }];
    expect(nextStep({ view: view(["one more"]), messages, reading: undefined })).toBeUndefined();
  });

  it("takes away what is too much, from the end", () => {
    const messages = [
      { id: "m0", content: "one" },
      { id: "m1", content: "two" },
      { id: undefined, content: "three" },
    ];
    expect(nextStep({ view: view(["one"], true), messages, reading: undefined })).toEqual({ do: "remove", index: 2 });
  });

  it("that grows again takes nothing away: what was removed can't be sent a second time", () => {
    const messages = [
      { id: "m0", content: "one" },
      { id: "m1", content: "two" },
    ];
    expect(nextStep({ view: view(["one"]), messages, reading: undefined })).toBeUndefined();
  });

  it("which was begun by somebody else is not shown to go back, but ends as it should", () => {
    const messages = [{ id: "m0", content: "one and a half" }];
    const resumed = (text: string, finished = false): ReplyView => ({ ...view([text], finished), resumed: true });
    expect(nextStep({ view: resumed("one"), messages, reading: undefined })).toBeUndefined();
    expect(nextStep({ view: view(["one"]), messages, reading: undefined })).toMatchObject({ do: "edit" });
    expect(nextStep({ view: resumed("one and two"), messages, reading: undefined })).toMatchObject({ do: "edit" });
    expect(nextStep({ view: resumed("one", true), messages, reading: undefined })).toMatchObject({ do: "edit" });
  });

  it("of which nobody knows what stands is read first, once there is something to draw", () => {
    const reading = { after: "1", pages: 0, found: [] };
    expect(nextStep({ view: view([]), messages: [], reading })).toBeUndefined();
    for (const seen of [view(["one"]), view([], true)]) {
      expect(nextStep({ view: seen, messages: [], reading })).toEqual({ do: "read", reading });
    }
  });

  it("becomes its view by as many steps as there are differences, whatever stands", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 5 });
    const stood = fc.array(
      fc.record({ id: fc.constantFrom("x", undefined), content: fc.constantFrom("a", "b", "c") }),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(texts, stood, (chunks, before) => {
        let messages: Messages = before;
        for (let steps = 0; steps <= 10; steps += 1) {
          const step = nextStep({ view: view(chunks, true), messages, reading: undefined });
          if (!step) break;
          messages = taken(messages, step);
        }
        expect(messages.length).toBe(chunks.length);
        for (const [index, { id, content }] of messages.entries()) if (id) expect(content).toBe(chunks[index]);
      }),
    );
  });

  it("is urgent when it is finished, less so at its beginning, least in between", () => {
    const messages = [{ id: "m0", content: "one" }];
    expect(urgency({ view: view(["one"], true), messages })).toBe("final");
    expect(urgency({ view: view(["one"]), messages: [] })).toBe("first");
    expect(urgency({ view: view(["one"]), messages })).toBe("progress");
  });
});
