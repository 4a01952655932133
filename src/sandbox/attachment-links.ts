import { createHmac } from "node:crypto";
import { Hono } from "hono";
import { isSameSecret } from "./bot-access.ts";
import type { RestEnvironment } from "./rest/rest-parts.ts";
import type { Attachment } from "./world/state.ts";
import type { World } from "./world/world.ts";

/** How long a link works: a day, as Discord's. */
const linkLifetime = 24 * 60 * 60_000;

/** Where an attachment can be fetched by whoever has the link. Links expire, and can't be guessed or prolonged. */
export function attachmentLink(world: World, channelId: string, { id, name }: Attachment): string {
  const path = `/attachments/${channelId}/${id}`;
  const expires = Math.floor((Date.now() + linkLifetime) / 1_000).toString(16);
  return `${world.origin}${path}/${encodeURIComponent(name)}?ex=${expires}&hm=${signature(world, path, expires)}`;
}

function signature(world: World, path: string, expires: string): string {
  return createHmac("sha256", world.linkSecret).update(`${path}?${expires}`).digest("hex");
}

/** Serves the links. */
export function attachmentRoutes(world: World): Hono<RestEnvironment> {
  return new Hono<RestEnvironment>().get("/attachments/:channelId/:attachmentId/:name", (context) => {
    const { channelId, attachmentId } = context.req.param();
    const { ex = "", hm = "" } = context.req.query();
    const isOurs = isSameSecret(hm, signature(world, `/attachments/${channelId}/${attachmentId}`, ex));
    const attachment = world
      .messages(channelId)
      .flatMap(({ attachments }) => attachments)
      .find(({ id }) => id === attachmentId);
    if (!isOurs || !attachment || Number.parseInt(ex, 16) * 1_000 < Date.now()) {
      return context.text("This content is no longer available.", 404);
    }
    // Never shown as a page of ours, whatever it is.
    return context.body(new Uint8Array(Buffer.from(attachment.base64, "base64")), 200, {
      "content-type": attachment.contentType ?? "application/octet-stream",
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
    });
  });
}
