import type { LanguageModelV3 } from "@ai-sdk/provider";
import { wordsAskedFor } from "../../src/agent/summarise.ts";
import { scriptedModel } from "./scripted-model.ts";

export interface GrowingModel {
  readonly model: LanguageModelV3;
  /** The prompts of turns, and the requests for summaries, oldest first, as readable text. */
  readonly turns: readonly string[];
  readonly requests: readonly string[];
}

/** A model for conversations that grow: answers "answer n", and requests for summaries with what `summary` says. */
export function growingModel(summary: (request: number) => string): GrowingModel {
  const turns: string[] = [];
  const requests: string[] = [];
  const model: LanguageModelV3 = {
    ...scriptedModel([]),
    async doStream(options) {
      const [system] = options.prompt;
      const isRequest = system?.role === "system" && wordsAskedFor(system.content) !== undefined;
      const one = scriptedModel([[isRequest ? summary(requests.length) : `answer ${turns.length}`]]);
      const result = await one.doStream(options);
      (isRequest ? requests : turns).push(one.promptOf(0));
      return result;
    },
  };
  return { model, turns, requests };
}
