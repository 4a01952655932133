import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { describe, expect, it } from "vitest";

/**
 * Who may import whom (DESIGN, section 3). `ours`: folders or files of `src`; `packages`: by name, "*" for any;
 * `typesOnly`: allowed in `import type` alone.
 */
interface Border {
  readonly ours: readonly string[];
  readonly packages: readonly string[];
  readonly typesOnly?: readonly string[];
}

const providers = [
  "@ai-sdk/provider",
  "@ai-sdk/openai",
  "@ai-sdk/anthropic",
  "@ai-sdk/google",
  "@ai-sdk/openai-compatible",
];

const borders: Record<string, Border> = {
  errors: { ours: [], packages: [] },
  log: { ours: [], packages: ["pino"] },
  lanes: { ours: [], packages: [] },
  within: { ours: [], packages: [] },
  config: { ours: ["errors"], packages: ["zod", "leven"] },
  session: { ours: ["errors", "log", "lanes"], packages: [], typesOnly: ["ai"] },
  "session/store": {
    ours: ["errors", "log", "lanes", "session"],
    packages: ["keyv", "@keyv/sqlite", "@keyv/postgres", "pg", "@keyv/redis"],
  },
  agent: { ours: ["errors", "log", "session"], packages: ["ai", ...providers, "zod", "p-limit"] },
  conversation: { ours: ["errors", "log", "lanes", "within", "agent", "session"], packages: [] },
  reply: { ours: ["errors"], packages: [], typesOnly: ["conversation"] },
  discord: { ours: ["errors", "log", "lanes", "within", "conversation", "reply"], packages: ["discord.js"] },
  sandbox: { ours: [], packages: ["ws", "hono", "@hono/node-server", "discord-api-types"] },
  index: { ours: ["*"], packages: [] },
  main: { ours: ["*"], packages: [] },
  cli: { ours: ["*"], packages: ["*"] },
};

interface Import {
  readonly file: string;
  readonly home: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

const root = path.resolve(import.meta.dirname, "../src");

/** The border that a file of `src` lies in: the longest one whose name its path begins with. */
function homeOf(file: string): string {
  const names = Object.keys(borders).sort((a, b) => b.length - a.length);
  return names.find((name) => file === `${name}.ts` || file.startsWith(`${name}/`)) ?? "(none)";
}

/** Reads the imports and re-exports of one file: static ones, type ones told apart, and `import("…")`. */
function importsOf(file: string): Import[] {
  const source = readFileSync(path.join(root, file), "utf8").replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
  const found: Import[] = [];
  const statement = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+\sfrom\s+)?["']([^"']+)["']/g;
  for (const match of source.matchAll(statement)) {
    const named =
      /\{([^}]*)\}/
        .exec(match[0])?.[1]
        ?.split(",")
        .map((name) => name.trim())
        .filter(Boolean) ?? [];
    const typeOnly = match[1] !== undefined || (named.length > 0 && named.every((name) => name.startsWith("type ")));
    found.push({ file, home: homeOf(file), target: match[2] ?? "", typeOnly });
  }
  for (const match of source.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g)) {
    found.push({ file, home: homeOf(file), target: match[1] ?? "", typeOnly: false });
  }
  return found;
}

/** Why an import is not allowed; `undefined` if it is. */
function violation({ file, home, target, typeOnly }: Import): string | undefined {
  const border = borders[home];
  if (!border) return `${file} belongs to no part of the house`;
  const allowed = (name: string, list: readonly string[]) =>
    list.includes("*") || list.includes(name) || (typeOnly && (border.typesOnly ?? []).includes(name));
  const refused = `${file} (${home}) must not import ${target}${typeOnly ? " even as a type" : ""}`;
  if (target.startsWith(".")) {
    const aim = path.relative(root, path.resolve(root, path.dirname(file), target));
    const aimHome = homeOf(aim);
    const folder = aimHome.split("/")[0] ?? "";
    if (aimHome === home || folder === home || allowed(folder, border.ours)) {
      return ["main", "cli", "index"].includes(aimHome) && home !== "cli" ? refused : undefined;
    }
    return refused;
  }
  if (isBuiltin(target)) return home === "reply" ? refused : undefined;
  const name = target
    .split("/")
    .slice(0, target.startsWith("@") ? 2 : 1)
    .join("/");
  return allowed(name, border.packages) ? undefined : refused;
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const imports = files.flatMap(importsOf);

describe("the borders of the house", () => {
  it("are kept by every import", () => {
    expect(imports.length).toBeGreaterThan(50);
    expect(imports.map(violation).filter(Boolean)).toEqual([]);
  });

  it("would be noticed when broken", () => {
    const bad: Import[] = [
      { file: "agent/agent.ts", home: "agent", target: "../discord/bot.ts", typeOnly: true },
      { file: "agent/agent.ts", home: "agent", target: "keyv", typeOnly: false },
      { file: "session/session.ts", home: "session", target: "ai", typeOnly: false },
      { file: "session/session.ts", home: "session", target: "keyv", typeOnly: false },
      { file: "reply/reply-view.ts", home: "reply", target: "../conversation/inbound.ts", typeOnly: false },
      { file: "reply/reply-view.ts", home: "reply", target: "node:fs", typeOnly: false },
      { file: "sandbox/sandbox.ts", home: "sandbox", target: "../errors.ts", typeOnly: true },
      { file: "discord/bot.ts", home: "discord", target: "../session/session.ts", typeOnly: true },
      { file: "discord/bot.ts", home: "discord", target: "../main.ts", typeOnly: true },
    ];
    expect(bad.map(violation).filter((reason) => !reason)).toEqual([]);
  });

  it("leave the environment to config, main and cli", () => {
    const readers = files.filter((file) => /process\.env\b/.test(readFileSync(path.join(root, file), "utf8")));
    expect(readers.filter((file) => !/^(?:main\.ts|cli\/)/.test(file))).toEqual([]);
  });

  it("keep files small: one of more than 250 lines says at its top why it is one thing", () => {
    const long = files.filter((file) => {
      const lines = readFileSync(path.join(root, file), "utf8").split("\n");
      return lines.length > 250 && !/one (?:file|thing|place)/i.test(lines.slice(0, 12).join("\n"));
    });
    expect(long).toEqual([]);
  });
});
