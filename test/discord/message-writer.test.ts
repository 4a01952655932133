import { Client, type ClientUser, MessageFlags } from "discord.js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { discordCode, isGone } from "../../src/discord/discord-error.ts";
import { createMessageWriter, type MessageWriter } from "../../src/discord/message-writer.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";

let sandbox: Sandbox;
let client: Client;
let writer: MessageWriter;
const chunk = { reply: true, kind: "chunk" } as const;

beforeAll(async () => {
  sandbox = await startSandbox({ limits: false });
  client = new Client({ intents: [], rest: { api: sandbox.api } });
  client.rest.setToken(sandbox.botToken);
  writer = createMessageWriter({ rest: client.rest, user: { id: sandbox.bot.id } as ClientUser });
});

afterAll(async () => {
  await client.destroy();
  await sandbox.close();
});

function standing(id: string) {
  return sandbox.messages("general").find((message) => message.id === id);
}

describe("a message", () => {
  it("is sent once per nonce, as a reply that rings for nobody", async () => {
    const question = sandbox.owner.says("general", "hello");
    const place = { channel: sandbox.general.id, message: question.id };
    const words = `@everyone <@${sandbox.owner.id}> https://example.org`;
    const { id } = await writer.send(place, words, { ...chunk, nonce: "turn.0" });
    expect(await writer.send(place, "again", { ...chunk, nonce: "turn.0" })).toEqual({ id, content: words });
    expect(standing(id)).toMatchObject({
      content: words,
      reference: { messageId: question.id },
      pinged: { users: [], roles: [], everyone: false },
      flags: MessageFlags.SuppressEmbeds,
      embeds: [],
    });
  });

  it("is sent without a reply where there is nothing to reply to, or it is gone", async () => {
    const channel = sandbox.general.id;
    const { id: plain } = await writer.send({ channel }, "plain", { ...chunk, nonce: "a.0" });
    const { id: second } = await writer.send({ channel, message: plain }, "second", {
      ...chunk,
      nonce: "a.1",
      reply: false,
    });
    const question = sandbox.owner.says("general", "hello");
    sandbox.owner.deletes(question);
    const { id: gone } = await writer.send({ channel, message: question.id }, "late", { ...chunk, nonce: "b.0" });
    for (const id of [plain, second]) expect(standing(id)?.reference).toBeUndefined();
    expect(standing(gone)?.content).toBe("late");
  });

  it("is edited many times with one signal, which nothing is left listening to and which still ends what is on its way", async () => {
    const channel = sandbox.general.id;
    const { id } = await writer.send({ channel }, "one", { ...chunk, nonce: "many.0", reply: false });
    const left = new AbortController();
    const listened = vi.spyOn(left.signal, "addEventListener");
    for (let edit = 0; edit < 20; edit++) await writer.edit(channel, id, `edit ${edit}`, left.signal);
    expect(listened).not.toHaveBeenCalled();
    expect(standing(id)?.content).toBe("edit 19");
    const late = writer.edit(channel, id, "late", left.signal);
    left.abort();
    await expect(late).rejects.toThrow(/abort/);
    await expect(writer.edit(channel, id, "later", left.signal)).rejects.toThrow(/abort/);
  });

  it("is edited and removed, and is gone when somebody else removed it", async () => {
    const channel = sandbox.general.id;
    const { id } = await writer.send({ channel }, "one", { ...chunk, nonce: "c.0", reply: false });
    await writer.edit(channel, id, "two @everyone");
    expect(standing(id)).toMatchObject({ content: "two @everyone", pinged: { everyone: false } });
    await writer.remove(channel, id);
    expect(standing(id)).toBeUndefined();
    await expect(writer.edit(channel, id, "three")).rejects.toSatisfy(isGone);
    await expect(writer.send({ channel }, "one", { ...chunk, nonce: "c.0", reply: false })).rejects.toSatisfy(isGone);
    await expect(writer.edit("1", id, "three")).rejects.toSatisfy((error) => discordCode(error) === 10003);
  });

  it("is found behind another, oldest first, page by page; notices, others' words and what commands answer are not", async () => {
    const channel = sandbox.createChannel("reading").id;
    const question = sandbox.owner.says({ id: channel }, "hello");
    const place = { channel, message: question.id };
    const first = await writer.send(place, "one", { ...chunk, nonce: "d.0" });
    await writer.send(place, "too much at once", { nonce: "d.n", reply: true, kind: "notice" });
    for (let number = 0; number < 100; number += 1) sandbox.owner.says({ id: channel }, `word ${number}`);
    const second = await writer.send({ channel }, "two", { ...chunk, nonce: "d.1", reply: false });
    const page = await writer.read(channel, question.id);
    expect(page.chunks).toEqual([{ id: first.id, content: "one", replyTo: question.id }]);
    expect(await writer.read(channel, page.next ?? "")).toEqual({
      chunks: [{ id: second.id, content: "two", replyTo: undefined }],
      next: undefined,
    });
  });

  it("of the bot's own sentences has the previews that Discord makes, which is how they are told from a model's", async () => {
    const { id } = await writer.send({ channel: sandbox.general.id }, "a notice", {
      nonce: "e.0",
      reply: false,
      kind: "notice",
    });
    expect(standing(id)?.flags).toBe(0);
  });

  it("is announced by typing", async () => {
    await writer.showTyping(sandbox.general.id);
    expect(sandbox.typingIn("general").map(({ id }) => id)).toEqual([sandbox.bot.id]);
  });
});
