import { describe, expect, it } from "vitest";
import { type ErrorCode, ThreadkeeperError } from "../../../src/errors.ts";
import { serverError } from "../../../src/session/store/server-error.ts";

const failure = (code: string | undefined, message: string) => Object.assign(new Error(message), code ? { code } : {});

describe("A server's failure", () => {
  const known: [string | undefined, string, ErrorCode, RegExp][] = [
    ["08006", "connection failure", "STORE_UNAVAILABLE", /cannot be reached/],
    ["28P01", 'password authentication failed for user "me"', "STORE_UNAVAILABLE", /check user and password/],
    ["3D000", 'database "x" does not exist', "STORE_UNAVAILABLE", /create it/],
    ["25006", "cannot execute INSERT in a read-only transaction", "STORE_UNAVAILABLE", /primary server/],
    ["40P01", "deadlock detected", "STORE_BUSY", /try again/],
    ["40001", "could not serialize access", "STORE_BUSY", /try again/],
    ["55P03", "canceling statement due to lock timeout", "STORE_BUSY", /try again/],
    ["55000", 'database "x" is not currently accepting connections', "STORE_UNAVAILABLE", /anybody in/],
    ["57014", "canceling statement due to statement timeout", "STORE_BUSY", /try again/],
    ["57P01", "terminating connection due to administrator command", "STORE_UNAVAILABLE", /cannot be reached/],
    ["57P03", "the database system is starting up", "STORE_UNAVAILABLE", /cannot be reached/],
    ["42501", "permission denied for schema public", "STORE_UNAVAILABLE", /rights/],
    ["42P01", 'relation "public.keyv" does not exist', "STORE_UNAVAILABLE", /table/],
    ["53100", "could not extend file: No space left on device", "STORE_FULL", /make some/],
    ["53300", "sorry, too many clients already", "STORE_UNAVAILABLE", /max_connections/],
    ["58030", "could not read block", "STORE_UNAVAILABLE", /check its disk/],
    ["XX001", "invalid page in block 0", "STORE_CORRUPT", /restore a backup/],
    ["XX000", "an internal error", "UNEXPECTED", /refused a command/],
    ["22P02", "invalid input syntax", "UNEXPECTED", /refused a command/],
    ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1", "STORE_UNAVAILABLE", /cannot be reached/],
    ["EPIPE", "write EPIPE", "STORE_UNAVAILABLE", /cannot be reached/],
    ["EAI_AGAIN", "getaddrinfo EAI_AGAIN x", "STORE_UNAVAILABLE", /cannot be reached/],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate", "STORE_UNAVAILABLE", /not trusted/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "Hostname/IP does not match", "STORE_UNAVAILABLE", /not trusted/],
    [undefined, "Query read timeout", "STORE_UNAVAILABLE", /cannot be reached/],
    [undefined, "Connection terminated unexpectedly", "STORE_UNAVAILABLE", /cannot be reached/],
    [undefined, "timeout exceeded when trying to connect", "STORE_UNAVAILABLE", /cannot be reached/],
    [undefined, "The client is offline", "STORE_UNAVAILABLE", /cannot be reached/],
    [undefined, "Socket closed unexpectedly", "STORE_UNAVAILABLE", /cannot be reached/],
    [undefined, "OOM command not allowed when used memory > 'maxmemory'.", "STORE_FULL", /make some/],
    [undefined, "MISCONF Errors writing to the AOF file", "STORE_UNAVAILABLE", /disk/],
    [undefined, "LOADING Redis is loading the dataset in memory", "STORE_BUSY", /loading/],
    [undefined, "WRONGPASS invalid username-password pair", "STORE_UNAVAILABLE", /check user and password/],
    [undefined, "NOAUTH Authentication required.", "STORE_UNAVAILABLE", /check user and password/],
    [undefined, "ERR AUTH <password> called without any password", "STORE_UNAVAILABLE", /check user and password/],
    [undefined, "ERR DB index is out of range", "STORE_UNAVAILABLE", /lower number/],
    [undefined, "READONLY You can't write against a read only replica.", "STORE_UNAVAILABLE", /primary server/],
    [undefined, "ERR value is not an integer", "UNEXPECTED", /refused a command/],
  ];
  for (const [code, message, ours, says] of known) {
    it(`is told as ${ours}: ${code ?? ""} ${message}`, () => {
      const error = serverError(failure(code, message), "the store");
      expect(error).toMatchObject({ code: ours, message: expect.stringMatching(says) });
      expect(error.message).toMatch(/^the store .*\)$/);
      expect(error.message).toContain(message);
    });
  }

  it("of several addresses is that of the first", () => {
    const each = ["ECONNREFUSED", "ENETUNREACH"].map((code) => failure(code, `connect ${code}`));
    expect(serverError(new AggregateError(each, ""), "the store").message).toContain("connect ECONNREFUSED");
    expect(serverError(new AggregateError([], ""), "the store").code).toBe("UNEXPECTED");
  });

  it("that is one of ours stays what it is; whatever else was thrown has a sentence", () => {
    const ours = new ThreadkeeperError("STORE_FULL", "full");
    expect(serverError(ours, "the store")).toBe(ours);
    expect(serverError("plain text", "the store").message).toContain("plain text");
  });
});
