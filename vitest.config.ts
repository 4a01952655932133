import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Most of the time is spent waiting: for Discord's limits, for processes, for a disk.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**"],
          testTimeout: 20_000,
          // Of tests that only wait for a clock and say that they may.
          maxConcurrency: 16,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 30_000,
        },
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "json-summary"],
      thresholds: {
        "src/session/**/*.ts": { lines: 95, branches: 95 },
        "src/agent/**/*.ts": { lines: 95, branches: 95 },
        "src/conversation/**/*.ts": { lines: 95, branches: 95 },
        "src/reply/**/*.ts": { lines: 95, branches: 95 },
      },
    },
  },
});
