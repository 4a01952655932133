import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { refusal } from "../../src/sandbox/doors.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { rawRequest, resetUpgrade } from "./support/raw-request.ts";
import { expectNothingUncaught } from "./support/uncaught.ts";

describe("refusal", () => {
  const refuse = (method: string, headers: { host?: string; origin?: string }, isUpgrade = false) =>
    refusal({ method, headers, isUpgrade }, 4000);

  it("lets this machine's own names in, with the port", () => {
    expect(refuse("GET", { host: "127.0.0.1:4000" })).toBeUndefined();
    expect(refuse("POST", { host: "localhost:4000", origin: "http://localhost:4000" })).toBeUndefined();
  });

  it("turns away every other Host, also one that begins or ends like ours", () => {
    for (const host of [
      "evil.example",
      "127.0.0.1",
      "127.0.0.1:4001",
      "127.0.0.1:4000.evil.example",
      "localhost:40000",
      "",
    ]) {
      expect(refuse("GET", { host })).toMatch(/Host/);
    }
    expect(refuse("GET", {})).toMatch(/Host/);
  });

  it("turns away changes and upgrades from a foreign or null Origin, also from our other name", () => {
    for (const origin of ["https://evil.example", "null", "http://localhost:4000", "http://127.0.0.1:4001", ""]) {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        expect(refuse(method, { host: "127.0.0.1:4000", origin })).toMatch(/Origin/);
      }
      expect(refuse("GET", { host: "127.0.0.1:4000", origin }, true)).toMatch(/Origin/);
      expect(refuse("GET", { host: "127.0.0.1:4000", origin })).toBeUndefined();
    }
  });
});

describe("the sandbox's doors", () => {
  expectNothingUncaught();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ onUnknown: () => undefined });
  });
  afterAll(() => sandbox.close());

  /** fetch sets Host and Origin by itself: a bare request says what it is told to. */
  const status = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const call = request(`${sandbox.origin}${path}`, {
        method,
        headers: { "content-type": "application/json", ...headers },
      });
      call.on("response", (response) => response.resume().on("end", () => resolve(response.statusCode)));
      call.on("error", reject);
      call.end(method === "GET" ? undefined : "{}");
    });

  const upgrade = (headers: Record<string, string>, path = "/gateway?v=10&encoding=json") =>
    new Promise<number | undefined>((resolve, reject) => {
      const socket = new WebSocket(`${sandbox.origin.replace("http", "ws")}${path}`, { headers });
      socket.on("open", () => {
        socket.terminate();
        resolve(101);
      });
      socket.on("unexpected-response", (_request, response) => resolve(response.resume().statusCode));
      socket.on("error", reject);
    });

  it("listens on 127.0.0.1", () => {
    expect(sandbox.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("answers a foreign Host with 403 on every side", async () => {
    const headers = { host: "evil.example", authorization: `Bot ${sandbox.botToken}` };
    expect(await status("GET", "/api/v10/users/@me", headers)).toBe(403);
    expect(await status("GET", "/people", { host: "evil.example", authorization: `Bearer ${sandbox.key}` })).toBe(403);
    expect(await status("GET", "/attachments/1/2/x", { host: "evil.example" })).toBe(403);
    expect(await upgrade({ host: "evil.example" })).toBe(403);
  });

  it("answers changes from a foreign or null Origin with 403, whatever key they bring", async () => {
    for (const origin of ["https://evil.example", "null"]) {
      const path = `/api/v10/channels/${sandbox.general.id}/messages`;
      expect(await status("POST", path, { origin, authorization: `Bot ${sandbox.botToken}` })).toBe(403);
      expect(await status("POST", "/people/say", { origin, authorization: `Bearer ${sandbox.key}` })).toBe(403);
      expect(await upgrade({ origin })).toBe(403);
    }
    expect(sandbox.messages("general")).toEqual([]);
  });

  it("lets an upgrade without an Origin, or with its own, through", async () => {
    expect(await upgrade({})).toBe(101);
    expect(await upgrade({ origin: sandbox.origin })).toBe(101);
  });

  it("refuses by name the gateways that it isn't", async () => {
    expect(await upgrade({}, "/gateway?v=10&encoding=etf")).toBe(501);
    expect(await upgrade({}, "/gateway?v=10&encoding=json&compress=zlib-stream")).toBe(501);
    expect(await upgrade({}, "/gateway?v=9&encoding=json")).toBe(501);
    expect(await upgrade({}, "/elsewhere")).toBe(501);
    expect(sandbox.counters.unknown.filter((name) => name.startsWith("gateway at"))).toHaveLength(4);
  });

  it("answers an upgrade to a target that is no URL with 400, and one from a foreign page with 403 before that", async () => {
    for (const target of ["//", "http://[", "http://[::1", "//:99999"]) {
      expect(await rawRequest(sandbox, target, { isUpgrade: true })).toBe(400);
      expect(await rawRequest(sandbox, target, { isUpgrade: true, headers: ["origin: https://evil.example"] })).toBe(
        403,
      );
      expect(await rawRequest(sandbox, target, { isUpgrade: true, host: "evil.example" })).toBe(403);
    }
    expect(await upgrade({})).toBe(101);
  });

  it("lives on when those whose upgrade it refuses reset their connection", async () => {
    await Promise.all(Array.from({ length: 60 }, () => resetUpgrade(sandbox, "/elsewhere")));
    expect(await upgrade({})).toBe(101);
  });

  it("keeps the people's side shut without this start's key", async () => {
    expect(await status("GET", "/people")).toBe(401);
    expect(await status("GET", "/people", { authorization: "Bearer wrong" })).toBe(403);
    expect(await status("GET", "/people", { authorization: `Bot ${sandbox.botToken}` })).toBe(403);
    expect(await status("POST", "/people/say", { authorization: `Bearer ${sandbox.key.slice(1)}` })).toBe(403);
    expect(await status("GET", "/people", { authorization: `Bearer ${sandbox.key}` })).toBe(200);
  });

  it("keeps the bot's side shut without this start's token", async () => {
    expect(await status("GET", "/api/v10/users/@me")).toBe(401);
    expect(await status("GET", "/api/v10/users/@me", { authorization: "Bot wrong" })).toBe(401);
    expect(await status("GET", "/api/v10/users/@me", { authorization: `Bearer ${sandbox.key}` })).toBe(401);
    expect(await status("GET", "/api/v10/users/@me", { authorization: `Bot ${sandbox.botToken}` })).toBe(200);
  });

  it("makes a new token and a new key with every start", async () => {
    const other = await startSandbox({ state: sandbox.state });
    expect(other.botToken).not.toBe(sandbox.botToken);
    expect(other.key).not.toBe(sandbox.key);
    await other.close();
  });
});
