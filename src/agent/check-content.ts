import { type UserContent, userModelMessageSchema } from "ai";
import { ThreadkeeperError } from "../errors.ts";

const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const dataUrlHead = /^data:[^;/]+\/[^;/]+(?:;.*)?;base64$/i;

/**
 * Refuses what the AI SDK would refuse at every model call from then on, and so take the session with it.
 * @throws ThreadkeeperError `INPUT_INVALID` unless something is said, in parts that a model can be given
 */
export function checkContent(content: UserContent): void {
  if (!userModelMessageSchema.safeParse({ role: "user", content }).success) {
    throw invalid("the input is no text, and no list of the AI SDK's parts for users (text, image, file)");
  }
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  if (parts.every((part) => part.type === "text" && part.text.trim() === "")) throw invalid("the input is empty");
  for (const [index, part] of parts.entries()) {
    if (part.type === "text") continue;
    const data = part.type === "image" ? part.image : part.data;
    if (!isFile(String(data))) throw invalid(`the file in part ${index} of the input is no base64 text and no address`);
  }
}

/** A link is one too: it is shown as something that is not shown. */
function isFile(data: string): boolean {
  if (!/^data:/i.test(data)) return base64.test(data) || URL.canParse(data);
  const comma = data.indexOf(",");
  return dataUrlHead.test(data.slice(0, comma)) && base64.test(data.slice(comma + 1));
}

function invalid(why: string): ThreadkeeperError {
  return new ThreadkeeperError("INPUT_INVALID", why);
}
