import type { Notice, TurnEvent } from "../conversation/turn-event.ts";
import type { ErrorCode, ThreadkeeperError } from "../errors.ts";

/*
 * Every sentence that the bot itself says to a member: what happened, and what to do. Nothing here shows a raw error,
 * a path or a key; who runs the bot finds those in its log, by the reference.
 */

type FinishReason = Extract<TurnEvent, { readonly type: "turn-end" }>["finishReason"];

type SummarisedAs = Extract<TurnEvent, { readonly type: "summarised" }>["older"];

const ownersMatter = "Something is wrong with how I am set up. Whoever runs me can see in the log what it is.";
const memoryFailed = "I can't get at my memory right now, so I did not answer.";

/** A code without a sentence does not compile. */
const errorSentences: Record<ErrorCode, string | ((error: ThreadkeeperError) => string)> = {
  CONFIG_INVALID: ownersMatter,
  SESSION_ID_INVALID: ownersMatter,
  SESSION_NOT_FOUND: "I have no memory of this conversation. Write again and we start anew.",
  SESSION_EXISTS: "There is a conversation already where I was to begin a new one, so I left it alone.",
  SESSION_STALE: "This conversation changed while I was working on it. Please try again.",
  NOT_PLAIN_JSON: "There is something in this that I can't remember as it is, so I left it.",
  QUEUE_FULL: (error) => queueFull(error.fields["limit"]),
  INPUT_INVALID: "I could not read that message. Please put it in other words.",
  RUN_LOST: "This conversation was reset or taken over while I was working on it, so I left it there.",
  RUN_STOPPED: "-# Stopped.",
  RUN_DEADLINE:
    "That took longer than I may work on one answer, so I stopped. Please try again, or ask for less at once.",
  RUN_SHUTDOWN: "I am being restarted and could not finish this. Please ask again in a minute.",
  STEP_LIMIT: "That took more steps than I may take for one answer. Please ask for less at once.",
  STORE_SETTING_INVALID: ownersMatter,
  STORE_UNAVAILABLE: `${memoryFailed} Please try again in a while.`,
  STORE_BUSY: `${memoryFailed} It is in use; please try again in a moment.`,
  STORE_CORRUPT:
    "What I remember of this conversation can't be read. Nothing was changed; whoever runs me has to look. `/reset` gives it up and starts anew.",
  STORE_FULL: `${memoryFailed} There is no room left in it; whoever runs me has to make some.`,
  STORE_FORMAT_NEWER:
    "What I remember of this conversation was written by a newer version of me. Whoever runs me has to update me.",
  STORE_KEY_MISSING: ownersMatter,
  STORE_KEY_WRONG: ownersMatter,
  STORE_NOT_ENCRYPTED: ownersMatter,
  STORE_CLOSED: "I am being restarted. Please ask again in a minute.",
  MODEL_SETTING_INVALID: ownersMatter,
  MODEL_KEY_MISSING: "I have no key for the language model that I answer with. Whoever runs me has to set one.",
  MODEL_KEY_REFUSED: "The language model that I answer with refused my key. Whoever runs me has to check it.",
  MODEL_NOT_FOUND: "The language model that I answer with does not exist there. Whoever runs me has to check its name.",
  MODEL_UNREACHABLE: "I can't reach the language model that I answer with. Please try again in a while.",
  MODEL_RATE_LIMITED:
    "The language model that I answer with has too much to do right now. Please try again in a minute.",
  MODEL_INPUT_TOO_LONG:
    "This conversation has become too long for the language model that I answer with. `/reset` starts anew.",
  MODEL_EMPTY_ANSWER: "The language model gave no answer. Please try again, or put it in other words.",
  MODEL_FAILED: "The language model that I answer with failed. Please try again in a while.",
  TOOL_INVALID: ownersMatter,
  DISCORD_TOKEN_REFUSED: ownersMatter,
  DISCORD_INTENT_REFUSED: ownersMatter,
  DISCORD_PERMISSION_MISSING: permissionMissing,
  DISCORD_TOO_MANY_THREADS: ({ fields }) =>
    `This server has as many active threads as Discord allows, so I could not open one. ${fields["answeredHere"] ? "I answer here; archive" : "Archive"} some threads to get new ones.`,
  DISCORD_UNREACHABLE: "Discord did not let me through. Please try again in a minute.",
  DISCORD_FAILED: "Discord refused what I tried to do here. Please try again in a minute.",
  UNEXPECTED: "Something went wrong on my side. Please try again.",
};

/** These say all there is to say; for the others there is more in the log. */
const needNoReference: ReadonlySet<ErrorCode> = new Set([
  "QUEUE_FULL",
  "RUN_STOPPED",
  "RUN_SHUTDOWN",
  "STORE_CLOSED",
  "DISCORD_PERMISSION_MISSING",
  "DISCORD_TOO_MANY_THREADS",
]);

/** What a member is told of an error. `reference` is what stands beside it in the log. */
export function errorWording(error: ThreadkeeperError, reference?: string): string {
  // A turn that another version of the program left behind may have ended with a code that this one does not know.
  const sentence = errorSentences[error.code] ?? errorSentences.UNEXPECTED;
  const text = typeof sentence === "string" ? sentence : sentence(error);
  return reference === undefined || needNoReference.has(error.code) ? text : `${text} (Reference: \`${reference}\`)`;
}

const threadsOwner = "Only who opened this thread, or somebody who may manage threads, can have me";
const notAllowedSentences: Record<Extract<Notice, { reason: "not-allowed" }>["what"], string> = {
  reset: `${threadsOwner} forget it.`,
  undo: `${threadsOwner} take an answer back.`,
  fork: `${threadsOwner} begin another one with its memory.`,
  stop: "Only who asked, or somebody who may manage threads, can stop this answer.",
};

export function noticeWording(notice: Notice): string {
  switch (notice.reason) {
    case "forgotten":
      return "Forgotten. What was said here before is gone from my memory; the next message starts anew.";
    case "nothing-to-forget":
      return "There is nothing to forget: nothing was said to me here yet.";
    case "stopped":
      return "Stopped. What I had said so far stays.";
    case "interrupted":
      return "I gave up an answer that I had begun elsewhere and lost sight of. If anything was written here since then, I answer it now.";
    case "nothing-to-stop":
      return "There is nothing to stop: I am not working on an answer here.";
    case "undone":
      return "Undone. What was asked last is gone from my memory, with my answer to it; the question itself stays for you to read.";
    case "nothing-to-undo":
      return "There is nothing to undo: I remember no turn here.";
    case "forked":
      return "Done. This thread begins with what I remember of the one here:";
    case "nothing-to-fork":
      return "There is nothing to carry over: nothing was said to me here yet.";
    case "not-allowed":
      return notAllowedSentences[notice.what];
    case "nothing-said":
      return "You called me but said nothing. What can I do for you?";
    case "queue-full":
      return queueFull(notice.limit);
    case "failed":
      return errorWording(notice.error, notice.reference);
  }
}

/** What somebody is told who wants a place forgotten that is no thread, and may not. */
export const resetElsewhereWording =
  "Only somebody who may manage threads can have me forget what was said in this place. Use it in a thread that you opened with me, and I forget that one.";

/** What somebody is told who wants an answer undone in a place that is no thread, and may not. */
export const undoElsewhereWording =
  "Only somebody who may manage threads can have me take an answer back in this place. Use it in a thread that you opened with me.";

/** What stands where an answer was that was taken back and could not be removed. */
export const takenBackWording = "-# Taken back.";

/** Said of an undone turn whose answer still stands. */
export const answerStaysWording = "My answer could not be removed from here.";

/** What is carried must be visible to everybody who sees the new place. */
export const forkElsewhereWording =
  "I carry my memory over in public threads only: everybody who sees the new thread can read what it begins with. Use it in one of those.";

/** The beginning of a thread that a fork opened: who had it opened, and the thread that it remembers, as mentions. */
export function forkedWording({ by, from }: { readonly by: string; readonly from: string }): string {
  return `${by} had me open this thread. It begins with what I remember of ${from}; from here on, each goes its own way.`;
}

/** What stands in a thread that was opened for a fork which then failed. */
export const forkFailedWording = "I could not carry my memory over into this thread: it begins with nothing.";

/** What is added to an answer that ended otherwise than by itself. */
export function finishWording(reason: FinishReason): string | undefined {
  switch (reason) {
    case "length":
      return "-# The answer got as long as it may be and ends here. Say “go on” for the rest.";
    case "content-filter":
      return "-# The language model's content filter ended this answer.";
    case "step-limit":
      return "-# This took as many steps as I may take for one answer. Say “go on” and I do.";
    case "stop":
    case "other":
      return undefined;
  }
}

/** What is said once, when a conversation no longer fits into what the model is shown. */
export function summarisedWording(older: SummarisedAs): string {
  return older === "summary"
    ? "-# This conversation has grown long. From now on I know its older part from a summary."
    : "-# This conversation has grown long, and I could not summarise its older part. From now on I know only what was said lately.";
}

export interface HelpFacts {
  /** The bot's mention, as the platform writes it. */
  readonly mention: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  /** The model's name, if it is to be told. */
  readonly modelName: string | undefined;
}

/** What the bot can do; may be longer than one message. */
export function helpWording({ mention, commands, modelName }: HelpFacts): string {
  const list = commands.map(({ name, description }) => `- \`/${name}\`: ${description}`);
  return [
    `Mention me (${mention}) in a channel and I open a thread on your message. In that thread every message is for me, without a mention, and I remember all of it, also after a restart.`,
    "In a thread that somebody else opened I answer mentions and replies to me. In a direct message I answer everything.",
    "While I am at work, write on: what comes in the meantime is answered next.",
    ["**Commands**", ...list].join("\n"),
    "`/reset`, `/undo` and `/fork` are for who opened the thread, `/stop` for who asked; all for those who may manage threads.",
    ...(modelName === undefined ? [] : [`The answers are written by ${modelName}. They can be wrong.`]),
  ].join("\n\n");
}

/** Shown while a tool is at work. */
export function toolWording(name: string): string {
  return `-# Using \`${name}\` …`;
}

function queueFull(limit: unknown): string {
  const many = typeof limit === "number" ? `${limit} messages` : "As many messages as I can keep";
  return `${many} are waiting for an answer here already, so I did not take this one. Please send it again later.`;
}

function permissionMissing({ fields }: ThreadkeeperError): string {
  const permissions = fields["permissions"];
  const list = Array.isArray(permissions) && permissions.length > 0 ? permissions : ["one that Discord does not name"];
  const [last, ...others] = list.map((name) => `**${name}**`).reverse();
  const named = others.length === 0 ? last : `${others.reverse().join(", ")} and ${last}`;
  const noun = list.length === 1 ? "a permission" : "permissions";
  return `I lack ${noun} that I need to answer here: ${named}. Somebody who may manage this server can give it to me.`;
}
