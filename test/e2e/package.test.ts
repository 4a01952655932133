import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const execute = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");

/** A developer's project that has installed our tarball: ours unpacked, its dependencies as they are here. */
let project: string;
let installed: string;

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), "threadkeeper-package-"));
  await execute("npm", ["pack", "--silent", "--pack-destination", project], { cwd: root });
  const tarball = (await readdir(project)).find((name) => name.endsWith(".tgz")) ?? "";
  await mkdir(path.join(project, "node_modules"));
  await execute("tar", ["-xzf", tarball], { cwd: project });
  installed = path.join(project, "node_modules", "threadkeeper");
  await execute("mv", ["package", installed], { cwd: project });
  const { dependencies } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), "@types/node"]) {
    const link = path.join(project, "node_modules", name);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.join(root, "node_modules", name), link);
  }
  await writeFile(path.join(project, "package.json"), JSON.stringify({ name: "scratch", type: "module" }));
}, 120_000);

afterAll(() => rm(project, { recursive: true, force: true }));

describe("the package", () => {
  it("is imported with its types by somebody else's strict project", async () => {
    await writeFile(
      path.join(project, "main.ts"),
      `import { Agent, defineTool, openSessions, openStore, resolveModel, type AgentResult, type Session } from "threadkeeper";
const store = await openStore("memory:");
const sessions = await openSessions({ store });
const session: Session = await sessions.create({ sessionId: "project-alpha" });
const agent = new Agent({ model: resolveModel("demo"), sessions });
const result: AgentResult | undefined = await agent.run("The deadline is Dec 27.", { sessionId: session.sessionId });
function neverCalled() {
  // @ts-expect-error a session id is text
  void sessions.get(7);
  // @ts-expect-error a tool has a description
  defineTool({ name: "x" });
}
void neverCalled;
const saved = await sessions.get(session.sessionId);
console.log(typeof result?.text, saved?.events.length);
await sessions.close();
await store.close();
`,
    );
    await writeFile(
      path.join(project, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          module: "NodeNext",
          target: "ES2023",
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: true,
          types: ["node"],
          outDir: "out",
        },
        files: ["main.ts"],
      }),
    );
    await execute(path.join(root, "node_modules/.bin/tsc"), ["-p", project], { cwd: project });
    const { stdout } = await execute(process.execPath, ["out/main.js"], { cwd: project });
    expect(stdout).toBe("string 2\n");
  }, 120_000);

  it("is clean by publint", async () => {
    const { messages, pkg } = await publint({ pkgDir: installed, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it("reads no .env, sets nothing up and keeps nothing open when it is imported", async () => {
    await writeFile(path.join(project, ".env"), "DISCORD_TOKEN=x\n");
    const script = `import "threadkeeper"; console.log(process.env.DISCORD_TOKEN, process.getActiveResourcesInfo().filter((name) => /Timeout|TCP|Worker|MessagePort|FSReq/.test(name)).length)`;
    const { stdout, stderr } = await execute(process.execPath, ["--input-type=module", "-e", script], { cwd: project });
    expect(stdout).toBe("undefined 0\n");
    expect(stderr).toBe("");
  });

  it("brings the program, which tells its version", async () => {
    const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8")) as { version: string };
    const program = path.join(installed, "dist/cli/threadkeeper.js");
    const { stdout } = await execute(process.execPath, [program, "--version"], { cwd: project });
    expect(stdout).toBe(`${version}\n`);
    await expect(execute(process.execPath, [program, "dance"], { cwd: project })).rejects.toMatchObject({ code: 2 });
  });
});
