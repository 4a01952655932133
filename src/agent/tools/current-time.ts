import { z } from "zod";
import { defineTool } from "../tool.ts";

/** The date and time now, in any time zone: the model has no clock. Also the pattern of how a tool is written. */
export const currentTime = defineTool({
  name: "current_time",
  description:
    "Tells the current date, weekday and time in a time zone. Use it when somebody asks what time or day it is now.",
  input: z.object({
    zone: z.string().default("UTC").describe("An IANA time zone such as Europe/Berlin or America/New_York."),
  }),
  run({ zone }) {
    const now = new Date();
    return { zone, time: inZone(now, zone), utc: now.toISOString() };
  },
});

/** @throws RangeError that says what a zone looks like */
function inZone(date: Date, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long", timeZone }).format(date);
  } catch (cause) {
    throw new RangeError(`${JSON.stringify(timeZone)} is not an IANA time zone; examples are Europe/Berlin and UTC`, {
      cause,
    });
  }
}
