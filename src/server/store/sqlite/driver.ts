import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';

export type Connection = Database.Database;
export type Constructor = new (file: string, options?: Database.Options) => Connection;

/**
 * The package that brings SQLite to a version of Node, such as `v24.21.0`. better-sqlite3 has two lines, and no Node can
 * do without the right one: 13 is made with Node-API, which crashes Node before 22.14; 12 is made with an older
 * interface, which lets Node from 24.19 on crash when a statement is forgotten. 13 needs no compiler.
 */
export function sqlitePackage(version: string): 'better-sqlite3' | 'better-sqlite3-node-api' {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 14) ? 'better-sqlite3-node-api' : 'better-sqlite3';
}

/** The native driver of this Node. Throws what Node says when the package is missing. */
export function loadDriver(): Constructor {
  return createRequire(import.meta.url)(sqlitePackage(process.version)) as Constructor;
}

/** Whether a failure means that the driver cannot be used: it loads its native part with the first database. */
export function isDriverFault(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const { code } = cause as NodeJS.ErrnoException;
  return code === 'ERR_DLOPEN_FAILED' || code === 'MODULE_NOT_FOUND' || /bindings file/.test(cause.message);
}
