// The driver of SQLite for this Node: src/sqlite/open.ts tells why there are two.
import { createRequire } from 'node:module';

const name = Number(process.versions.napi) < 10 ? 'better-sqlite3' : 'better-sqlite3-node-api';

/** The class `Database` of better-sqlite3. */
export const Database = createRequire(import.meta.url)(name);
