import { createHash } from "node:crypto";

/** A Lua script, which Redis keeps under its digest and runs as a whole, with nobody in between. */
export interface RedisScript {
  readonly text: string;
  readonly digest: string;
}

/**
 * A value that only Keyv and we write is its own version. Of what others wrote a digest is: it may be no text, or no
 * string at all, which GET refuses and MGET gives as absent.
 */
const versionFunction = `
local function version(key)
  local value = redis.pcall('GET', key)
  if not value then return false end
  if type(value) == 'table' then return 'type:' .. redis.call('TYPE', key).ok end
  if string.sub(value, 1, 9) == '{"value":' then return value end
  return 'sha1:' .. redis.sha1hex(value)
end
`;

/** KEYS: what is read. Gives a version each, which is the stored text but for what others wrote. */
export const readScript = script(`${versionFunction}
local versions = {}
for index, key in ipairs(KEYS) do versions[index] = version(key) end
return versions`);

/**
 * KEYS: the list of all keys, the guard, the keys to put, those to remove. ARGV: what stands before a key, the guard's
 * version (with 1 in front; or 0: it must be absent), how many are put, their values. Gives 1 if it was written.
 *
 * A script that fails halfway is not undone: what can fail (no memory left, a list of keys that is none) fails at the
 * first command that writes.
 */
export const commitScript = script(`${versionFunction}
local now = version(KEYS[2])
if (now and '1' .. now or '0') ~= ARGV[2] then return 0 end
local start = string.len(ARGV[1]) + 1
local last = 2 + tonumber(ARGV[3])
for index = 3, last do redis.call('ZADD', KEYS[1], 0, string.sub(KEYS[index], start)) end
for index = last + 1, #KEYS do redis.call('ZREM', KEYS[1], string.sub(KEYS[index], start)) end
for index = 3, last do redis.call('SET', KEYS[index], ARGV[index + 1]) end
for index = last + 1, #KEYS do redis.call('DEL', KEYS[index]) end
return 1`);

/** KEYS: the list of all keys, and some that may be missing in it. ARGV: what stands before a key. */
export const listScript = script(`
local start = string.len(ARGV[1]) + 1
for index = 2, #KEYS do
  if redis.call('EXISTS', KEYS[index]) == 1 then redis.call('ZADD', KEYS[1], 0, string.sub(KEYS[index], start)) end
end`);

function script(text: string): RedisScript {
  return { text, digest: createHash("sha1").update(text).digest("hex") };
}
