import type { Command } from "./command.ts";
import { help } from "./help.ts";
import { reset } from "./reset.ts";
import { stop } from "./stop.ts";

/** Every command there is: one file each. */
export const commands: readonly Command[] = [help, reset, stop];
