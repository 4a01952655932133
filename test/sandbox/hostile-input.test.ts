import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { rawRequest } from "./support/raw-request.ts";
import { expectNothingUncaught } from "./support/uncaught.ts";

/** Names that the protocol has, so that random input gets past the first look at it. */
const known = ["constructor", "__proto__", "toString", "general", "Ada", "/ask x", "Yes", "@original", "@me", "", "🧵"];
const numbers = [-1, 0, 0.5, 1, 2, 3, 4, 5, 6, 7, 10, 17, 64, 1e300];
const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, ...known, ...numbers),
  fc.string({ maxLength: 20, unit: "binary" }),
  fc.integer(),
);

/** A JSON object with some of these fields, each of any kind, and nested with the same names. */
function jsonWith(fields: readonly string[]): fc.Arbitrary<unknown> {
  return fc.letrec<{ value: unknown; object: object }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: "medium" },
      { arbitrary: leaf, weight: 3 },
      { arbitrary: fc.array(tie("value"), { maxLength: 3 }), weight: 1 },
      { arbitrary: tie("object"), weight: 3 },
    ),
    object: fc.dictionary(fc.constantFrom(...fields), tie("value"), { maxKeys: 6, noNullPrototype: true }),
  })).object;
}

const text = (value: unknown) => JSON.stringify(value) ?? "";

describe("input that no client would send", () => {
  expectNothingUncaught();
  let sandbox: Sandbox;
  let message: string;
  let thread: string;
  let forum: string;
  let token: string;
  beforeAll(async () => {
    sandbox = await startSandbox({ limits: false, onUnknown: () => undefined });
    const role = Object.values(sandbox.guild.roles).find(({ botId }) => botId);
    sandbox.changeRole(role as never, { permissions: ["Administrator"] });
    forum = sandbox.createForum("forum").id;
    message = sandbox.owner.says("general", "hello").id;
    thread = sandbox.owner.opensThread("general", "Thread").id;
    const options = [{ type: 3, name: "what", description: "x" }];
    await answer(
      "PUT",
      `/api/v10/applications/${sandbox.bot.id}/commands`,
      text([{ name: "ask", description: "x", options }]),
    );
    const asked = sandbox.owner.runs("/ask x", { in: "general" }).interaction;
    token = asked.token;
    // Acknowledged, so that the token works as a webhook.
    await answer("POST", `/api/v10/interactions/${asked.id}/${token}/callback`, text({ type: 5 }));
  });
  afterAll(() => sandbox.close());

  async function answer(method: string, path: string, body?: string, type = "application/json"): Promise<number> {
    const isPeople = path.startsWith("/people");
    const response = await fetch(`${sandbox.origin}${path}`, {
      method,
      headers: {
        authorization: isPeople ? `Bearer ${sandbox.key}` : `Bot ${sandbox.botToken}`,
        ...(body !== undefined && { "content-type": type }),
      },
      ...(body !== undefined && { body }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** Still there, and nothing that was stored stands in the way of whoever reads it or logs in. */
  async function expectItLives(): Promise<void> {
    // By its id: the bot may have given it another name.
    const channel = `/people/channels/${sandbox.general.id}`;
    for (const path of ["/people", `${channel}/text`, `${channel}/messages`]) {
      expect(await answer("GET", path)).toBe(200);
    }
    expect(await answer("GET", `/api/v10/channels/${sandbox.general.id}/messages`)).toBe(200);
    expect(await answer("GET", `/api/v10/applications/${sandbox.bot.id}/commands`)).toBe(200);
    expect(await closeCode([text({ op: 2, d: { token: sandbox.botToken, intents: 513 } }), "null"])).toBe(4002);
    await (await startSandbox({ state: sandbox.state })).close();
  }

  /** Sends frames and then nonsense; with what the gateway ends it. */
  function closeCode(frames: readonly string[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${sandbox.origin.replace("http", "ws")}/gateway?v=10&encoding=json`);
      socket.on("open", () => {
        for (const frame of [...frames, "{"]) socket.send(frame);
      });
      socket.on("close", resolve);
      socket.on("error", reject);
    });
  }

  it("is closed on by the gateway with a code of its own", async () => {
    const fields = ["op", "d", "token", "intents", "session_id", "seq", "s", "t", "properties"];
    const right = () => ({ token: sandbox.botToken, intents: 513, session_id: "x", seq: 0 });
    const operation = fc.constantFrom(1, 2, 3, 4, 6, 8);
    const frame = fc.oneof(
      jsonWith(fields).map(text),
      leaf.map(text),
      fc.string({ unit: "binary" }),
      fc.record({ op: operation, d: fc.oneof(jsonWith(fields), leaf) }).map(text),
      fc
        .record({ op: operation, more: jsonWith(fields) })
        .map(({ op, more }) => text({ op, d: { ...right(), ...(more as object) } })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 3 }), async (frames) => {
        expect(await closeCode(frames)).toBeGreaterThanOrEqual(4000);
      }),
      { numRuns: 150 },
    );
    await expectItLives();
  });

  it("is refused as a target, for an upgrade or not", async () => {
    const part = fc.constantFrom(
      "/",
      "//",
      "http://",
      "[",
      "]",
      ":",
      "%",
      "%E0%A4%A",
      "?",
      "#",
      "\\",
      "@",
      "gateway",
      "people",
      "api/v10",
      "..",
      "users/@me",
      "channels",
      "é",
    );
    const target = fc
      .oneof(
        fc.array(part, { maxLength: 6 }).map((parts) => parts.join("")),
        fc.string(),
        fc.string({ unit: "binary" }),
      )
      .map((raw) => raw.replaceAll(/[\r\n]/g, ""));
    const headers = fc.constantFrom<readonly string[]>(
      [],
      ["origin: null"],
      ["upgrade: x"],
      ["expect: x"],
      ["content-length: 0"],
    );
    const method = fc.constantFrom("GET", "POST", "OPTIONS", "CONNECT", "PURGE");
    await fc.assert(
      fc.asyncProperty(target, method, fc.boolean(), headers, async (path, verb, isUpgrade, more) => {
        const status = await rawRequest(sandbox, path, { method: verb, isUpgrade, headers: more });
        expect(status).not.toBe(500);
      }),
      { numRuns: 300 },
    );
    await expectItLives();
  });

  it("is refused as a body by every route, with a status that says so", async () => {
    const routes = () => {
      const { general, guild, bot, owner } = sandbox;
      const places = [general.id, thread, forum, "constructor", "__proto__", "1"];
      const paths = places.flatMap((id) => [
        `POST /channels/${id}/messages`,
        `POST /channels/${id}/messages/bulk-delete`,
        `PATCH /channels/${id}`,
        `POST /channels/${id}/threads`,
        `POST /channels/${id}/messages/${message}/threads`,
        `PATCH /channels/${id}/messages/${message}`,
        `PUT /channels/${id}/thread-members/${owner.id}`,
        `PUT /channels/${id}/thread-members/constructor`,
        `DELETE /channels/${id}/thread-members/constructor`,
        `GET /channels/${id}/thread-members/constructor`,
        `GET /channels/${id}/messages?limit=x&before=y`,
        `GET /channels/${id}/messages/toString`,
        `GET /channels/${id}/threads/archived/public?limit=x&before=y`,
      ]);
      const commands = [`/applications/${bot.id}/commands`, `/applications/${bot.id}/guilds/${guild.id}/commands`];
      return [
        ...paths,
        ...commands.flatMap((path) => [`PUT ${path}`, `POST ${path}`, `PATCH ${path}/1`, `GET ${path}/constructor`]),
        `PUT /applications/${bot.id}/guilds/constructor/commands`,
        "POST /users/@me/channels",
        "GET /users/constructor",
        "GET /guilds/__proto__/channels",
        `GET /guilds/${guild.id}/members/constructor`,
        `POST /interactions/1/${token}/callback`,
        `POST /interactions/${id}/${token}/callback`,
        `POST /webhooks/${bot.id}/${token}`,
        `PATCH /webhooks/${bot.id}/${token}/messages/@original`,
      ].map((route) => route.replace(" ", " /api/v10"));
    };
    const { id } = sandbox.owner.runs("/ask x", { in: "general" }).interaction;
    const people = [
      "POST /people/say",
      "POST /people/run",
      "POST /people/click",
      "GET /people/channels/constructor/text",
    ];
    const links = [`GET /attachments/constructor/1/x?ex=1&hm=1`, `GET /attachments/${sandbox.general.id}/__proto__/x`];
    const fields = [
      "content",
      "nonce",
      "enforce_nonce",
      "embeds",
      "components",
      "flags",
      "allowed_mentions",
      "parse",
      "users",
      "message_reference",
      "message_id",
      "attachments",
      "id",
      "type",
      "custom_id",
      "label",
      "style",
      "title",
      "url",
      "name",
      "description",
      "options",
      "default_member_permissions",
      "required",
      "choices",
      "archived",
      "auto_archive_duration",
      "message",
      "messages",
      "topic",
      "recipient_id",
      "data",
      "as",
      "in",
      "text",
      "command",
      "replyTo",
      "__proto__",
    ];
    const one = jsonWith(fields);
    const plausible = one.map((more) => ({
      content: "x",
      name: "x",
      description: "x",
      as: "Ada",
      in: sandbox.general.id,
      text: "x",
      command: "/ask",
      label: "Yes",
      type: 4,
      ...(more as object),
    }));
    const body = fc.oneof(
      { arbitrary: plausible.map(text), weight: 4 },
      { arbitrary: fc.array(plausible, { maxLength: 3 }).map(text), weight: 1 },
      { arbitrary: one.map(text), weight: 1 },
      { arbitrary: leaf.map(text), weight: 1 },
      { arbitrary: fc.string({ unit: "binary" }), weight: 1 },
    );
    const type = fc.oneof(
      { arbitrary: fc.constant("application/json"), weight: 8 },
      { arbitrary: fc.constantFrom("multipart/form-data", "multipart/form-data; boundary=x", "text/plain"), weight: 1 },
    );
    const route = fc.constantFrom(...routes(), ...people, ...links);
    await fc.assert(
      fc.asyncProperty(route, body, type, async (line, sent, contentType) => {
        const [method = "", path = ""] = line.split(" ");
        const status = await answer(method, path, method === "GET" ? undefined : sent, contentType);
        expect(status).not.toBe(500);
      }),
      { numRuns: 1_500 },
    );
    await expectItLives();
  }, 60_000);
});
