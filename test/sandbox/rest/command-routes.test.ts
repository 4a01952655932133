import { type REST, Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

interface Registered {
  readonly id: string;
  readonly name: string;
  readonly version: string;
}

describe("the command routes", () => {
  let sandbox: Sandbox;
  let rest: REST;
  beforeEach(async () => {
    sandbox = await startSandbox({ limits: false });
    rest = botRest(sandbox);
  });
  afterEach(() => sandbox.close());

  const define = (...names: string[]) => names.map((name) => ({ name, description: `does ${name}` }));
  const path = () => Routes.applicationCommands(sandbox.bot.id);
  const set = (body: unknown, where: `/${string}` = path()) => rest.put(where, { body }) as Promise<Registered[]>;
  const list = async (where: `/${string}` = path()) =>
    ((await rest.get(where)) as Registered[]).map(({ name }) => name);

  it("replaces all commands; those that keep their name keep their id", async () => {
    const before = await set(define("reset", "stop"));
    const after = await set(define("stop", "help"));
    expect(await list()).toEqual(["stop", "help"]);
    expect(after[0]?.id).toBe(before[1]?.id);
    expect(after[0]?.version).not.toBe(before[1]?.version);
  });

  it("registers none if one is bad, and names the one", async () => {
    await set(define("reset"));
    for (const bad of ["Reset", "two words", "", "x".repeat(33)]) {
      await expect(set(define("stop", bad))).rejects.toMatchObject({
        code: 50035,
        rawError: { errors: { "1": { name: expect.anything() } } },
      });
    }
    await expect(set([{ name: "stop" }])).rejects.toMatchObject({ code: 50035 });
    await expect(set([{ name: "stop", description: "x".repeat(101) }])).rejects.toMatchObject({ code: 50035 });
    await expect(set(define("same", "same"))).rejects.toMatchObject({ code: 50035 });
    await expect(
      set([{ ...define("ask")[0], options: [{ type: 3, name: "Q", description: "x" }] }]),
    ).rejects.toMatchObject({ code: 50035 });
    await expect(set(define(...Array.from({ length: 101 }, (_, number) => `c${number}`)))).rejects.toMatchObject({
      code: 30032,
    });
    await expect(set({ not: "a list" })).rejects.toMatchObject({ code: 50035 });
    const [fine] = define("fine");
    for (const bad of [
      null,
      7,
      { ...fine, name: 7 },
      { ...fine, description: 7 },
      { ...fine, type: "1" },
      { ...fine, options: {} },
      { ...fine, options: [null] },
      { ...fine, options: [{ ...fine, type: 1, options: [7] }] },
      { ...fine, options: [{ ...fine, type: "x" }] },
      { ...fine, default_member_permissions: "many" },
    ]) {
      await expect(set([bad]), JSON.stringify(bad)).rejects.toMatchObject({ code: 50035 });
    }
    expect(await list()).toEqual(["reset"]);
  });

  it("answer a body that is none, or no JSON, with 400", async () => {
    for (const body of [undefined, "", "{", "nothing"]) {
      const answer = await fetch(`${sandbox.api}/v10${path()}`, {
        method: "PUT",
        headers: { authorization: `Bot ${sandbox.botToken}`, "content-type": "application/json" },
        ...(body !== undefined && { body }),
      });
      expect(answer.status).toBe(400);
    }
  });

  it("creates, shows, changes and removes one", async () => {
    const created = (await rest.post(path(), { body: define("reset")[0] })) as Registered;
    const one = Routes.applicationCommand(sandbox.bot.id, created.id);
    expect(await rest.get(one)).toMatchObject({ name: "reset", description: "does reset", dm_permission: true });
    await rest.patch(one, { body: { description: "forgets" } });
    expect(await rest.get(one)).toMatchObject({ name: "reset", description: "forgets" });
    await rest.delete(one);
    await expect(rest.get(one)).rejects.toMatchObject({ code: 10063 });
  });

  it("takes names as they are for commands in a menu", async () => {
    await set([
      { type: 2, name: "Remember this member" },
      { type: 3, name: "Remember" },
    ]);
    expect(await list()).toEqual(["Remember this member", "Remember"]);
    await expect(set([{ type: 2 }])).rejects.toMatchObject({ code: 50035 });
  });

  it("keeps a server's commands apart from the global ones", async () => {
    const own = Routes.applicationGuildCommands(sandbox.bot.id, sandbox.guild.id);
    await set(define("everywhere"));
    await set(define("here"), own);
    expect([await list(), await list(own)]).toEqual([["everywhere"], ["here"]]);
    const other = sandbox.createGuild("Other");
    const elsewhere = Object.values(sandbox.state.channels).find(
      (channel) => "guildId" in channel && channel.guildId === other.id,
    );
    expect(() => sandbox.owner.runs("/here", { in: elsewhere ?? "" })).toThrow("there is no command /here");
  });

  it("is open to the bot's own application only", async () => {
    await expect(rest.get(Routes.applicationCommands("1"))).rejects.toMatchObject({ code: 20012 });
  });

  it("creates 200 commands a day, and counts what only changes not at all", async () => {
    for (let round = 0; round < 4; round++) {
      await set([]);
      await set(define(...Array.from({ length: 50 }, (_, number) => `c${number}`)));
      await set(define(...Array.from({ length: 50 }, (_, number) => `c${number}`)));
    }
    await expect(set(define("c0", "one-more"))).rejects.toMatchObject({ code: 30034 });
  });
});
