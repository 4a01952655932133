import { expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/agent/tool.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import {
  type AgentRoom,
  agentRoom,
  drain,
  eventually,
  type RoomOptions,
  shape,
  transcript,
} from "../support/agent-room.ts";
import { CutStore } from "../support/cut-store.ts";
import { forever, type ScriptedStep } from "../support/scripted-model.ts";

const room = { sessionId: "room" };

interface Process extends AgentRoom {
  readonly cut: CutStore;
  /** What it took up of what others left, as the shapes of its streams. */
  readonly takenUp: string[][];
}

/** As the program is wired: what nobody is at is resumed. */
async function process(
  map: Map<string, string>,
  steps: readonly ScriptedStep[],
  options: RoomOptions = {},
): Promise<Process> {
  const cut = new CutStore(openMemoryStore(map));
  const sessions = await openSessions({ store: cut, takeOverMs: 400 });
  const all = await agentRoom(steps, { sessions, store: cut, ...options });
  const takenUp: string[][] = [];
  sessions.onUnfinished(async (ids) => {
    for (const id of ids) takenUp.push(shape((await drain(all.agent.resume(id))).events));
  });
  return { ...all, cut, takenUp };
}

it("a process that dies in a tool call: the other goes on with the turn, the model hears of it, and the tool is not run again", async () => {
  const map = new Map<string, string>();
  let runs = 0;
  const tools = [
    defineTool({
      name: "send_mail",
      description: "Sends a mail.",
      input: z.object({}),
      run: () => {
        runs += 1;
        return forever;
      },
    }),
  ];
  const one = await process(map, [["I will. ", { tool: "send_mail", input: {} }]], { tools });
  const other = await process(map, [["It may have been sent."], ["Nothing else."]], { tools });
  void one.agent.run("Send the mail.", room).catch(() => {});
  await eventually(() => expect(runs).toBe(1));
  // The other hears what is said meanwhile; its call comes to nothing at once, and holds up nobody.
  expect(await drain(other.agent.stream("And else?", room))).toEqual({ events: [], result: undefined });
  one.cut.isCut = true;
  await eventually(() => expect(other.takenUp).toHaveLength(1));
  expect(other.takenUp[0]?.filter((word) => word.startsWith("turn-"))).toEqual([
    ...["turn-start", "turn-end stop"],
    ...["turn-start", "turn-end stop"],
  ]);
  expect(other.model.promptOf(0)).toContain("interrupted");
  expect(other.model.promptOf(0)).not.toContain("And else?");
  expect(runs).toBe(1);
  expect((await transcript(other.sessions)).filter((line) => !line.startsWith("call"))).toEqual([
    ...["user: Send the mail.", "assistant: I will. ", "assistant: It may have been sent."],
    ...["user: And else?", "assistant: Nothing else."],
  ]);
  await other.sessions.close();
});

it("a process that says goodbye in a turn: the other goes on with it and with what waits, without a new message", async () => {
  const map = new Map<string, string>();
  const one = await process(map, [["half", forever]]);
  const other = await process(map, [["whole"], ["next"]]);
  const left = new AbortController();
  const first = drain(one.agent.stream("first", { ...room, signal: left.signal }));
  await eventually(() => expect(one.model.calls).toHaveLength(1));
  one.agent.retire();
  await one.agent.run("second", room);
  left.abort(new ThreadkeeperError("RUN_SHUTDOWN", "the process stops"));
  expect(shape((await first).events)).toEqual(["turn-start", 'text "half"']);
  await one.sessions.close();
  await eventually(async () =>
    expect(await transcript(other.sessions)).toEqual([
      ...["user: first", "assistant: whole"],
      ...["user: second", "assistant: next"],
    ]),
  );
  await other.sessions.close();
});

it("a process whose turn was complete when it died: the other shows it, and asks no model", async () => {
  const map = new Map<string, string>();
  const one = await process(map, [["done"]]);
  const other = await process(map, []);
  // It dies before anybody pulls past the end.
  for await (const event of one.agent.stream("first", room)) {
    if (event.type !== "turn-end") continue;
    one.cut.isCut = true;
    await eventually(() => expect(other.takenUp).toEqual([["turn-start", "turn-end stop"]]));
  }
  expect(await transcript(other.sessions)).toEqual(["user: first", "assistant: done"]);
  expect(await other.sessions.unfinished()).toEqual([]);
  await other.sessions.close();
});
