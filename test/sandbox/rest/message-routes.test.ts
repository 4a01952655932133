import type { APIMessage, REST } from "discord.js";
import { MessageFlags, MessageType, Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

describe("the message routes", () => {
  let sandbox: Sandbox;
  let rest: REST;
  let general: string;
  beforeEach(async () => {
    sandbox = await startSandbox({ limits: false });
    rest = botRest(sandbox);
    general = sandbox.general.id;
  });
  afterEach(() => sandbox.close());

  const send = (body: object, channel = general) =>
    rest.post(Routes.channelMessages(channel), { body }) as Promise<APIMessage>;

  it("sends a message, which has a nonce once and no null where Discord leaves a field out", async () => {
    const sent = await send({ content: "hello", nonce: "n1" });
    expect(sent).toMatchObject({ content: "hello", nonce: "n1", type: MessageType.Default, edited_timestamp: null });
    const fetched = (await rest.get(Routes.channelMessage(general, sent.id))) as APIMessage;
    expect(fetched.content).toBe("hello");
    for (const absent of ["nonce", "thread", "message_reference", "referenced_message"])
      expect(fetched).not.toHaveProperty(absent);
  });

  it("refuses empty messages with 50006 and long ones with 50035 that names the field", async () => {
    for (const content of ["", "   \n "])
      await expect(send({ content })).rejects.toMatchObject({ code: 50006, status: 400 });
    await expect(send({ content: "x".repeat(2001) })).rejects.toMatchObject({
      code: 50035,
      rawError: { errors: { content: { _errors: [{ code: "BASE_TYPE_MAX_LENGTH" }] } } },
    });
    await expect(send({ content: 7 })).rejects.toMatchObject({ code: 50035 });
    await expect(send({ content: "x", nonce: "x".repeat(26) })).rejects.toMatchObject({ code: 50035 });
    expect((await send({ content: "x".repeat(2000) })).content).toHaveLength(2000);
  });

  it("counts characters, not the units that they are stored in", async () => {
    expect([...(await send({ content: "🧵".repeat(2000) })).content]).toHaveLength(2000);
    await expect(send({ content: "🧵".repeat(2001) })).rejects.toMatchObject({ code: 50035 });
  });

  it("refuses parts of another kind with 50035 that names the field", async () => {
    const button = { type: 2, style: 1, label: "Yes", custom_id: "yes" };
    for (const [wrong, path] of [
      [{ embeds: [null] }, ["embeds", "0"]],
      [{ embeds: [{ title: {} }] }, ["embeds", "0", "title"]],
      [{ components: {} }, ["components"]],
      [{ components: [7] }, ["components", "0"]],
      [{ components: [{ type: 1 }] }, ["components", "0", "components"]],
      [{ components: [{ type: 1, components: [null] }] }, ["components", "0", "components", "0"]],
      [
        { components: [{ type: 1, components: [{ ...button, custom_id: 7 }] }] },
        ["components", "0", "components", "0", "custom_id"],
      ],
      [
        { components: [{ type: 1, components: [{ ...button, label: {} }] }] },
        ["components", "0", "components", "0", "label"],
      ],
      [{ allowed_mentions: "all" }, ["allowed_mentions"]],
      [{ allowed_mentions: { parse: 5 } }, ["allowed_mentions", "parse"]],
      [{ allowed_mentions: { users: [5] } }, ["allowed_mentions", "users", "0"]],
      [{ message_reference: 7 }, ["message_reference"]],
      [{ message_reference: { message_id: 7 } }, ["message_reference", "message_id"]],
    ] as const) {
      const body = { content: "x", ...wrong };
      const error = await send(body).catch((thrown: unknown) => thrown);
      expect(error, JSON.stringify(wrong)).toMatchObject({ code: 50035 });
      expect(error, JSON.stringify(wrong)).toHaveProperty(["rawError", "errors", ...path, "_errors"]);
    }
    expect(sandbox.messages("general")).toEqual([]);
  });

  it("knows no channel by a name that every object has", async () => {
    for (const name of ["constructor", "__proto__", "toString"]) {
      await expect(send({ content: "x" }, name)).rejects.toMatchObject({ code: 10003 });
      await expect(rest.get(Routes.user(name))).rejects.toMatchObject({ code: 10013 });
      await expect(rest.get(Routes.guild(name))).rejects.toMatchObject({ code: 10004 });
      await expect(rest.get(Routes.guildMember(sandbox.guild.id, name))).rejects.toMatchObject({ code: 10007 });
    }
  });

  it("takes the spaces around a message away", async () => {
    expect((await send({ content: "  a b \n" })).content).toBe("a b");
  });

  it("answers for an unknown channel 10003, for one that isn't seen 50001, for one that can't be written in 50013", async () => {
    await expect(send({ content: "x" }, "1")).rejects.toMatchObject({ code: 10003, status: 404 });
    const giveBack = sandbox.faults.takeAway("ViewChannel");
    await expect(send({ content: "x" })).rejects.toMatchObject({ code: 50001, status: 403 });
    giveBack();
    sandbox.faults.takeAway("SendMessages");
    await expect(send({ content: "x" })).rejects.toMatchObject({ code: 50013, status: 403 });
  });

  it("edits and deletes its own messages, and knows those that are gone as 10008", async () => {
    const { id } = await send({ content: "one" });
    const edited = (await rest.patch(Routes.channelMessage(general, id), { body: { content: "two" } })) as APIMessage;
    expect(edited.content).toBe("two");
    expect(edited.edited_timestamp).not.toBeNull();
    await rest.delete(Routes.channelMessage(general, id));
    for (const gone of [
      rest.get(Routes.channelMessage(general, id)),
      rest.patch(Routes.channelMessage(general, id), { body: { content: "three" } }),
      rest.delete(Routes.channelMessage(general, id)),
    ]) {
      await expect(gone).rejects.toMatchObject({ code: 10008, status: 404 });
    }
  });

  it("leaves a message as it was when an edit is refused", async () => {
    const { id } = await send({ content: "one" });
    const edit = (body: object) => rest.patch(Routes.channelMessage(general, id), { body });
    await expect(edit({ content: "" })).rejects.toMatchObject({ code: 50006 });
    await expect(edit({ content: "x".repeat(2001) })).rejects.toMatchObject({ code: 50035 });
    expect(sandbox.text("general")).toBe("Threadkeeper: one");
  });

  it("edits nobody else's message, and deletes one only with Manage Messages", async () => {
    const { id } = sandbox.owner.says("general", "mine");
    await expect(rest.patch(Routes.channelMessage(general, id), { body: { content: "x" } })).rejects.toMatchObject({
      code: 50005,
    });
    await expect(rest.delete(Routes.channelMessage(general, id))).rejects.toMatchObject({ code: 50013 });
    expect(sandbox.text("general")).toBe("Ada: mine");
  });

  it("replies; to a deleted message only if that doesn't matter", async () => {
    const asked = sandbox.owner.says("general", "why?");
    const reply = await send({ content: "because", message_reference: { message_id: asked.id } });
    expect(reply).toMatchObject({ type: MessageType.Reply, referenced_message: { id: asked.id, content: "why?" } });
    sandbox.owner.deletes(asked);
    const late = { content: "late", message_reference: { message_id: asked.id } };
    await expect(send(late)).rejects.toMatchObject({ code: 50035 });
    const sent = await send({
      content: "late",
      message_reference: { message_id: asked.id, fail_if_not_exists: false },
    });
    // Discord sends it as a message that replies to nothing.
    expect(sent.type).toBe(MessageType.Default);
    expect(sent).not.toHaveProperty("message_reference");
    expect(sandbox.text("general")).toBe("Threadkeeper (reply to a deleted message): because\nThreadkeeper: late");
  });

  it("does not reply where the history can't be read, and lists nothing there", async () => {
    const asked = sandbox.owner.says("general", "why?");
    sandbox.faults.takeAway("ReadMessageHistory");
    await expect(send({ content: "x", message_reference: { message_id: asked.id } })).rejects.toMatchObject({
      code: 160002,
    });
    expect(await rest.get(Routes.channelMessages(general))).toEqual([]);
  });

  describe("with enforce_nonce", () => {
    const once = (content: string, channel?: string) =>
      send({ content, nonce: "turn.0", enforce_nonce: true }, channel);

    it("returns the message that was sent with the nonce as it was first sent, in whatever channel", async () => {
      const other = sandbox.createChannel("other");
      const first = await once("one");
      await rest.patch(Routes.channelMessage(general, first.id), { body: { content: "edited" } });
      const again = await once("two", other.id);
      expect(again).toMatchObject({ id: first.id, channel_id: general, content: "one", nonce: "turn.0" });
      expect(sandbox.text("general")).toBe("Threadkeeper: edited");
      expect(sandbox.messages(other)).toEqual([]);
    });

    it("answers 10008 if that message has been deleted since", async () => {
      const first = await once("one");
      await rest.delete(Routes.channelMessage(general, first.id));
      await expect(once("two")).rejects.toMatchObject({ code: 10008 });
    });

    it("knows the nonces of one author only, and sends anew without enforce_nonce", async () => {
      await once("one");
      await send({ content: "two", nonce: "turn.0" });
      expect(sandbox.text("general")).toBe("Threadkeeper: one\nThreadkeeper: two");
    });

    it("forgets a nonce after its time", async () => {
      const forgetful = await startSandbox({ nonceMs: 0 });
      const body = { content: "one", nonce: "turn.0", enforce_nonce: true };
      for (const _ of [1, 2]) await botRest(forgetful).post(Routes.channelMessages(forgetful.general.id), { body });
      expect(forgetful.messages("general")).toHaveLength(2);
      await forgetful.close();
    });

    it("remembers it when the sandbox has been saved and opened again", async () => {
      const first = await once("one");
      const reopened = await startSandbox({ state: sandbox.state });
      const body = { content: "two", nonce: "turn.0", enforce_nonce: true };
      expect(await botRest(reopened).post(Routes.channelMessages(general), { body })).toMatchObject({
        id: first.id,
        content: "one",
      });
      await reopened.close();
    });
  });

  it("lists messages newest first, before, after and around one, 1 to 100 at a time", async () => {
    const ids = [1, 2, 3, 4, 5].map((number) => sandbox.owner.says("general", String(number)).id);
    const list = async (query: Record<string, string>) =>
      ((await rest.get(Routes.channelMessages(general), { query: new URLSearchParams(query) })) as APIMessage[])
        .map(({ content }) => content)
        .join("");
    expect(await list({})).toBe("54321");
    expect(await list({ limit: "2" })).toBe("54");
    expect(await list({ before: ids[2] ?? "", limit: "1" })).toBe("2");
    expect(await list({ after: ids[1] ?? "", limit: "2" })).toBe("43");
    expect(await list({ around: ids[2] ?? "", limit: "3" })).toBe("432");
    for (const limit of ["0", "101", "x"]) await expect(list({ limit })).rejects.toMatchObject({ code: 50035 });
  });

  it("deletes 2 to 100 at once, with Manage Messages, and none that is older than two weeks", async () => {
    const ids = ["a", "b", "c"].map((text) => sandbox.owner.says("general", text).id);
    const remove = (messages: string[], by = rest) =>
      by.post(Routes.channelBulkDelete(general), { body: { messages } });
    await expect(remove(ids)).rejects.toMatchObject({ code: 50013 });
    const role = Object.values(sandbox.guild.roles).find(({ botId }) => botId);
    sandbox.changeRole(role as never, { permissions: ["ManageMessages"] });
    const state = sandbox.state;
    Object.assign(state.messages[general]?.[0] ?? {}, { createdAt: "2020-01-01T00:00:00.000Z" });
    const reopened = await startSandbox({ state, limits: false });
    const mightyRest = botRest(reopened);
    await expect(remove(ids.slice(0, 1), mightyRest)).rejects.toMatchObject({ code: 50035 });
    await expect(remove(ids, mightyRest)).rejects.toMatchObject({ code: 50034 });
    await expect(remove([7, null] as never, mightyRest)).rejects.toMatchObject({ code: 50035 });
    const [, second = "", third = ""] = ids;
    await remove([second, second], mightyRest);
    expect(reopened.text("general")).toBe("Ada: a\nAda: c");
    await remove([second, third], mightyRest);
    expect(reopened.text("general")).toBe("Ada: a");
    await reopened.close();
  });

  it("takes files, serves them by link for a day and lets an edit keep or drop them", async () => {
    const files = ["one", "two"].map((name) => ({
      name: `${name}.txt`,
      data: Buffer.from(`text ${name}`),
      contentType: "text/plain",
    }));
    const sent = (await rest.post(Routes.channelMessages(general), {
      body: { content: "files" },
      files,
    })) as APIMessage;
    expect(sent.attachments.map(({ filename, size }) => [filename, size])).toEqual([
      ["one.txt", 8],
      ["two.txt", 8],
    ]);
    const [one, two] = sent.attachments;
    const answer = await fetch(one?.url ?? "");
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
      200,
      "text/plain",
      "text one",
    ]);
    const later = new URL(one?.url ?? "");
    later.searchParams.set("ex", "ffffffffff");
    expect((await fetch(later)).status).toBe(404);
    expect((await fetch(`${one?.url.split("?")[0]}`)).status).toBe(404);
    const kept = (await rest.patch(Routes.channelMessage(general, sent.id), {
      body: { attachments: [{ id: two?.id }] },
    })) as APIMessage;
    expect(kept.attachments.map(({ filename }) => filename)).toEqual(["two.txt"]);
    expect(sandbox.text("general")).toBe("Threadkeeper: files\n  [file: two.txt]");
  });

  describe("and link previews", () => {
    const embeds = (id: string) => sandbox.messages("general").find((message) => message.id === id)?.embeds ?? [];

    it("unfurl a link unless it is suppressed or in angle brackets", async () => {
      const shown = await send({ content: "see https://example.com/a" });
      expect(shown.embeds).toEqual([]);
      expect(embeds(shown.id)).toMatchObject([{ type: "link", url: "https://example.com/a" }]);
      const quiet = await send({ content: "see https://example.com/a", flags: MessageFlags.SuppressEmbeds });
      const bracketed = await send({ content: "see <https://example.com/a>" });
      expect([...embeds(quiet.id), ...embeds(bracketed.id)]).toEqual([]);
    });

    it("of others are suppressed with Manage Messages, without a mark that the message was edited", async () => {
      const { id } = sandbox.owner.says("general", "see https://example.com/a");
      const suppress = () =>
        rest.patch(Routes.channelMessage(general, id), { body: { flags: MessageFlags.SuppressEmbeds } });
      await expect(suppress()).rejects.toMatchObject({ code: 50013 });
      sandbox.changeRole({ id: sandbox.guild.id }, { permissions: ["ViewChannel", "ManageMessages", "EmbedLinks"] });
      await suppress();
      expect(embeds(id)).toEqual([]);
      expect(sandbox.messages("general")[0]?.editedAt).toBeNull();
    });

    it("appear and go with edits", async () => {
      const { id } = await send({ content: "plain" });
      const edit = (body: object) => rest.patch(Routes.channelMessage(general, id), { body });
      await edit({ content: "now https://example.com/b" });
      expect(embeds(id)).toHaveLength(1);
      await edit({ flags: MessageFlags.SuppressEmbeds });
      expect(embeds(id)).toEqual([]);
      await edit({ content: "still https://example.com/c" });
      expect(embeds(id)).toEqual([]);
      await edit({ flags: 0 });
      expect(embeds(id)).toHaveLength(1);
    });
  });

  describe("and pings", () => {
    const pinged = (id: string) => sandbox.messages("general").find((message) => message.id === id)?.pinged;

    it("ring for everybody named when allowed_mentions is left out", async () => {
      const ada = sandbox.owner;
      const role = sandbox.createRole("Crew", { mentionable: true });
      const { id } = await send({ content: `<@${ada.id}> <@&${role.id}> @everyone` });
      expect(pinged(id)).toEqual({ users: [ada.id], roles: [role.id], everyone: true });
    });

    it("ring for nobody when nothing is allowed, on send and on edit", async () => {
      const role = sandbox.createRole("Crew", { mentionable: true });
      const content = `<@${sandbox.owner.id}> <@&${role.id}> @everyone @here`;
      const nobody = { users: [], roles: [], everyone: false };
      const { id } = await send({ content, allowed_mentions: { parse: [] } });
      expect(pinged(id)).toEqual(nobody);
      await rest.patch(Routes.channelMessage(general, id), {
        body: { content: `${content}!`, allowed_mentions: { parse: [] } },
      });
      expect(pinged(id)).toEqual(nobody);
      await rest.patch(Routes.channelMessage(general, id), { body: { content: `${content}?` } });
      expect(pinged(id)).toEqual({ users: [sandbox.owner.id], roles: [role.id], everyone: true });
    });

    it("ring for whom a reply answers unless told otherwise", async () => {
      const asked = sandbox.owner.says("general", "why?");
      const reply = (allowed?: object) =>
        send({
          content: "so",
          message_reference: { message_id: asked.id },
          ...(allowed && { allowed_mentions: allowed }),
        });
      expect(pinged((await reply()).id)?.users).toEqual([sandbox.owner.id]);
      expect(pinged((await reply({ parse: ["users"] })).id)?.users).toEqual([]);
      expect(pinged((await reply({ parse: [], replied_user: true })).id)?.users).toEqual([sandbox.owner.id]);
    });

    it("refuse a list beside its kind", async () => {
      const allowed_mentions = { parse: ["users"], users: [sandbox.owner.id] };
      await expect(send({ content: "x", allowed_mentions })).rejects.toMatchObject({ code: 50035 });
    });
  });

  it("refuses components that Discord refuses", async () => {
    const button = (custom_id: string) => ({ type: 2, style: 1, label: "x", custom_id });
    const row = (...components: object[]) => ({ type: 1, components });
    for (const components of [
      [row()],
      [row(...[1, 2, 3, 4, 5, 6].map((number) => button(String(number))))],
      [row(button("x".repeat(101)))],
      [row(button("same")), row(button("same"))],
      Array.from({ length: 6 }, (_, number) => row(button(String(number)))),
    ]) {
      await expect(send({ content: "x", components })).rejects.toMatchObject({ code: 50035 });
    }
    await send({ content: "x", components: [row(button("a"), button("b"))] });
  });

  it("answers a body that is no JSON with 50109", async () => {
    const answer = await fetch(`${sandbox.api}/v10/channels/${general}/messages`, {
      method: "POST",
      headers: { authorization: `Bot ${sandbox.botToken}`, "content-type": "application/json" },
      body: "{",
    });
    expect([answer.status, ((await answer.json()) as { code: number }).code]).toEqual([400, 50109]);
  });
});
