import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { RequestBudget, RequestWindow } from "../../src/discord/request-budget.ts";

describe("a request window", () => {
  it("counts a request from its beginning until a span after its answer", () => {
    let now = 0;
    const window = new RequestWindow(2, 1000, () => now);
    const end = window.begin();
    now = 5_000;
    expect(window.left).toBe(1);
    end();
    now = 5_999;
    expect(window.left).toBe(1);
    expect(window.waitFor(2)).toBe(1);
    now = 6_000;
    expect(window.left).toBe(2);
    expect(window.idle).toBe(true);
  });

  it("counts an answer that is told twice once", () => {
    const window = new RequestWindow(2, 1000, () => 0);
    const end = window.begin();
    end();
    end();
    expect(window.left).toBe(1);
  });

  it("says how long to wait, and a short while when an answer is still awaited", () => {
    let now = 0;
    const window = new RequestWindow(2, 1000, () => now);
    const [one, two] = [window.begin(), window.begin()];
    expect(window.waitFor(1)).toBe(50);
    one();
    now = 400;
    expect(window.waitFor(1)).toBe(600);
    expect(window.waitFor(2)).toBe(50);
    two();
    expect(window.waitFor(2)).toBe(1000);
  });

  it("lets a server that counts at any moment of a request never count more than the limit in a span", () => {
    const request = fc.record({ pause: fc.nat(400), toServer: fc.nat(300), back: fc.nat(300) });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
        let now = 0;
        const window = new RequestWindow(5, 1000, () => now);
        const counted: number[] = [];
        // One after another, as a pump sends them: the worst case for the span between two counts.
        for (const { pause, toServer, back } of requests) {
          now += pause;
          now += window.waitFor(1);
          const end = window.begin();
          counted.push(now + toServer);
          now += toServer + back;
          end();
        }
        for (const [index, at] of counted.entries()) {
          const sixth = counted[index + 5];
          if (sixth !== undefined) expect(sixth - at).toBeGreaterThanOrEqual(1000);
        }
      }),
    );
  });
});

describe("the request budget", () => {
  function taken(count: number): RequestBudget {
    const budget = new RequestBudget(() => 0);
    for (let index = 0; index < count; index += 1) budget.tryBegin("final");
    return budget;
  }

  it("lets typing go first when it runs low, then progress, then first drawings; finals have all of it", () => {
    const allowed = (count: number) =>
      (["typing", "progress", "first", "final"] as const).filter((kind) => taken(count).tryBegin(kind));
    expect(allowed(10)).toEqual(["typing", "progress", "first", "final"]);
    expect(allowed(11)).toEqual(["progress", "first", "final"]);
    expect(allowed(20)).toEqual(["progress", "first", "final"]);
    expect(allowed(21)).toEqual(["first", "final"]);
    expect(allowed(30)).toEqual(["first", "final"]);
    expect(allowed(31)).toEqual(["final"]);
    expect(allowed(40)).toEqual([]);
  });

  it("makes what must be made wait its turn, first come first served", async () => {
    let now = 0;
    const budget = new RequestBudget(() => now);
    const ends = Array.from({ length: 40 }, () => budget.tryBegin("final"));
    const order: number[] = [];
    const waiting = [1, 2, 3].map((number) => budget.run(`channel ${number}`, async () => void order.push(number)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    for (const end of ends) end?.();
    now = 1_000;
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it("lets what can wait begin only where progress may, and in its lane", async () => {
    vi.useFakeTimers();
    try {
      const budget = new RequestBudget();
      const ends = Array.from({ length: 21 }, () => budget.tryBegin("final"));
      const made: string[] = [];
      const calm = budget.runCalmly("busy", async () => void made.push("calm"));
      const behind = budget.run("busy", async () => void made.push("behind"));
      await budget.run("elsewhere", async () => void made.push("at once"));
      await vi.advanceTimersByTimeAsync(500);
      expect(made).toEqual(["at once"]);
      for (const end of ends) end?.();
      await vi.advanceTimersByTimeAsync(1_050);
      await Promise.all([calm, behind]);
      expect(made).toEqual(["at once", "calm", "behind"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("gives a place back when a request fails", async () => {
    let now = 0;
    const budget = new RequestBudget(() => now);
    for (let index = 0; index < 40; index += 1) {
      await expect(budget.run("channel", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    }
    now = 1_000;
    expect(budget.waitFor("typing")).toBe(0);
  });

  it("gives the requests of one lane one place in all, and makes them in order, whatever becomes of one", async () => {
    let now = 0;
    const budget = new RequestBudget(() => now);
    const made: string[] = [];
    let fail = (_error: Error) => {};
    const answer = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    const stuck = budget.run("busy", () => answer);
    const behind = Array.from({ length: 45 }, (_, number) =>
      budget.run("busy", async () => void made.push(`${number}`)),
    );
    await budget.run("quiet", async () => void made.push("quiet"));
    now = 1_000;
    expect(made).toEqual(["quiet"]);
    expect(budget.waitFor("typing")).toBe(0);
    fail(new Error("no"));
    await expect(stuck).rejects.toThrow("no");
    await Promise.all(behind.slice(0, 30));
    expect(made).toEqual(["quiet", ...Array.from({ length: 30 }, (_, number) => `${number}`)]);
    now = 2_000;
    await Promise.all(behind);
  });
});
