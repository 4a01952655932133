import type { Actor, ChannelReference, Message, Sandbox } from "../../../src/sandbox/sandbox.ts";

/** Somebody mentions the bot in #general; resolves to the thread that it opens, when its first answer is there. */
export async function opensThread(sandbox: Sandbox, who: Actor, text: string): Promise<{ id: string }> {
  const mention = who.mentions(sandbox.bot, text);
  await answerTo(sandbox, mention.id, 0);
  return { id: mention.id };
}

/** Says something in a thread and waits for the bot's next message there. */
export async function asks(sandbox: Sandbox, who: Actor, thread: ChannelReference, text: string): Promise<Message> {
  const before = botMessages(sandbox, thread).length;
  who.says(thread, text);
  return answerTo(sandbox, thread, before);
}

/** Waits until the bot has said more than `before` messages in a channel, and gives the newest. */
export function answerTo(sandbox: Sandbox, channel: ChannelReference, before: number): Promise<Message> {
  return sandbox.until(() =>
    sandbox.findChannel(channel) ? botMessages(sandbox, channel).slice(before).at(-1) : undefined,
  );
}

export function botMessages(sandbox: Sandbox, channel: ChannelReference): Message[] {
  return sandbox.messages(channel).filter(({ authorId }) => authorId === sandbox.bot.id);
}

/**
 * Makes so much be said in a channel, by somebody who is not answered, that discord.js knows no earlier message there:
 * it drops a repeated one that it still knows by itself.
 */
export function forgottenByDiscordJs(sandbox: Sandbox, channel: ChannelReference): void {
  const passerBy = sandbox.member("Passer-by", { bot: true });
  for (let number = 0; number < 20; number += 1) passerBy.says(channel, `beep ${number}`);
}

export function botTexts(sandbox: Sandbox, channel: ChannelReference): string[] {
  return botMessages(sandbox, channel).map(({ content }) => content);
}

/** A promise and how to keep it: for models that wait until a test lets them go on. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
