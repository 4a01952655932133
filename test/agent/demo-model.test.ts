import { generateText } from "ai";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { demoAnswer } from "../../src/agent/demo-answer.ts";
import { demoModel } from "../../src/agent/demo-model.ts";
import { demoSummary } from "../../src/agent/demo-summary.ts";
import { resolveModel } from "../../src/agent/model.ts";
import { currentTime } from "../../src/agent/tools/current-time.ts";
import { agentRoom, drain, shape } from "../support/agent-room.ts";

const model = demoModel({ wordDelayMs: 0 });
const room = { sessionId: "room" };
const ada = { id: "1", name: "Ada" };
const ben = { id: "2", name: "Ben" };

/** A conversation with the demo model: what it answered to each line. */
async function talk(...lines: (readonly [typeof ada, string])[]): Promise<string[]> {
  const { agent } = await agentRoom([], { model });
  const answers: string[] = [];
  for (const [author, text] of lines) answers.push((await agent.run(text, { ...room, author }))?.text ?? "");
  return answers;
}

/** The lines that an answer quotes. */
function quoted(answer: string): string[] {
  return answer.split("\n").flatMap((line) => (line.startsWith("> ") ? [line.slice(2)] : []));
}

describe("the demo model", () => {
  it("says in every answer that it is one, and in the first what it does", async () => {
    const [first, second] = await talk([ada, "Hello"], [ada, "Hello again"]);
    expect(first).toMatch(/^\(demo model\) I am the built-in demo model, not a real language model/);
    expect(second).toMatch(/^\(demo model\) Noted/);
    expect(second).not.toContain("not a real language model");
  });

  it("answers a question with what is closest to it, by whom and when", async () => {
    const answers = await talk(
      [ada, "The harvest festival begins on the third of October."],
      [ben, "My bicycle is in the cellar."],
      [ada, "Where did Ben put his bicycle?"],
      [ben, "when does the festival begin"],
    );
    expect(answers[2]).toMatch(
      /^\(demo model\) Ben said on \d{4}-\d\d-\d\d at \d\d:\d\d UTC:\n> My bicycle is in the cellar\.$/,
    );
    expect(answers[3]).toMatch(/Ada said on .*:\n> The harvest festival begins on the third of October\.$/);
  });

  it.each([
    ["Der Schlüssel liegt unter der Matte.", "Wo liegt der Schlüssel?", "Wie hoch ist der Eiffelturm?"],
    ["Ключ лежит под ковриком.", "Где лежит ключ?", "Сколько стоит хлеб?"],
    ["鍵はマットの下にあります。", "鍵はどこですか？", "天気はどう？"],
    ["钥匙在垫子下面。", "钥匙在哪里？", "今天天气怎么样？"],
    ["المفتاح تحت السجادة", "أين المفتاح؟", "كم الساعة؟"],
    ["Το κλειδί είναι κάτω από το χαλί", "Πού είναι το κλειδί;", "Τι καιρό κάνει;"],
    ["The key is under the mat <List<String>>", "Where is the key?", "How tall is the tower?"],
  ])("in any language: %s", async (fact, question, other) => {
    const answers = await talk([ada, fact], [ben, question], [ben, other]);
    expect(quoted(answers[1] ?? "")).toEqual([fact]);
    expect(answers[2]).toContain("I have nothing on that in this conversation");
  });

  it("acknowledges what it is told, and shows what it has to go by", async () => {
    const answers = await talk(
      [ada, "Set the deadline for Project Alpha to Dec 27."],
      [ada, "Update the progress."],
      [ada, "The deadline for Project Alpha moves to Jan 5."],
      [ada, "When is the deadline?"],
    );
    expect(answers[0]).toContain("Noted. With this I have 1 message to go by.");
    expect(answers[1]).toContain("2 messages to go by. Before it: Ada said");
    expect(quoted(answers[1] ?? "")).toEqual(["Set the deadline for Project Alpha to Dec 27."]);
    expect(answers[2]).toContain("Closest to it: Ada said");
    expect(quoted(answers[3] ?? "")).toEqual(["The deadline for Project Alpha moves to Jan 5."]);
  });

  it("a question about nothing in particular gets the newest; about nothing at all, the truth", async () => {
    const answers = await talk([ada, "What do you remember?"], [ada, "I like tea."], [ada, "What do you remember?"]);
    expect(answers[0]).toContain("I have nothing on that in this conversation: nothing was said before");
    expect(answers[2]).toContain("Of 1 message to go by, this is the newest.");
    expect(quoted(answers[2] ?? "")).toEqual(["I like tea."]);
  });

  it("has forgotten after a reset", async () => {
    const { agent, sessions } = await agentRoom([], { model });
    await agent.run("The parrot is called Coco.", { ...room, author: ada });
    expect((await agent.run("What is the parrot called?", room))?.text).toContain("> The parrot is called Coco.");
    await sessions.reset("room");
    const answer = await agent.run("What is the parrot called?", room);
    expect(answer?.text).toContain("I have nothing on that in this conversation: nothing was said before");
  });

  it("tells what it overheard from what it was told", async () => {
    const { agent } = await agentRoom([], { model });
    const context = [{ id: "c1", author: ben, text: "The printer is out of toner." }];
    const result = await agent.run("What is wrong with the printer?", { ...room, author: ada, context });
    expect(result?.text).toContain("Ben said nearby, not to me:\n> The printer is out of toner.");
  });

  it("answers each of several messages that one turn covers", async () => {
    const { sessions, store } = await agentRoom([]);
    for (const [id, content] of [
      ["a", "The code word is walrus."],
      ["b", "What is the code word?"],
      ["c", "What is the moon made of?"],
    ] as const) {
      await sessions.take("room", { id, content, author: ada }, { start: false });
    }
    await sessions.close();
    const { agent } = await agentRoom([], { model, store });
    const { events } = await drain(agent.resume("room"));
    const [end] = events.filter((event) => event.type === "turn-end");
    expect(end?.text.split("\n\n").slice(1)).toEqual([
      expect.stringMatching(/^Noted/),
      expect.stringMatching(/> The code word is walrus\.$/),
      expect.stringMatching(/^I have nothing on that/),
    ]);
  });

  it("reads each text once, however many questions wait", () => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, "segment");
    const reads = (facts: number, questions: number): number => {
      const text = (content: string) => [{ type: "text" as const, text: content }];
      segment.mockClear();
      demoAnswer({
        prompt: [
          ...Array.from({ length: facts }, (_, place) => ({ role: "user" as const, content: text(`fact ${place}`) })),
          { role: "assistant", content: text("(demo model) Noted.") },
          ...Array.from({ length: questions }, () => ({
            role: "user" as const,
            content: text("What colour is the apple?"),
          })),
        ],
      });
      return segment.mock.calls.length;
    };
    try {
      expect(reads(100, 50) - reads(10, 50)).toBe(90);
    } finally {
      segment.mockRestore();
    }
  });

  it("quotes what another model said in the same thread, as its own words", async () => {
    const { agent, sessions } = await agentRoom([["Mount Chimborazo is in Ecuador."]]);
    await agent.run("Tell me about a mountain", room);
    const demo = await agentRoom([], { model, sessions });
    const result = await demo.agent.run("Where is Chimborazo?", room);
    expect(result?.text).toContain("I said:\n> Mount Chimborazo is in Ecuador.");
  });

  it("shortens a long quote and keeps its lines", async () => {
    const answers = await talk([ada, `zebra one\nzebra two\n${"x".repeat(600)}`], [ada, "zebra?"]);
    expect(quoted(answers[1] ?? "").slice(0, 2)).toEqual(["zebra one", "zebra two"]);
    expect(answers[1]).toMatch(/x…$/);
    expect(answers[1]?.length).toBeLessThan(600);
  });

  it("takes no sign but the end of a line for one", async () => {
    const answers = await talk([ada, "zebra\u2028one\rtwo"], [ada, "zebra?"]);
    expect(answers[1]).toContain("> zebra\u2028one\rtwo");
  });

  it("quotes only what is in the prompt", async () => {
    const line = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((text) => text.trim() !== "");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(ada, ben), line), { minLength: 1, maxLength: 4 }),
        async (lines) => {
          const answers = await talk(...lines);
          const said = lines.flatMap(([, text]) => text.split("\n")).map((each) => each.trim());
          for (const [index, answer] of answers.entries()) {
            expect(answer).toMatch(/^\(demo model\) /);
            for (const each of quoted(answer)) expect(said.slice(0, index + said.length)).toContain(each.trim());
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("the demo model in a long conversation", () => {
  it("keeps the older part as quoted lines, and goes on quoting from them", async () => {
    const { agent, sessions } = await agentRoom([], { model, windowTokens: 4_000 });
    await agent.run("The parrot is called Coco.", { ...room, author: ada });
    for (let place = 0; place < 24; place += 1) {
      const context = [{ id: `c${place}`, author: ben, text: `Nearby ${place}` }];
      await agent.run(`Remark ${place}: ${"bla ".repeat(300)}`, { ...room, author: ben, context });
      await agent.idle();
    }
    const summary = (await sessions.get("room"))?.summary;
    expect(summary?.text).toMatch(
      /^Ada on \d{4}-\d\d-\d\d: The parrot is called Coco\.\nBen: Nearby 0\nBen on .*: Remark 0: bla/,
    );
    expect(summary?.text).toMatch(/…$/);
    const answer = await agent.run("What is the parrot called?", { ...room, author: ada });
    expect(answer?.text).toMatch(
      /^\(demo model\) My summary of what was said before says:\n> Ada on .*: The parrot is called Coco\.$/,
    );
  });

  it("quotes beginnings, and lets go of the oldest lines when there are too many words", () => {
    const lines = [{ said: "one two three", by: "Ada" }, { answered: "no" }, { said: "four five" }, { said: 6 }, null];
    const request = [...lines.map((line) => JSON.stringify(line)), "no JSON"].join("\n");
    const summary = "<summary>\nBen: zero\n</summary>\n";
    expect(demoSummary(summary + request, 100)).toBe("Ben: zero\nAda: one two three\nSomebody: four five");
    expect(demoSummary(JSON.stringify({ said: "bla ".repeat(20) }), 5)).toBe("Nothing was said in words.");
    expect(demoSummary(JSON.stringify({ said: "bla ".repeat(20) }), 12)).toBe(`Somebody:${" bla".repeat(11)}…`);
    expect(demoSummary(summary + request, 7)).toBe("Ada: one two three\nSomebody: four five");
    expect(demoSummary(request, 2)).toBe("Nothing was said in words.");
  });
});

describe("the demo model and the clock", () => {
  it("asks the tool when it is asked for the time, in the zone that is named, and reads out its result", async () => {
    const { agent } = await agentRoom([], { model, tools: [currentTime] });
    const { events, result } = await drain(agent.stream("What time is it in America/New_York?", room));
    expect(shape(events).slice(0, 3)).toEqual(["turn-start", "tool-start current_time", "tool-end current_time"]);
    expect(result?.text).toMatch(/The tool current_time says:\n> zone: America\/New_York\n> time: .*\d{4}/);
  });

  it("does not ask it about other things, nor without it, nor where tools are forbidden", async () => {
    const { agent } = await agentRoom([], { model, tools: [currentTime] });
    for (const text of ["What time is the party?", "The time is ripe.", "Where is the station?"]) {
      expect((await agent.run(text, room))?.steps).toBe(1);
    }
    const without = await agentRoom([], { model });
    expect((await without.agent.run("What time is it?", room))?.text).toContain("nothing on that");
    const bound = await agentRoom([], { model, tools: [currentTime], maxSteps: 1 });
    expect((await bound.agent.run("What time is it?", room))?.text).toContain("nothing on that");
  });

  it("reads out a failure and a plain text as they are", async () => {
    const { agent } = await agentRoom([], { model, tools: [currentTime] });
    const result = await agent.run("What time is it in Nowhere/Land?", room);
    expect(result?.text).toContain('> result: "Nowhere/Land" is not an IANA time zone');
  });
});

describe("as a model of the AI SDK", () => {
  it("streams word by word and can be stopped", async () => {
    const { agent } = await agentRoom([], { model: demoModel() });
    const stream = agent.stream("Hello", room);
    const { events } = await drain(agent.stream("Hello", { sessionId: "other", create: true }));
    const deltas = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
    expect(deltas.length).toBeGreaterThan(20);
    for (const delta of deltas) expect(delta).toMatch(/^\S+\s*$/);
    await stream.next();
    await stream.next();
    await stream.return(undefined);
    expect((await agent.run("Hello?", room))?.text).toContain("(demo model)");
  });

  it("works without our labels, and without streaming", async () => {
    const messages = [
      { role: "user" as const, content: "The pass is closed in winter." },
      { role: "assistant" as const, content: "I see." },
      { role: "user" as const, content: "Is the pass open?" },
    ];
    const { text, usage, finishReason } = await generateText({ model, messages });
    expect(text).toBe("(demo model) You said:\n> The pass is closed in winter.");
    expect(usage.outputTokens).toBeGreaterThan(5);
    expect(finishReason).toBe("stop");
    const call = await generateText({
      model: resolveModel("demo"),
      prompt: "What time is it?",
      tools: { current_time: { description: currentTime.description, inputSchema: currentTime.input } },
    });
    expect(call.toolCalls).toMatchObject([{ toolName: "current_time", input: { zone: "UTC" } }]);
  });
});
