import type { IncomingHttpHeaders } from "node:http";

const changing = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Why a request is turned away before anything looks at it. The `Host` must be this machine's, so that no web page
 * reaches us under a name of its own that points here (DNS rebinding); a page of another origin changes nothing.
 */
export function refusal(
  {
    method,
    headers,
    isUpgrade,
  }: { method: string; headers: Pick<IncomingHttpHeaders, "host" | "origin">; isUpgrade: boolean },
  port: number,
): string | undefined {
  const { host = "", origin } = headers;
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return "This Host is not served here.";
  const isOpenToPages = !changing.has(method) && !isUpgrade;
  if (origin !== undefined && !isOpenToPages && origin !== `http://${host}`)
    return "This Origin may change nothing here.";
  return undefined;
}
