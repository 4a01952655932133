import { describe, expect, it } from "vitest";
import { checkSqliteBinding } from "../../src/cli/sqlite-binding.ts";

describe("checkSqliteBinding", () => {
  it("is content where the binding is", () => {
    expect(() => checkSqliteBinding()).not.toThrow();
  });

  it("says in one sentence what to run where npm did not run the install script", () => {
    const missing = () => {
      throw new Error("Could not locate the bindings file. Tried: …");
    };
    expect(() => checkSqliteBinding(missing)).toThrow(/npx --allow-scripts=sqlite3 .*threadkeeper/);
    expect(() => checkSqliteBinding(missing)).toThrow(expect.objectContaining({ code: "STORE_UNAVAILABLE" }));
  });
});
