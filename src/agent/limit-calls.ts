import type { LanguageModelV3, LanguageModelV3StreamPart, LanguageModelV3StreamResult } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import pLimit from "p-limit";

/**
 * A model that has at most `limit` calls under way, first come, first served. A call is under way until its stream
 * has ended, failed or been cancelled, or its signal is aborted, whether or not the provider heeds that; a call that
 * is aborted while it waits is never made. Between an SDK's retries no place is held.
 */
export function limitCalls(model: LanguageModelV3, limit: number): LanguageModelV3 {
  const queue = pLimit(limit);
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v3",
      wrapGenerate: ({ doGenerate, params }) =>
        inTurn(queue, params.abortSignal, async (release) => {
          try {
            return await doGenerate();
          } finally {
            release();
          }
        }),
      wrapStream: ({ doStream, params }) =>
        inTurn(queue, params.abortSignal, async (release) => {
          try {
            return releasingAtEnd(await doStream(), release);
          } catch (error) {
            release();
            throw error;
          }
        }),
    },
  });
}

/** Starts `work` when it has a place; the place is free again after `release` or when the signal is aborted. */
function inTurn<T>(
  queue: ReturnType<typeof pLimit>,
  signal: AbortSignal | undefined,
  work: (release: () => void) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let release = () => {};
    const released = new Promise<void>((settle) => {
      release = settle;
    });
    const abort = () => {
      reject(signal?.reason);
      release();
    };
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    queue(async () => {
      if (!signal?.aborted) {
        work(release).then(resolve, reject);
        await released;
      }
      signal?.removeEventListener("abort", abort);
    });
  });
}

function releasingAtEnd(result: LanguageModelV3StreamResult, release: () => void): LanguageModelV3StreamResult {
  const reader = result.stream.getReader();
  const stream = new ReadableStream<LanguageModelV3StreamPart>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      release();
    },
    cancel(reason) {
      release();
      return reader.cancel(reason);
    },
  });
  return { ...result, stream };
}
