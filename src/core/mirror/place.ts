import { join, resolve } from 'node:path';
import { platform as thisPlatform } from 'node:process';
import { type DatabaseAddress, readAddress } from '../../postgres/address.ts';
import { PostgresUnusable } from '../../postgres/unusable.ts';
import type { Environment } from '../environment.ts';
import { usageFailure } from '../failure.ts';
import { applicationDataFolder } from '../profiles/config.ts';

/** Where a mirror is: in a file of SQLite, or in a schema of a PostgreSQL database. */
export type MirrorPlace = FilePlace | DatabasePlace;

/** A file. */
export interface FilePlace {
  readonly kind: 'file';
  /** Its absolute path. */
  readonly name: string;
}

/** A schema of a database. */
export interface DatabasePlace {
  readonly kind: 'postgres';
  /** `postgres://user@host:port/database`, for messages and summaries: never a password. */
  readonly name: string;
  readonly address: DatabaseAddress;
  /** The one that the address names; where it names none, the first of its search path. */
  readonly schema: string | undefined;
}

/** The mirror's file for a profile, or without one (D52). */
export function defaultMirror(
  profile: string | undefined,
  env: Environment,
  platform: NodeJS.Platform = thisPlatform,
): string {
  return join(mirrorFolder(env, platform), `${profile ?? 'default'}.db`);
}

/** Where mirrors are kept that have no place of their own. */
function mirrorFolder(env: Environment, platform: NodeJS.Platform): string {
  if (env.MOLAR_CONFIG_DIR) return resolve(env.MOLAR_CONFIG_DIR, 'mirror');
  return join(applicationDataFolder(env, platform), 'mirror');
}

/**
 * The place that an address of PostgreSQL names, of which `schema` is molar's own parameter. Throws a Failure (exit 2) with
 * `source`, the flag at fault.
 */
export function databasePlace(text: string, source: string, env: Environment): DatabasePlace {
  try {
    const url = new URL(text);
    const schema = url.searchParams.get('schema') ?? undefined;
    url.searchParams.delete('schema');
    const address = readAddress(url.href, env);
    const user = url.username === '' ? '' : `${url.username}@`;
    const within = schema === undefined ? '' : `?schema=${encodeURIComponent(schema)}`;
    return { kind: 'postgres', name: `postgres://${user}${address.name}${within}`, address, schema };
  } catch (cause) {
    // The address itself is not repeated: it may hold a password.
    const known = cause instanceof PostgresUnusable ? cause : undefined;
    throw usageFailure(known?.message ?? 'The address of the database cannot be read.', {
      source,
      hint: known?.next ?? 'Give postgres://USER@HOST:PORT/DATABASE.',
    });
  }
}

/** Where the receipt of a comparison goes that names no file (D52). */
export function defaultReceipt(place: MirrorPlace, env: Environment, platform: NodeJS.Platform = thisPlatform): string {
  if (place.kind === 'file') return `${place.name}.verify.json`;
  // A database has no place beside it.
  const name = place.name.replace(/^\w+:\/\//, '').replace(/[^A-Za-z0-9.]+/g, '-');
  return join(mirrorFolder(env, platform), `${name}.verify.json`);
}
