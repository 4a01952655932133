/** What in a server's settings makes it lose what it confirmed: one sentence each, with what to do. */
type Warnings = readonly string[];

type Settings = Readonly<Record<string, unknown>> | undefined;

/** https://www.postgresql.org/docs/current/runtime-config-wal.html */
export function weakPostgresSettings(settings: Settings = {}): Warnings {
  const { fsync, synchronous_commit, full_page_writes, persistence } = settings;
  return [
    fsync === "off" && "PostgreSQL runs with fsync=off: a crash of its machine can destroy all sessions; set fsync=on",
    synchronous_commit === "off" &&
      "PostgreSQL runs with synchronous_commit=off: a crash loses the last turns; set synchronous_commit=on for this user",
    full_page_writes === "off" &&
      "PostgreSQL runs with full_page_writes=off: a crash of its machine can damage sessions; set full_page_writes=on",
    persistence === "u" &&
      "PostgreSQL's table keyv is unlogged: a crash empties it; run ALTER TABLE public.keyv SET LOGGED",
  ].filter((warning) => warning !== false);
}

/** https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/ */
export function weakRedisSettings(settings: Settings): Warnings {
  if (!settings) {
    return [
      "Redis does not tell its settings: make sure of appendonly yes, appendfsync always, maxmemory-policy noeviction",
    ];
  }
  const { appendonly, appendfsync, "maxmemory-policy": policy } = settings;
  return [
    appendonly === "no" &&
      "Redis runs with appendonly no: a crash loses sessions; set appendonly yes and appendfsync always",
    appendonly !== "no" &&
      appendfsync !== undefined &&
      appendfsync !== "always" &&
      `Redis runs with appendfsync ${appendfsync}: a crash loses the last turns; set appendfsync always`,
    policy !== undefined &&
      policy !== "noeviction" &&
      `Redis runs with maxmemory-policy ${policy}: it may throw sessions away; set maxmemory-policy noeviction`,
  ].filter((warning) => warning !== false);
}
