import type { Command } from "./command.ts";
import { fork } from "./fork.ts";
import { help } from "./help.ts";
import { reset } from "./reset.ts";
import { stop } from "./stop.ts";
import { undo } from "./undo.ts";

/** Every command there is: one file each. */
export const commands: readonly Command[] = [fork, help, reset, stop, undo];
