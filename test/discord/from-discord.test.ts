import { type Message, MessageType } from "discord.js";
import { describe, expect, it } from "vitest";
import { fromMessage, type Routed } from "../../src/discord/from-discord.ts";
import { delivered, ids, knownClient, people } from "./support/known-world.ts";

const client = knownClient();
const mention = `<@${ids.bot}>`;
const calls = { mentions: [people.bot] };

function route(message: Message, allowedBots: readonly string[] = []): Routed {
  return fromMessage(message, new Set(allowedBots));
}

function ignored(message: Message): string | undefined {
  const routed = route(message);
  return "ignored" in routed ? routed.ignored : undefined;
}

function ground(message: Message): string | undefined {
  const routed = route(message);
  return "ground" in routed ? routed.ground : undefined;
}

function text(message: Message): string | undefined {
  const routed = route(message);
  return "inbound" in routed ? routed.inbound.text : undefined;
}

describe("a message in a channel", () => {
  it("that mentions the bot opens a thread on itself, whose session has that thread's name", () => {
    const message = delivered(client, ids.general, `${mention} hello`, calls);
    expect(route(message)).toEqual({
      ground: "new-thread",
      inbound: {
        kind: "message",
        id: message.id,
        sessionId: `discord:${message.id}`,
        author: { id: ids.ada, name: "Ada" },
        text: "hello",
        attachments: [],
        replyTo: { channel: ids.general, message: message.id },
        places: [`discord:${ids.bot}:guild:${ids.guild}`, `discord:${ids.bot}:channel:${ids.general}`],
      },
    });
  });

  it("that doesn't mention the bot is not for it", () => {
    expect(ignored(delivered(client, ids.general, "hello all"))).toBe("not said to the bot");
  });

  it("to everyone is not for the bot, unless it is mentioned too", () => {
    const everyone = { mention_everyone: true };
    expect(ignored(delivered(client, ids.general, "@everyone meeting at 5", everyone))).toBe("not said to the bot");
    expect(ground(delivered(client, ids.general, `@everyone ${mention} when?`, { ...everyone, ...calls }))).toBe(
      "new-thread",
    );
  });

  it("that only pings the bot as a reply does is not for it", () => {
    const reply = { type: MessageType.Reply, mentions: [people.bot], referenced_message: botSaid() };
    expect(ignored(delivered(client, ids.general, "thanks", reply))).toBe("not said to the bot");
  });

  it("that mentions the bot's own role is for it; another role, or one of another server, is not", () => {
    const withRole = (id: string) => delivered(client, ids.general, `<@&${id}> hello`, { mention_roles: [id] });
    expect(ground(withRole(ids.botRole))).toBe("new-thread");
    expect(text(withRole(ids.botRole))).toBe("hello");
    expect(ignored(withRole(ids.moderators))).toBe("not said to the bot");
    expect(ignored(withRole("999999999999999999"))).toBe("not said to the bot");
  });

  it("where no threads can be opened is answered in place when the bot is mentioned", () => {
    const message = delivered(client, ids.voice, `${mention} hello`, calls);
    expect(route(message)).toMatchObject({ ground: "foreign", inbound: { sessionId: `discord:${ids.voice}` } });
  });
});

describe("a message in a thread", () => {
  it("of the bot's own is a turn without a mention", () => {
    const message = delivered(client, ids.ownThread, "and then?");
    expect(route(message)).toMatchObject({
      ground: "own-thread",
      inbound: { sessionId: `discord:${ids.ownThread}`, replyTo: { channel: ids.ownThread, message: message.id } },
    });
  });

  it("of somebody else's is a turn when it mentions the bot or replies to it, pinging or not", () => {
    expect(ignored(delivered(client, ids.foreignThread, "by the way"))).toBe("not said to the bot");
    expect(ground(delivered(client, ids.foreignThread, `${mention} you?`, calls))).toBe("foreign");
    const silentReply = { type: MessageType.Reply, mentions: [], referenced_message: botSaid() };
    expect(ground(delivered(client, ids.foreignThread, "and you?", silentReply))).toBe("foreign");
    const otherReply = {
      type: MessageType.Reply,
      mentions: [],
      referenced_message: { ...botSaid(), author: people.bob },
    };
    expect(ignored(delivered(client, ids.foreignThread, "and you?", otherReply))).toBe("not said to the bot");
  });

  it("that is a forum post belongs to the post, and opens nothing", () => {
    const message = delivered(client, ids.post, `${mention} how?`, { ...calls, id: ids.post });
    expect(route(message)).toMatchObject({ ground: "foreign", inbound: { sessionId: `discord:${ids.post}` } });
  });
});

describe("a direct message", () => {
  it("is a turn whatever it says", () => {
    expect(route(delivered(client, ids.direct, "hello"))).toMatchObject({
      ground: "direct",
      inbound: { sessionId: `discord:${ids.direct}`, text: "hello" },
    });
  });

  it("knows no roles", () => {
    const message = delivered(client, ids.direct, `<@&${ids.botRole}> hi`, { mention_roles: [ids.botRole] });
    expect(text(message)).toBe(`<@&${ids.botRole}> hi`);
  });
});

describe("what is no person's words", () => {
  it("is ignored: a rename, a pin, a boost, a thread's beginning", () => {
    const kinds = [
      MessageType.ChannelNameChange,
      MessageType.ChannelPinnedMessage,
      MessageType.GuildBoost,
      MessageType.ThreadCreated,
      MessageType.ThreadStarterMessage,
      MessageType.UserJoin,
      MessageType.ChatInputCommand,
    ];
    for (const type of kinds) {
      expect(ignored(delivered(client, ids.ownThread, `${mention}`, { type, ...calls }))).toBe("not a person's words");
    }
  });

  it("is ignored: the bot itself always, other bots unless they are allowed, webhooks too", () => {
    expect(ignored(delivered(client, ids.ownThread, "hi", { author: people.bot }))).toBe("own message");
    expect(route(delivered(client, ids.ownThread, "hi", { author: people.bot }), [ids.bot])).toEqual({
      ignored: "own message",
    });
    const fromBot = { author: people.otherBot };
    expect(ignored(delivered(client, ids.ownThread, "hi", fromBot))).toBe("bot");
    expect("inbound" in route(delivered(client, ids.ownThread, "hi", fromBot), [ids.otherBot])).toBe(true);
    const webhook = { author: { ...people.bob, id: "700000000000000001" }, webhook_id: "700000000000000001" };
    expect(ignored(delivered(client, ids.ownThread, "hi", webhook))).toBe("bot");
  });
});

describe("the words of a message", () => {
  it("lose the mention that calls the bot, at the beginning or the end", () => {
    const said = (content: string) => text(delivered(client, ids.general, content, calls));
    expect(said(`${mention} what is up?`)).toBe("what is up?");
    expect(said(`<@!${ids.bot}>, what is up?`)).toBe("what is up?");
    expect(said(`what is up, ${mention}`)).toBe("what is up,");
    expect(said(`${mention}`)).toBe("");
    expect(said(` ${mention} ${mention}\n`)).toBe("");
  });

  it("keep the bot's name where it is part of the sentence", () => {
    const message = delivered(client, ids.general, `is ${mention} here?`, calls);
    expect(text(message)).toBe("is @Keeper here?");
  });

  it("have names for people, roles, channels, commands and emoji, and keep what nobody knows", () => {
    const content = `<@${ids.bob}> of <@&${ids.moderators}> wrote in <#${ids.general}> </reset:1> <:wave:123> <@1> <#2>`;
    const message = delivered(client, ids.ownThread, content, {
      mentions: [people.bob],
      mention_roles: [ids.moderators],
    });
    expect(text(message)).toBe("@Bob of @moderators wrote in #general /reset :wave: <@1> <#2>");
  });

  it("come with the name, kind and size of what is attached", () => {
    const file = {
      id: "1",
      filename: "message.txt",
      size: 12,
      url: "https://cdn.example/1",
      proxy_url: "https://cdn.example/1",
    };
    const image = { ...file, id: "2", filename: "a.png", content_type: "image/png", size: 34 };
    const message = delivered(client, ids.ownThread, "", { attachments: [file, image] });
    expect(route(message)).toMatchObject({
      inbound: {
        text: "",
        attachments: [
          { name: "message.txt", mediaType: undefined, bytes: 12 },
          { name: "a.png", mediaType: "image/png", bytes: 34 },
        ],
      },
    });
  });

  it("stand for what is no words: a sticker, a poll, a forwarded message", () => {
    const sticker = { sticker_items: [{ id: "1", name: "Wave", format_type: 1 }] };
    expect(text(delivered(client, ids.ownThread, "", sticker))).toBe("[sticker: Wave]");
    expect(text(delivered(client, ids.ownThread, "look", sticker))).toBe("look\n[sticker: Wave]");
    const answers = ["Pizza", "Soup"].map((name, index) => ({ answer_id: index + 1, poll_media: { text: name } }));
    const poll = { question: { text: "Lunch?" }, answers, expiry: null, allow_multiselect: false, layout_type: 1 };
    expect(text(delivered(client, ids.ownThread, "", { poll }))).toBe("[poll: Lunch? | Pizza | Soup]");
    const forward = {
      message_reference: { type: 1, message_id: "600000000000000009", channel_id: "1", guild_id: "2" },
      message_snapshots: [
        {
          message: {
            ...botSaid(),
            content: "the mill\nis <:sad:1> broken",
            attachments: [{ id: "1", filename: "mill.png", size: 1, url: "x", proxy_url: "x" }],
          },
        },
      ],
    };
    expect(text(delivered(client, ids.ownThread, "", forward))).toBe(
      "[forwarded message]\nthe mill\nis :sad: broken\n[file: mill.png]",
    );
  });

  it("are signed with the name that is used in this server", () => {
    const message = delivered(client, ids.ownThread, "hi", {
      member: { nick: "Countess", roles: [], joined_at: null },
    });
    expect(route(message)).toMatchObject({ inbound: { author: { id: ids.ada, name: "Countess" } } });
  });
});

function botSaid(): object {
  return {
    id: "600000000000000000",
    channel_id: ids.general,
    type: MessageType.Default,
    author: people.bot,
    content: "an answer",
    timestamp: "2026-01-01T00:00:00Z",
    mentions: [],
    mention_roles: [],
    attachments: [],
    embeds: [],
  };
}
