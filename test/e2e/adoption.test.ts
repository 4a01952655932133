import { afterAll, describe, expect, it } from "vitest";
import { answeringModel } from "./support/answering-model.ts";
import { type House, type HouseOptions, openHouse } from "./support/house.ts";
import { botTexts, gate } from "./support/talk.ts";
import { type Break, openWire } from "./support/wire.ts";

const paragraph = (name: string) => Array.from({ length: 230 }, (_, index) => `${name}${index}`).join(" ");
const whole = ["a", "b", "c"].map(paragraph).join("\n\n");
const sends = (what: string) => /^POST .*\/messages$/.test(what);
const edits = (what: string) => /^PATCH .*\/messages\//.test(what);

/** Everywhere where a process can die while it draws three messages. */
const breaks: readonly Break[] = [0, 1, 2].flatMap((number) =>
  (["before", "after"] as const).map((when) => ({ when, number, fits: sends })),
);

/** Bots that nobody hears any more, and that still try to say what they have to say. */
const dying: Promise<void>[] = [];
afterAll(() => Promise.all(dying));

/** A house whose first bot dies where the wire breaks, and whose second one goes on. */
async function diesAt(
  planned: Break,
  options: HouseOptions,
  act: (house: House) => void | Promise<void>,
): Promise<House> {
  const house = await openHouse(options);
  const wire = await openWire(house.sandbox, planned);
  const first = await house.start({ bot: { api: wire.api } });
  await act(house);
  await wire.broken;
  dying.push(first.crash());
  return house;
}

describe.each([
  ["3 minutes", 180_000],
  ["0 s", 0],
])("with nonces that Discord knows for %s, an answer of three messages whose process dies", (_, nonceMs) => {
  const sandboxOptions = { nonceMs, limits: false };

  it("before or after any of them is completed by the next one, each message once and in order", async () => {
    await Promise.all(
      breaks.map(async (planned) => {
        const model = answeringModel(() => whole);
        const { sandbox, start } = await diesAt(planned, { model, sandbox: sandboxOptions }, async ({ sandbox }) => {
          sandbox.owner.mentions(sandbox.bot, "all of it");
        });
        await start();
        const thread = sandbox.threads()[0]?.id ?? "";
        await sandbox.until(() => botTexts(sandbox, thread).join("\n\n") === whole);
        expect({ planned, texts: botTexts(sandbox, thread).length }).toEqual({ planned, texts: 3 });
      }),
    );
  });

  it("in a thread where more was said before and behind it is completed the same way", async () => {
    await Promise.all(
      breaks.map(async (planned) => {
        // The first answer is one message.
        const later = { ...planned, number: planned.number + 1 };
        const model = answeringModel(({ questions }) => (questions.at(-1) === "all of it" ? whole : "hi"));
        const { sandbox, start } = await diesAt(later, { model, sandbox: sandboxOptions }, async ({ sandbox }) => {
          const { id } = sandbox.owner.mentions(sandbox.bot, "hello");
          await sandbox.until(() => sandbox.findChannel(id) && botTexts(sandbox, id).length === 1);
          sandbox.owner.says({ id }, "all of it");
        });
        const thread = sandbox.threads()[0]?.id ?? "";
        sandbox.owner.says({ id: thread }, "still there?");
        await start();
        await sandbox.until(() => botTexts(sandbox, thread).slice(1).join("\n\n").startsWith(whole));
        expect({ planned, text: botTexts(sandbox, thread).slice(1, 4).join("\n\n") === whole }).toEqual({
          planned,
          text: true,
        });
      }),
    );
  });

  it("in the midst of being written is written anew in the messages that are there", async () => {
    await Promise.all(
      (["before", "after"] as const).map(async (when) => {
        const words = gate();
        const model = answeringModel(async function* ({ call }) {
          if (call > 0) {
            yield whole;
            return;
          }
          yield paragraph("x");
          await new Promise((resolve) => setTimeout(resolve, 300));
          yield ` and ${paragraph("y")}`;
          await words.opened;
        });
        const planned = { when, number: 0, fits: edits };
        const { sandbox, start } = await diesAt(planned, { model, sandbox: sandboxOptions }, ({ sandbox }) => {
          sandbox.owner.mentions(sandbox.bot, "all of it");
        });
        await start();
        const thread = sandbox.threads()[0]?.id ?? "";
        await sandbox.until(() => botTexts(sandbox, thread).join("\n\n") === whole);
        words.open();
        expect(botTexts(sandbox, thread)).toHaveLength(3);
      }),
    );
  });
});
