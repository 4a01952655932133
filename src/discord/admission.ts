import type { Message } from "discord.js";
import { saysNothing } from "../conversation/inbound.ts";
import type { Logger } from "../log.ts";
import type { Complaints } from "./complaints.ts";
import { fromMessage } from "./from-discord.ts";
import { isLockedToBot, missingPermissions } from "./permissions.ts";
import type { Addressed } from "./threads.ts";

export interface AdmissionPlan {
  readonly complaints: Complaints;
  /** Ids of bots that are listened to like people. */
  readonly allowedBots: ReadonlySet<string>;
  readonly log: Logger;
}

/** Which messages become turns: those that are said to the bot and that it can answer where they stand. */
export class Admission {
  readonly #plan: AdmissionPlan;

  constructor(plan: AdmissionPlan) {
    this.#plan = plan;
  }

  /**
   * The session that would answer a message of earlier; `undefined`: it wants no answer any more. One that says nothing
   * was told so when it was heard, and is not stored: only a call without words on which no thread was opened was surely
   * not heard.
   */
  sessionAsked(message: Message): string | undefined {
    const routed = fromMessage(message, this.#plan.allowedBots);
    if ("ignored" in routed) return undefined;
    if (isLockedToBot(message)) return undefined;
    const { inbound, ground } = routed;
    const wasTold = saysNothing(inbound) && (ground !== "new-thread" || message.hasThread);
    return wasTold ? undefined : inbound.sessionId;
  }

  /** `undefined`: it is none; why is logged, or said where people can do something about it. */
  admit(message: Message): Addressed | undefined {
    const { allowedBots, complaints, log } = this.#plan;
    const routed = fromMessage(message, allowedBots);
    if ("ignored" in routed) {
      log.trace({ message: message.id, channel: message.channelId, why: routed.ignored }, "message ignored");
      return undefined;
    }
    // An answer that can't be delivered is not asked for.
    if (isLockedToBot(message)) {
      log.info({ channel: message.channelId }, "a message in a locked thread is not answered");
      return undefined;
    }
    const missing = missingPermissions(message, routed.ground);
    if (missing.length === 0) return { message, ...routed };
    complaints.permissionMissing(message, missing);
    return undefined;
  }
}
