import { MessageFlags } from "discord.js";
import { describe, expect, it, vi } from "vitest";
import { Admission } from "../../src/discord/admission.ts";
import type { Complaints } from "../../src/discord/complaints.ts";
import { delivered, ids, knownClient, people } from "./support/known-world.ts";
import { logLines } from "./support/log-lines.ts";

const mention = `<@${ids.bot}>`;
const calls = { mentions: [people.bot] };

function admission() {
  const { log, lines } = logLines();
  const complaints = { permissionMissing: vi.fn() };
  const plan = { complaints: complaints as unknown as Complaints, allowedBots: new Set<string>(), log };
  return { admission: new Admission(plan), complaints, lines };
}

describe("a message", () => {
  it("that is said to the bot is admitted with its ground", () => {
    const { admission: door } = admission();
    const message = delivered(knownClient(), ids.general, `${mention} hello`, calls);
    expect(door.admit(message)).toMatchObject({ message, ground: "new-thread", inbound: { text: "hello" } });
  });

  it("that is not said to the bot is none, and only the finest log tells of it", () => {
    const { admission: door, lines } = admission();
    expect(door.admit(delivered(knownClient(), ids.general, "hello all"))).toBeUndefined();
    expect(lines).toEqual(["trace: message ignored"]);
  });

  it("in a thread that is locked to the bot is not answered", () => {
    const { admission: door, lines } = admission();
    const client = knownClient({ locked: true, permissions: 0n });
    expect(door.admit(delivered(client, ids.ownThread, "hello"))).toBeUndefined();
    expect(lines).toEqual(["info: a message in a locked thread is not answered"]);
  });

  it("that can't be answered for want of a permission is complained about", () => {
    const { admission: door, complaints } = admission();
    const message = delivered(knownClient({ permissions: 0n }), ids.ownThread, "hello");
    expect(door.admit(message)).toBeUndefined();
    expect(complaints.permissionMissing).toHaveBeenCalledWith(message, [
      "Send Messages in Threads",
      "Read Message History",
    ]);
  });
});

describe("a message of earlier", () => {
  const client = knownClient();
  const { admission: door } = admission();

  it("can still want an answer, of its thread's session, if it is said to the bot and says something", () => {
    expect(door.sessionAsked(delivered(client, ids.ownThread, "hello"))).toBe(`discord:${ids.ownThread}`);
    const call = delivered(client, ids.general, `${mention} hello`, calls);
    expect(door.sessionAsked(call)).toBe(`discord:${call.id}`);
    expect(door.sessionAsked(delivered(client, ids.general, "hello"))).toBeUndefined();
  });

  it("in a thread that is locked to the bot wants none", () => {
    const locked = knownClient({ locked: true, permissions: 0n });
    expect(door.sessionAsked(delivered(locked, ids.ownThread, "hello"))).toBeUndefined();
  });

  it("without words was told so, unless it is a call on which no thread was opened", () => {
    expect(door.sessionAsked(delivered(client, ids.ownThread, mention, calls))).toBeUndefined();
    const call = delivered(client, ids.general, mention, calls);
    expect(door.sessionAsked(call)).toBe(`discord:${call.id}`);
    const opened = { ...calls, flags: MessageFlags.HasThread };
    expect(door.sessionAsked(delivered(client, ids.general, mention, opened))).toBeUndefined();
  });
});
