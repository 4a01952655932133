/** As much of pg (https://node-postgres.com) as `postgres.ts` uses; the package comes without types. */
declare module "pg" {
  import type { EventEmitter } from "node:events";

  interface Queries {
    query(sql: string, values?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
  }

  interface PoolClient extends Queries {
    release(error?: Error | boolean): void;
  }

  interface PoolConfig {
    readonly connectionString?: string;
    readonly max?: number;
    readonly idleTimeoutMillis?: number;
    readonly connectionTimeoutMillis?: number;
    readonly query_timeout?: number;
    readonly keepAlive?: boolean;
  }

  class Pool extends EventEmitter implements Queries {
    constructor(config: PoolConfig);
    query: Queries["query"];
    connect(): Promise<PoolClient>;
    end(): Promise<void>;
  }

  export type { PoolClient, PoolConfig };
  export { Pool };
}
