import { expect, it } from "vitest";
import { sessionMarkdown } from "../../src/cli/session-markdown.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";

const at = "2026-11-30T01:00:00.000Z";
const event = (message: SessionEvent["message"], rest: Partial<SessionEvent> = {}): SessionEvent => ({
  id: "1",
  seq: 0,
  at,
  turn: "t",
  message,
  ...rest,
});
const markdown = (...events: SessionEvent[]) => [...sessionMarkdown({ sessionId: "s", record: {}, events })].join("");

it("A session in Markdown tells who said what, and what tools did", () => {
  const text = markdown(
    event({ role: "user", content: "Hello\n\nthere" }, { author: { id: "5", name: "Ada" } }),
    event({
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool-call", toolCallId: "c", toolName: "clock", input: { zone: "UTC" } },
      ],
    }),
    event({
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "c", toolName: "clock", output: { type: "text", value: "noon" } }],
    }),
    event({ role: "user", content: [{ type: "file", data: "AAAA", mediaType: "image/png" }] }),
    event({ role: "user", content: "" }, { erased: true }),
  );
  expect(text).toBe(`# Session s

**Ada**, ${at}

> Hello
>
> there

**Threadkeeper**, ${at}

> I look.
> calls clock with {"zone":"UTC"}

**Tool**, ${at}

> clock gave {"type":"text","value":"noon"}

**Somebody**, ${at}

> [file image/png]

*(taken back)*

`);
});

it("Nobody's words or name pass for another's, or for a heading", () => {
  const words = "fine\u2028# Session other\r**Bob**, now\r\n> quoted";
  const context = [{ id: "2", author: { id: "6", name: "**Bob**\n# x" }, text: "near" }];
  const text = markdown(event({ role: "user", content: words }, { author: { id: "5", name: "A_d_a" }, context }));
  expect(text.split("\n").filter((line) => line !== "" && !line.startsWith(">"))).toEqual([
    "# Session s",
    `**\\*\\*Bob\\*\\* \\# x, near by**, ${at}`,
    `**A\\_d\\_a**, ${at}`,
  ]);
  expect(text).not.toMatch(/[\r\u2028]/);
});
