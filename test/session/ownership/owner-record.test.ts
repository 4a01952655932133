import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { formatOwner, isDead, thisProcess } from "../../../src/session/ownership/owner-record.ts";

describe("A process that wrote a record", () => {
  it("is not dead if it is this one", () => {
    const record = { ...thisProcess, takeOverMs: 20_000, beat: 7 };
    expect(isDead(JSON.parse(formatOwner(record)), thisProcess)).toBe(false);
    expect(JSON.parse(formatOwner(record))).toMatchObject(record);
  });

  it("is dead as soon as its number on this machine is nobody's", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const mark = { ...thisProcess, pid: child.pid as number };
    expect(isDead(mark, thisProcess)).toBe(false);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isDead(mark, thisProcess)).toBe(true);
  });

  it("is dead if this process has its number: a restarted container", () => {
    expect(isDead({ ...thisProcess, start: thisProcess.start - 5_000_000 }, thisProcess)).toBe(true);
    // Two clocks are read for it, a moment apart.
    expect(isDead({ ...thisProcess, start: thisProcess.start - 20 }, thisProcess)).toBe(false);
  });

  it("is not known to be dead on another machine, or if its number is somebody else's process by now", () => {
    const kill = vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("not permitted"), { code: "EPERM" });
    });
    expect(isDead({ ...thisProcess, host: "elsewhere", pid: 999_999_999 }, thisProcess)).toBe(false);
    expect(isDead({ ...thisProcess, pid: thisProcess.pid + 1 }, thisProcess)).toBe(false);
    kill.mockRestore();
  });

  it.runIf(process.platform === "linux")("is not known to be dead on a machine that has this one's name", () => {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    expect(thisProcess.host).toContain(boot);
    const host = thisProcess.host.replace(boot, randomUUID());
    expect(isDead({ ...thisProcess, host, pid: 999_999_999 }, thisProcess)).toBe(false);
  });

  it("is not known to be dead if the record says something odd, and no group of processes is asked for", () => {
    const kill = vi.spyOn(process, "kill");
    const odd = [{ pid: "5" }, { pid: -1 }, { pid: 0 }, { pid: null }, { host: 5 }, { start: "then" }];
    for (const fields of odd) expect(isDead({ ...thisProcess, ...fields }, thisProcess)).toBe(false);
    expect(kill).not.toHaveBeenCalled();
    kill.mockRestore();
  });
});
