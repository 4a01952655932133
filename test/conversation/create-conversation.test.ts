import { describe, expect, test } from "vitest";
import { createConversation } from "../../src/conversation/create-conversation.ts";
import type { Prepare } from "../../src/conversation/inbound.ts";
import type { TurnEvent } from "../../src/conversation/turn-event.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { transcript } from "../support/agent-room.ts";
import { forever } from "../support/scripted-model.ts";
import { bob, commands, conversationRoom, gate, read, says, until, words } from "./support/conversation-room.ts";

describe("a message", () => {
  test("is a turn of its session, and the next one knows it", async () => {
    const { conversation, model, sessions } = await conversationRoom([["Noted: ", "Dec 27."], ["It is Dec 27."]]);
    const first = await read(conversation.handle(says("m1", "The deadline is Dec 27.")));
    expect(words(first)).toEqual(["turn for m1", 'said "Noted: Dec 27."']);
    expect(first[0]).toMatchObject({ replyTo: { message: "m1" } });
    await read(conversation.handle(says("m2", "When is the deadline?", { author: bob })));
    expect(model.promptOf(1)).toContain("The deadline is Dec 27.");
    expect(await transcript(sessions)).toEqual([
      "user Ada: The deadline is Dec 27.",
      "assistant: Noted: Dec 27.",
      "user Bob: When is the deadline?",
      "assistant: It is Dec 27.",
    ]);
  });

  test("tells the session what it lies in", async () => {
    const taken: unknown[] = [];
    const { conversation } = await conversationRoom([["Hello"]], {
      override: (sessions) => ({
        take(sessionId, input, options) {
          if (input) taken.push(input.places);
          return sessions.take(sessionId, input, options);
        },
      }),
    });
    await read(conversation.handle({ ...says("m1", "hi"), places: ["server 1", "channel 2"] }));
    expect(taken).toEqual([["server 1", "channel 2"]]);
  });

  test("makes the session of a thread that is new", async () => {
    const { conversation, sessions } = await conversationRoom([["Hello"]]);
    await read(conversation.handle(says("m1", "hi", { sessionId: "discord:9" })));
    expect(await transcript(sessions, "discord:9")).toEqual(["user Ada: hi", "assistant: Hello"]);
  });

  test("that is delivered twice is answered once", async () => {
    const { conversation, model } = await conversationRoom([["Hello"]]);
    const both = await Promise.all([
      read(conversation.handle(says("m1", "hi"))),
      read(conversation.handle(says("m1", "hi"))),
    ]);
    expect(both.map(words)).toEqual([["turn for m1", 'said "Hello"'], []]);
    expect(await read(conversation.handle(says("m1", "hi")))).toEqual([]);
    model.assertComplete();
  });

  test.each(["", " \n\t", "\u200b\u2060"])("that says nothing (%j) gets a word, and no turn", async (text) => {
    const { conversation, model } = await conversationRoom([]);
    expect(await read(conversation.handle(says("m1", text)))).toEqual([
      { type: "notice", reason: "nothing-said", replyTo: { message: "m1" } },
    ]);
    model.assertComplete();
  });

  test("that is only a picture is answered, and the model is told that it can't see it", async () => {
    const { conversation, model } = await conversationRoom([["I can't see pictures."]]);
    const attachments = [{ name: "cat.png", mediaType: "image/png", bytes: 123_456 }];
    expect(words(await read(conversation.handle({ ...says("m1", ""), attachments })))).toEqual([
      "turn for m1",
      'said "I can\'t see pictures."',
    ]);
    expect(model.promptOf(0)).toMatch(/can't open attachments: \\?"cat\.png\\?" \(image\/png, 123 kB\)/);
  });

  test("that the model fails on is told of, and the next one works", async () => {
    const { conversation } = await conversationRoom([[new Error("down")], ["Here again."]]);
    expect(words(await read(conversation.handle(says("m1", "hi"))))).toEqual(["turn for m1", "failed MODEL_FAILED"]);
    expect(words(await read(conversation.handle(says("m2", "and now?"))))).toEqual([
      "turn for m2",
      'said "Here again."',
    ]);
  });
});

describe("a message whose preparation finds out that it belongs to another session", () => {
  const moved: Prepare = async () => ({ sessionId: "place", replyTo: { channel: "place" } });

  test("is a turn of that one, which a reset of that one forgets", async () => {
    const { conversation, sessions, model } = await conversationRoom([["One."], ["Two."]]);
    const first = await read(conversation.handle(says("m1", "first", { sessionId: "own" }), moved));
    expect(first[0]).toMatchObject({ type: "turn-start", replyTo: { channel: "place" } });
    await read(conversation.handle(says("m2", "second", { sessionId: "other" }), moved));
    expect(model.promptOf(1)).toContain("first");
    expect(await sessions.get("own")).toBeUndefined();
    expect(await transcript(sessions, "place")).toHaveLength(4);
    const reset = conversation.handle(commands("reset", { sessionId: "place", privileged: true }));
    expect(words(await read(reset))).toEqual(["notice forgotten"]);
  });

  test("is stopped there", async () => {
    const { conversation } = await conversationRoom([["so far ", forever]]);
    const events: TurnEvent[] = [];
    const answer = (async () => {
      for await (const event of conversation.handle(says("m1", "hi", { sessionId: "own" }), moved)) events.push(event);
    })();
    await until(() => events.some(({ type }) => type === "text-delta"));
    expect(words(await read(conversation.handle(commands("stop", { sessionId: "place" }))))).toEqual([
      "notice stopped",
    ]);
    await answer;
    expect(words(events)).toEqual(["turn for m1", "failed RUN_STOPPED"]);
  });

  test("takes its place there in the order in which it got there, behind what is being prepared", async () => {
    const { open, passed } = gate();
    const { conversation, sessions } = await conversationRoom([["One."], ["Two."]]);
    const before = read(
      conversation.handle(says("m1", "first", { sessionId: "place" }), async () => {
        await passed;
        return {};
      }),
    );
    const after = read(conversation.handle(says("m2", "second", { sessionId: "own" }), moved));
    await new Promise((resolve) => setTimeout(resolve, 20));
    open();
    await Promise.all([before, after]);
    expect((await transcript(sessions, "place")).filter((line) => line.startsWith("user"))).toEqual([
      "user Ada: first",
      "user Ada: second",
    ]);
  });

  test("is answered once, also when it is delivered again", async () => {
    const { conversation, model } = await conversationRoom([["One."]]);
    await read(conversation.handle(says("m1", "first", { sessionId: "own" }), moved));
    expect(await read(conversation.handle(says("m1", "first", { sessionId: "own" }), moved))).toEqual([]);
    model.assertComplete();
  });
});

describe("messages that come while a turn is under way", () => {
  test("two fast messages are answered in order, and nothing is lost", async () => {
    const { open, passed } = gate();
    const { conversation, sessions } = await conversationRoom([[passed, "One."], ["Two."]]);
    const first = read(conversation.handle(says("m1", "first")));
    const second = read(conversation.handle(says("m2", "second", { author: bob })));
    open();
    expect(words(await first)).toEqual(["turn for m1", 'said "One."']);
    expect(words(await second)).toEqual(["turn for m2", 'said "Two."']);
    expect(await transcript(sessions)).toEqual([
      "user Ada: first",
      "assistant: One.",
      "user Bob: second",
      "assistant: Two.",
    ]);
  });

  test("one turn answers all that waits when it begins", async () => {
    const { open, passed } = gate();
    const { conversation, model } = await conversationRoom([[passed, "One."], ["All three."]]);
    const streams = ["m1", "m2", "m3", "m4"].map((id) => read(conversation.handle(says(id, `text of ${id}`))));
    await until(() => model.calls.length === 1);
    open();
    expect((await Promise.all(streams)).map(words)).toEqual([
      ["turn for m1", 'said "One."'],
      ["turn for m2+m3+m4", 'said "All three."'],
      [],
      [],
    ]);
    expect(model.promptOf(1)).toMatch(/text of m2[\s\S]*text of m3[\s\S]*text of m4/);
  });

  test("20 at once are each covered by exactly one turn, in order", async () => {
    const { conversation, model } = await conversationRoom(Array.from({ length: 20 }, () => ["Yes."]));
    const ids = Array.from({ length: 20 }, (_, index) => `m${index}`);
    const all = (await Promise.all(ids.map((id) => read(conversation.handle(says(id, id)))))).flat();
    const covered = all.flatMap((event) => (event.type === "turn-start" ? event.inputs.map(({ id }) => id) : []));
    expect(covered).toEqual(ids);
    expect(all.filter(({ type }) => type === "turn-end")).toHaveLength(model.calls.length);
  });

  test("past the bound the person is told, and what waits is answered", async () => {
    const { open, passed } = gate();
    const sessions = await openSessions({ store: openMemoryStore(), maxWaiting: 2 });
    const { conversation } = await conversationRoom([[passed, "One."], ["Rest."]], { sessions });
    const streams = ["m1", "m2", "m3", "m4"].map((id) => read(conversation.handle(says(id, id))));
    expect(await streams[3]).toEqual([{ type: "notice", reason: "queue-full", limit: 2, replyTo: { message: "m4" } }]);
    open();
    expect((await Promise.all(streams)).flatMap(words)).toEqual([
      "turn for m1",
      'said "One."',
      "turn for m2+m3",
      'said "Rest."',
      "notice queue-full",
    ]);
  });

  test("sessions don't wait for each other", async () => {
    const { open, passed } = gate();
    const { conversation } = await conversationRoom([[passed, "One."], ["Other."]]);
    const slow = read(conversation.handle(says("m1", "hi")));
    const other = await read(conversation.handle(says("m2", "hi", { sessionId: "other" })));
    expect(words(other)).toEqual(["turn for m2", 'said "Other."']);
    open();
    await slow;
  });

  test("a place is taken when handle is called, also if nobody pulls for a while", async () => {
    const { conversation } = await conversationRoom([["One."], ["Two."]]);
    const first = conversation.handle(says("m1", "first"));
    const second = conversation.handle(says("m2", "second"));
    const events = read(second);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(words(await read(first))).toEqual(["turn for m1", 'said "One."']);
    expect(words(await events)).toEqual(["turn for m2", 'said "Two."']);
  });
});

describe("preparation", () => {
  test("a slow one of the first message does not change the order", async () => {
    const { conversation } = await conversationRoom([["One."], ["Two."]]);
    const { open, passed } = gate();
    const prepared: string[] = [];
    const slow: Prepare = async () => {
      await passed;
      prepared.push("slow");
      return {};
    };
    const fast: Prepare = async () => {
      prepared.push("fast");
      return {};
    };
    const first = read(conversation.handle(says("m1", "first"), slow));
    const second = read(conversation.handle(says("m2", "second"), fast));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(prepared).toEqual([]);
    open();
    expect(words(await first)).toEqual(["turn for m1", 'said "One."']);
    expect(words(await second)).toEqual(["turn for m2", 'said "Two."']);
    expect(prepared).toEqual(["slow", "fast"]);
  });

  test("says where the answer goes and what was said around", async () => {
    const { conversation, model } = await conversationRoom([["Yes."]]);
    const context = [{ id: "c1", author: bob, text: "Lunch is at noon." }];
    const events = await read(
      conversation.handle(says("m1", "When is lunch?"), async () => ({ replyTo: { thread: "t" }, context })),
    );
    expect(events[0]).toMatchObject({ type: "turn-start", replyTo: { thread: "t" } });
    expect(model.promptOf(0)).toContain("Lunch is at noon.");
  });

  test("that fails is told where the message stands, and holds up nobody", async () => {
    const { conversation, model } = await conversationRoom([["Two."]]);
    const error = new ThreadkeeperError("DISCORD_PERMISSION_MISSING", "no", { fields: { permissions: ["X"] } });
    const failing = read(
      conversation.handle(says("m1", "hi"), async () => {
        throw error;
      }),
    );
    const next = read(conversation.handle(says("m2", "hi")));
    expect(await failing).toEqual([
      {
        type: "notice",
        reason: "failed",
        error,
        reference: expect.stringMatching(/^[0-9a-z]{6}$/),
        replyTo: { message: "m1" },
      },
    ]);
    expect(words(await next)).toEqual(["turn for m2", 'said "Two."']);
    model.assertComplete();
  });

  test("that never returns is given up, and holds up nobody", async () => {
    const { conversation } = await conversationRoom([["Two."]], { prepareMs: 10 });
    const hung = read(conversation.handle(says("m1", "hi"), () => forever));
    const next = read(conversation.handle(says("m2", "hi")));
    expect(words(await hung)).toEqual(["notice failed RUN_DEADLINE"]);
    expect(words(await next)).toEqual(["turn for m2", 'said "Two."']);
  });

  test("that goes on at shutdown ends in the store, and so does what stands behind it: the next process answers", async () => {
    const store = openMemoryStore();
    const { conversation, model, sessions } = await conversationRoom([], { store });
    const { open, passed } = gate();
    const prepare: Prepare = async () => {
      await passed;
      return { replyTo: { thread: "t" } };
    };
    const events = read(conversation.handle(says("m1", "hi"), prepare));
    const behind = read(conversation.handle(says("m2", "me too", { author: bob })));
    const closed = conversation.close(60_000);
    open();
    await closed;
    expect([await events, await behind]).toEqual([[], []]);
    model.assertComplete();
    await sessions.close();
    const next = await conversationRoom([["Hello again."]], { store });
    expect(await next.sessions.unfinished()).toEqual(["room"]);
    const late = await read(next.conversation.resume("room"));
    expect(words(late)).toEqual(["turn for m1+m2", 'said "Hello again."']);
    expect(late[0]).toMatchObject({ inputs: [{ replyTo: { thread: "t" } }, { replyTo: { message: "m2" } }] });
    expect(await next.sessions.unfinished()).toEqual([]);
  });

  test("that does not end in the grace of a shutdown is told of, and so is what stands behind it", async () => {
    const { conversation, model, sessions } = await conversationRoom([]);
    const aborted: Prepare = (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
      });
    const prepared: string[] = [];
    const events = read(conversation.handle(says("m1", "hi"), aborted));
    const behind = read(
      conversation.handle(says("m2", "hi"), async () => {
        prepared.push("m2");
        return {};
      }),
    );
    await conversation.close(5);
    expect(words(await events)).toEqual(["notice failed RUN_SHUTDOWN"]);
    expect(words(await behind)).toEqual(["notice failed RUN_SHUTDOWN"]);
    expect(prepared).toEqual([]);
    expect(await transcript(sessions)).toEqual([]);
    model.assertComplete();
  });

  test("that is cut in the moment in which it ends is told of where the answer would have gone", async () => {
    const { conversation, takes } = await conversationRoom([]);
    const events = read(
      conversation.handle(says("m1", "hi"), async (signal) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { replyTo: { thread: "t" } };
      }),
    );
    await conversation.close(5);
    expect(words(await events)).toEqual(["notice failed RUN_SHUTDOWN"]);
    expect(takes).toEqual([]);
  });
});

describe("/reset", () => {
  test("in a run stops it: the late result is neither stored nor told, and the next turn starts empty", async () => {
    const { conversation, model, sessions } = await conversationRoom([["Half of ", forever, "it."], ["Who are you?"]]);
    const run = read(conversation.handle(says("m1", "I am Ada.")));
    const waiting = read(conversation.handle(says("m2", "Hello?")));
    await until(() => model.calls.length === 1);
    expect(words(await read(conversation.handle(commands("reset", { privileged: true }))))).toEqual([
      "notice forgotten",
    ]);
    expect((await run).map(({ type }) => type)).toEqual(["turn-start", "text-delta"]);
    expect(await waiting).toEqual([]);
    expect(await transcript(sessions)).toEqual([]);
    await read(conversation.handle(says("m3", "Who am I?")));
    expect(model.promptOf(1)).not.toContain("I am Ada.");
    expect(await transcript(sessions)).toEqual(["user Ada: Who am I?", "assistant: Who are you?"]);
  });

  test("acts at once, whether or not anybody pulls", async () => {
    const { conversation, model } = await conversationRoom([[forever]]);
    const run = read(conversation.handle(says("m1", "hi")));
    await until(() => model.calls.length === 1);
    conversation.handle(commands("reset", { privileged: true }));
    expect(words(await run)).toEqual(["turn for m1"]);
  });

  test("leaves every other session alone, also one that runs", async () => {
    const { open, passed } = gate();
    const { conversation, sessions } = await conversationRoom([[passed, "Still here."]]);
    await sessions.create({ sessionId: "other" });
    const run = read(conversation.handle(says("m1", "hi")));
    await read(conversation.handle(commands("reset", { privileged: true, sessionId: "other" })));
    open();
    expect(words(await run)).toEqual(["turn for m1", 'said "Still here."']);
    expect(await transcript(sessions)).toEqual(["user Ada: hi", "assistant: Still here."]);
  });

  test("leaves alone what has its place but no turn yet", async () => {
    const { conversation } = await conversationRoom([["New start."]]);
    const { open, passed } = gate();
    const preparing = read(
      conversation.handle(says("m1", "hi"), async () => {
        await passed;
        return {};
      }),
    );
    await read(conversation.handle(commands("reset", { privileged: true })));
    open();
    expect(words(await preparing)).toEqual(["turn for m1", 'said "New start."']);
  });

  test("is for the privileged, and says so if there was nothing", async () => {
    const { conversation, sessions } = await conversationRoom([["Hello"]]);
    await read(conversation.handle(says("m1", "hi")));
    expect(await read(conversation.handle(commands("reset")))).toEqual([
      { type: "notice", reason: "not-allowed", what: "reset", replyTo: { command: "reset" } },
    ]);
    expect(await transcript(sessions)).toHaveLength(2);
    const nowhere = commands("reset", { privileged: true, sessionId: "nowhere" });
    expect(words(await read(conversation.handle(nowhere)))).toEqual(["notice nothing-to-forget"]);
  });

  test("that the store refuses is told of", async () => {
    const { conversation, sessions } = await conversationRoom([]);
    await sessions.close();
    expect(words(await read(conversation.handle(commands("reset", { privileged: true }))))).toEqual([
      "notice failed STORE_CLOSED",
    ]);
  });
});

describe("/stop", () => {
  test("ends the run at its asker's word, keeps what was said, and what waits goes on", async () => {
    const { conversation, model, sessions } = await conversationRoom([["As I was say", forever], ["Next."]]);
    const seen: TurnEvent[] = [];
    const run = (async () => {
      for await (const event of conversation.handle(says("m1", "Tell me a story."))) seen.push(event);
    })();
    await until(() => seen.some(({ type }) => type === "text-delta"));
    const waiting = read(conversation.handle(says("m2", "And then?", { author: bob })));
    expect(await read(conversation.handle(commands("stop")))).toEqual([
      { type: "notice", reason: "stopped", replyTo: { command: "stop" } },
    ]);
    await run;
    expect(words(seen)).toEqual(["turn for m1", "failed RUN_STOPPED"]);
    expect(words(await waiting)).toEqual(["turn for m2", 'said "Next."']);
    expect(await transcript(sessions)).toEqual([
      "user Ada: Tell me a story.",
      "assistant: As I was say",
      "user Bob: And then?",
      "assistant: Next.",
    ]);
    model.assertComplete();
  });

  test("frees a thread whose model never answers", async () => {
    const { conversation, model } = await conversationRoom([[forever], ["Here."]]);
    const hung = read(conversation.handle(says("m1", "hi")));
    await until(() => model.calls.length === 1);
    await read(conversation.handle(commands("stop")));
    expect(words(await hung)).toEqual(["turn for m1", "failed RUN_STOPPED"]);
    expect(words(await read(conversation.handle(says("m2", "hi"))))).toEqual(["turn for m2", 'said "Here."']);
  });

  test("of somebody else's turn is for the privileged", async () => {
    const { conversation, model } = await conversationRoom([[forever]]);
    const run = read(conversation.handle(says("m1", "hi")));
    await until(() => model.calls.length === 1);
    expect(await read(conversation.handle(commands("stop", { author: bob })))).toEqual([
      { type: "notice", reason: "not-allowed", what: "stop", replyTo: { command: "stop" } },
    ]);
    expect(words(await read(conversation.handle(commands("stop", { author: bob, privileged: true }))))).toEqual([
      "notice stopped",
    ]);
    expect(words(await run)).toEqual(["turn for m1", "failed RUN_STOPPED"]);
  });

  test("when nothing runs says so, whoever asks, and while an answer is being drawn it is no turn to stop", async () => {
    const { conversation } = await conversationRoom([["Done."]]);
    expect(words(await read(conversation.handle(commands("stop"))))).toEqual(["notice nothing-to-stop"]);
    expect(words(await read(conversation.handle(commands("stop", { privileged: true }))))).toEqual([
      "notice nothing-to-stop",
    ]);
    for await (const event of conversation.handle(says("m1", "hi"))) {
      if (event.type !== "turn-end") continue;
      const late = await read(conversation.handle(commands("stop", { privileged: true })));
      expect(words(late)).toEqual(["notice nothing-to-stop"]);
    }
  });

  test("of a run that nobody here drives takes the right to stop any, and what waits goes on at once", async () => {
    const store = openMemoryStore();
    const { conversation } = await conversationRoom([["Here."]], { store });
    const elsewhere = await openSessions({ store });
    await elsewhere.take("room", { id: "m0", content: "left behind" });
    expect(await read(conversation.handle(says("m1", "hi")))).toEqual([]);
    expect(words(await read(conversation.handle(commands("stop"))))).toEqual(["notice nothing-to-stop"]);
    const events = await read(conversation.handle(commands("stop", { privileged: true })));
    expect(words(events)).toEqual(["notice interrupted", "turn for m1", 'said "Here."']);
    expect(events[1]).toMatchObject({ replyTo: { message: "m1" } });
  });

  test("of such a run frees the thread also while a message that found it has not been read to its end", async () => {
    const store = openMemoryStore();
    const { conversation } = await conversationRoom([["Here."]], { store });
    const elsewhere = await openSessions({ store });
    await elsewhere.take("room", { id: "m0", content: "left behind" });
    const waiting = conversation.handle(says("m1", "hi"));
    let control: string | undefined;
    await until(() => {
      void store.get(["control/room"]).then(([stored]) => {
        control = stored?.value;
      });
      return control?.includes('"m1"') ?? false;
    });
    const stopped = read(conversation.handle(commands("stop", { privileged: true })));
    const events = [...(await stopped), ...(await read(waiting))];
    expect(words(events)).toEqual(["notice interrupted", "turn for m1", 'said "Here."']);
  });

  test("brings on what waits and has nobody here who would", async () => {
    const store = openMemoryStore();
    const { conversation, model } = await conversationRoom([["Half", forever], ["Here."]], { store });
    const run = read(conversation.handle(says("m1", "hi")));
    await until(() => model.calls.length === 1);
    await (await openSessions({ store })).take("room", { id: "m2", content: "heard by another process" });
    expect(words(await read(conversation.handle(commands("stop"))))).toEqual([
      "notice stopped",
      "turn for m2",
      'said "Here."',
    ]);
    expect(words(await run)).toEqual(["turn for m1", "failed RUN_STOPPED"]);
  });

  test("works before anybody has pulled an event of the run", async () => {
    const { conversation, takes } = await conversationRoom([[forever]]);
    const run = conversation.handle(says("m1", "hi"));
    await until(() => takes.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const stop = read(conversation.handle(commands("stop")));
    expect(words(await read(run))).toEqual(["turn for m1", "failed RUN_STOPPED"]);
    expect(words(await stop)).toEqual(["notice stopped"]);
  });
});

describe("a reader who leaves", () => {
  test("in the middle stops the run, and what waits goes on", async () => {
    const { conversation, model } = await conversationRoom([["One ", forever], ["Two."]]);
    const waiting: Promise<TurnEvent[]>[] = [];
    for await (const event of conversation.handle(says("m1", "hi"))) {
      if (event.type !== "text-delta") continue;
      waiting.push(read(conversation.handle(says("m2", "hi"))));
      break;
    }
    expect(words((await Promise.all(waiting)).flat())).toEqual(["turn for m2", 'said "Two."']);
    expect(model.abandoned).toBe(1);
  });

  test("of a turn that answers others too leaves it to them", async () => {
    const { open, passed } = gate();
    const { conversation, model } = await conversationRoom([[passed, "One."], ["Half", forever], ["For Bob and Ada."]]);
    const one = read(conversation.handle(says("m1", "hi")));
    const two = (async () => {
      for await (const event of conversation.handle(says("m2", "and I?"))) if (event.type === "text-delta") return;
    })();
    const three = read(conversation.handle(says("m3", "me too", { author: bob })));
    await until(() => model.calls.length === 1);
    open();
    await Promise.all([one, two]);
    expect(words(await three)).toEqual(["turn for m2+m3", 'said "For Bob and Ada."']);
  });

  test("before the first event, or while one is awaited, frees the session as well", async () => {
    const { conversation, takes } = await conversationRoom([[forever], ["Three."]]);
    const unread = conversation.handle(says("m1", "hi"))[Symbol.asyncIterator]();
    await until(() => takes.length === 1);
    await unread.return?.();
    const pulled = conversation.handle(says("m2", "hi"))[Symbol.asyncIterator]();
    await pulled.next();
    const next = pulled.next();
    await pulled.return?.();
    await next;
    expect(words(await read(conversation.handle(says("m3", "hi"))))).toEqual(["turn for m3", 'said "Three."']);
  });

  test("during the preparation takes no turn", async () => {
    const { conversation, model, takes } = await conversationRoom([]);
    const events = conversation.handle(says("m1", "hi"), () => forever)[Symbol.asyncIterator]();
    await events.return?.();
    await conversation.close(1000);
    expect(takes).toEqual([]);
    model.assertComplete();
  });
});

describe("resume", () => {
  test("takes up what waits when nobody runs", async () => {
    const { conversation, sessions } = await conversationRoom([["Late, but here."]]);
    await sessions.take("room", { id: "m0", content: "first" });
    await sessions.take("room", { id: "m1", content: "second", replyTo: { message: "m1" } });
    await sessions.interrupt("room");
    const events = await read(conversation.resume("room"));
    expect(words(events)).toEqual(["turn for m1", 'said "Late, but here."']);
    expect(events[0]).toMatchObject({ replyTo: { message: "m1" } });
  });

  test("is silent if there is nothing, and if the session can't be read", async () => {
    const { conversation, sessions } = await conversationRoom([]);
    expect(await read(conversation.resume("room"))).toEqual([]);
    expect(await read(conversation.resume("nowhere"))).toEqual([]);
    await sessions.close();
    expect(await read(conversation.resume("room"))).toEqual([]);
  });
});

describe("a store that fails", () => {
  test("is told of in one sentence, with a reference", async () => {
    const { conversation, sessions } = await conversationRoom([]);
    await sessions.close();
    expect(await read(conversation.handle(says("m1", "hi"), async () => ({ replyTo: { thread: "t" } })))).toEqual([
      {
        type: "notice",
        reason: "failed",
        error: expect.objectContaining({ code: "STORE_CLOSED" }),
        reference: expect.stringMatching(/^[0-9a-z]{6}$/),
        replyTo: { thread: "t" },
      },
    ]);
  });

  test("what was thrown by nobody of ours is told of as unexpected", async () => {
    const { conversation } = await conversationRoom([]);
    const events = await read(
      conversation.handle(says("m1", "hi"), () => {
        throw new TypeError("x is not a function");
      }),
    );
    expect(words(events)).toEqual(["notice failed UNEXPECTED"]);
  });
});

describe("close", () => {
  test("lets a run end in its time, and takes nothing new", async () => {
    const { open, passed } = gate();
    const { conversation, model } = await conversationRoom([[passed, "Done."]]);
    const run = read(conversation.handle(says("m1", "hi")));
    await until(() => model.calls.length === 1);
    const closed = conversation.close(10_000);
    expect(await read(conversation.handle(says("m2", "hi")))).toEqual([]);
    expect(await read(conversation.resume("room"))).toEqual([]);
    open();
    await closed;
    expect(words(await run)).toEqual(["turn for m1", 'said "Done."']);
  });

  test("begins no turn in the grace: what waits is left to the next process, which answers it once", async () => {
    const store = openMemoryStore();
    const { open, passed } = gate();
    const { conversation, takes, sessions } = await conversationRoom([[passed, "Done."]], { store });
    const run = read(conversation.handle(says("m1", "hi")));
    const waiting = read(conversation.handle(says("m2", "still there?")));
    await until(() => takes.length === 2);
    const closed = conversation.close(60_000);
    open();
    await closed;
    expect(words(await run)).toEqual(["turn for m1", 'said "Done."']);
    expect(await waiting).toEqual([]);
    await sessions.close();
    const next = await conversationRoom([["Yes."]], { store });
    expect(await next.sessions.unfinished()).toEqual(["room"]);
    expect(words(await read(next.conversation.resume("room")))).toEqual(["turn for m2", 'said "Yes."']);
    expect(await next.sessions.unfinished()).toEqual([]);
  });

  test("leaves what is not done, and what waits, to the next process, which answers both once", async () => {
    const store = openMemoryStore();
    const { conversation, takes, sessions } = await conversationRoom([["Half", forever]], { store });
    const drawn: string[] = [];
    const run = (async () => {
      for await (const event of conversation.handle(says("m1", "hi"))) {
        drawn.push(...words([event]));
      }
    })();
    const waiting = read(conversation.handle(says("m2", "still there?")));
    await until(() => takes.length === 2);
    await conversation.close(5);
    expect(drawn).toEqual(["turn for m1"]);
    await run;
    expect(await waiting).toEqual([]);
    await sessions.close();
    const next = await conversationRoom([["Whole."], ["Yes."]], { store });
    expect(await next.sessions.unfinished()).toEqual(["room"]);
    const told = words(await read(next.conversation.resume("room")));
    expect(told).toEqual(["turn for m1", 'said "Whole."', "turn for m2", 'said "Yes."']);
    expect(next.model.promptOf(0)).not.toContain("Half");
  });

  test("does not wait for ever for an answer that nobody reads", async () => {
    const { conversation, takes } = await conversationRoom([["Never read."]], { lastWordsMs: 10 });
    conversation.handle(says("m1", "hi"));
    await until(() => takes.length === 1);
    await expect(conversation.close(5)).resolves.toBeUndefined();
  });

  test("of a conversation in which nothing goes on is over at once", async () => {
    const { agent, sessions } = await conversationRoom([]);
    const conversation = createConversation({ agent, sessions });
    await conversation.close(60_000);
  });
});
