import { type Context, Hono } from "hono";
import { command, commandsIn, putCommand, putCommands, removeCommand } from "../world/commands.ts";
import { DiscordError } from "../world/discord-error.ts";
import { readBody, readList } from "./request-body.ts";
import type { RestEnvironment, RestParts } from "./rest-parts.ts";

/** The bot's commands: the global ones and, under a server, its own. */
export function commandRoutes({ world }: RestParts): Hono<RestEnvironment> {
  /** The server's id, if the path has one; only the bot's own application is open to it. */
  const place = (context: Context): string | undefined => {
    const { applicationId, guildId } = context.req.param() as { applicationId?: string; guildId?: string };
    if (applicationId !== world.state.botId) throw new DiscordError(20012);
    if (guildId && !world.guild(guildId).members[world.state.botId]) throw new DiscordError(50001);
    return guildId;
  };
  const app = new Hono<RestEnvironment>();
  for (const path of [
    "/applications/:applicationId/commands",
    "/applications/:applicationId/guilds/:guildId/commands",
  ]) {
    app
      .get(path, (context) => context.json(commandsIn(world, place(context))))
      .put(path, async (context) => {
        const definitions = await readList(context);
        return context.json(putCommands(world, place(context), definitions));
      })
      .post(path, async (context) => {
        const { json } = await readBody(context);
        const before = commandsIn(world, place(context)).length;
        const created = putCommand(world, place(context), json);
        return context.json(created, commandsIn(world, place(context)).length > before ? 201 : 200);
      })
      .get(`${path}/:commandId`, (context) =>
        context.json(command(world, place(context), context.req.param("commandId") ?? "")),
      )
      .patch(`${path}/:commandId`, async (context) => {
        const { json } = await readBody(context);
        const known = command(world, place(context), context.req.param("commandId") ?? "");
        return context.json(putCommand(world, place(context), { ...known, ...json, name: known.name }));
      })
      .delete(`${path}/:commandId`, (context) => {
        removeCommand(world, place(context), context.req.param("commandId") ?? "");
        return context.body(null, 204);
      });
  }
  return app;
}
