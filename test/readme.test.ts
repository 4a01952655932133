import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as zod from "zod";
import * as threadkeeper from "../src/index.ts";
import { scriptedModel } from "./support/scripted-model.ts";

const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? "");

/** Runs an example as it stands in the README; `packages` are what it imports, and its exports are returned. */
async function run(
  example: string,
  packages: Record<string, object>,
  log: (text: unknown) => void = () => {},
): Promise<Record<string, unknown>> {
  const exported = [...example.matchAll(/^export const (\w+)/gm)].map((match) => match[1]);
  const body = example
    .replaceAll(/^import (\{.*?\}) from "(.*?)";$/gm, (_line, names, name) => `const ${names} = packages["${name}"];`)
    .replaceAll(/^export /gm, "");
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  return new AsyncFunction("packages", "console", `${body}\nreturn { ${exported.join(", ")} };`)(packages, { log });
}

function exampleWith(text: string): string {
  const found = examples.filter((example) => example.includes(text));
  expect(found).toHaveLength(1);
  return found[0] ?? "";
}

describe("the README", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-readme-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("shows two runs on one session, the second of which calls the model with the first turn", async () => {
    const model = scriptedModel([["The deadline for Project Alpha is set."], ["Progress updated."]]);
    const example = exampleWith("Project Alpha");
    expect(example).toContain('"sqlite:data/sessions.sqlite"');
    await run(example, {
      threadkeeper: {
        ...threadkeeper,
        openStore: (setting: string) => threadkeeper.openStore(setting.replace("data", `${folder}/data`)),
        resolveModel: () => model,
      },
    });
    model.assertComplete();
    const second = model.promptOf(1);
    expect(second).toContain("Set the deadline for Project Alpha to Dec 27.");
    expect(second).toContain("assistant: The deadline for Project Alpha is set.");
    expect(second).toContain("Update the progress.");
  });

  it("shows that same pair with a model that anybody has", async () => {
    const printed: unknown[] = [];
    const packages = {
      threadkeeper: {
        ...threadkeeper,
        openStore: (setting: string) => threadkeeper.openStore(setting.replace("data", `${folder}/data`)),
      },
    };
    await run(exampleWith("Project Alpha"), packages, (text) => printed.push(text));
    expect(printed).toEqual([expect.stringContaining("demo model")]);
  });

  it("shows how a tool is written, and that tool works", async () => {
    const { rollDice } = await run(exampleWith("defineTool"), { threadkeeper, zod });
    const model = scriptedModel([[{ tool: "roll_dice", input: { dice: 3 } }], ["Done."]]);
    const agent = new threadkeeper.Agent({ model, tools: [rollDice as threadkeeper.Tool] });
    await agent.run("Roll three dice.");
    expect(model.promptOf(1)).toMatch(/\[[1-6],[1-6],[1-6]\]/);
  });

  it("has all that lies in src on its map, and nothing else", async () => {
    const map = readme.slice(readme.indexOf("## Map of `src`"));
    const rows = [...map.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, names = ""]) => names.split(", "));
    const entries = await readdir(new URL("../src", import.meta.url), { withFileTypes: true });
    const there = entries.map((entry) => `\`${entry.name}${entry.isDirectory() ? "/" : ""}\``);
    expect(rows.sort()).toEqual(there.sort());
  });

  it("names every setting of the model and the scripts as they are", async () => {
    const { scripts } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
    const named = [...readme.matchAll(/npm (?:run )?(start|test|demo|check|build|bench)\b/g)].map((match) => match[1]);
    expect(named.filter((name) => !((name as string) in scripts))).toEqual([]);
    for (const [, model] of readme.matchAll(/`((?:openai|anthropic|google|ollama|openai-compatible):[\w.:-]+)`/g)) {
      const keys = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" };
      expect(() => threadkeeper.resolveModel(model ?? "", { keys, baseUrl: "http://127.0.0.1:1/v1" })).not.toThrow();
    }
  });
});
