import { InteractionResponseType } from "discord-api-types/v10";
import { Hono } from "hono";
import { apiMessage } from "../wire/api-message.ts";
import { DiscordError } from "../world/discord-error.ts";
import {
  acknowledge,
  answerMessage,
  type Callback,
  deleteAnswer,
  editAnswer,
  followUp,
} from "../world/interactions.ts";
import type { Message } from "../world/state.ts";
import { readDraft, readEdit } from "./message-body.ts";
import { field, part, type RequestBody, readBody } from "./request-body.ts";
import type { RestEnvironment, RestParts } from "./rest-parts.ts";

/** Answering people's commands and clicks; the token in the path is the right to do it. */
export function interactionRoutes({ world, counters, onUnknown }: RestParts): Hono<RestEnvironment> {
  const bot = world.state.botId;
  const api = (message: Message) => apiMessage(world, message, { id: bot, mayRead: true });
  const checkApplication = (id: string) => {
    if (id !== bot) throw new DiscordError(10015);
  };
  return new Hono<RestEnvironment>()
    .post("/interactions/:id/:token/callback", async (context) => {
      const { id, token } = context.req.param();
      const body = await readBody(context);
      const callback = readCallback(body);
      if (!callback) {
        const name = `interaction response type ${body.json["type"]}`;
        counters.notKnown(name);
        onUnknown(name);
        return context.json({ message: `The sandbox doesn't have ${name}`, code: 0 }, 501);
      }
      const message = acknowledge(world, id, token, callback);
      if (context.req.query("with_response") !== "true") return context.body(null, 204);
      return context.json({
        interaction: { id, type: callback.type, ...(message && { response_message_id: message.id }) },
        ...(message && { resource: { type: callback.type, message: api(message) } }),
      });
    })
    .post("/webhooks/:applicationId/:token", async (context) => {
      checkApplication(context.req.param("applicationId"));
      const draft = readDraft(await readBody(context));
      return context.json(api(followUp(world, context.req.param("token"), draft)));
    })
    .get("/webhooks/:applicationId/:token/messages/:messageId", (context) => {
      checkApplication(context.req.param("applicationId"));
      const { token, messageId } = context.req.param();
      return context.json(api(answerMessage(world, token, messageId)));
    })
    .patch("/webhooks/:applicationId/:token/messages/:messageId", async (context) => {
      checkApplication(context.req.param("applicationId"));
      const { token, messageId } = context.req.param();
      return context.json(api(editAnswer(world, token, messageId, readEdit(await readBody(context)))));
    })
    .delete("/webhooks/:applicationId/:token/messages/:messageId", (context) => {
      checkApplication(context.req.param("applicationId"));
      const { token, messageId } = context.req.param();
      deleteAnswer(world, token, messageId);
      return context.body(null, 204);
    });
}

function readCallback({ json, files }: RequestBody): Callback | undefined {
  const data = { json: part(json, "data") ?? {}, files };
  const type: InteractionResponseType | undefined = field(json, "type", "number");
  switch (type) {
    case InteractionResponseType.ChannelMessageWithSource:
    case InteractionResponseType.DeferredChannelMessageWithSource:
      return { type, draft: readDraft(data) };
    case InteractionResponseType.DeferredMessageUpdate:
      return { type };
    case InteractionResponseType.UpdateMessage:
      return { type, edit: readEdit(data) };
    default:
      return undefined;
  }
}
