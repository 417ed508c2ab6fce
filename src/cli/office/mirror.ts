import type { Config } from '@oclif/core/config';
import { EXIT } from '../../catalog/failures.ts';
import { Failure, isInterruption, localFailure, usageFailure } from '../../core/failure.ts';
import { readMirror } from '../../core/mirror/access.ts';
import { noMirror } from '../../core/mirror/sql/reading.ts';
import { QueryFault } from '../../core/query/fault.ts';
import type { QueryValue } from '../../core/query/result.ts';
import { openReadOnly } from '../../core/query/sqliteopen.ts';
import { SqliteQuery } from '../../core/query/sqlitequery.ts';
import type { Context } from '../context.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { mirrorPlace } from '../mirror/place.ts';
import { organizationOf } from '../names/profilenames.ts';
import { FreshMirror, freshLine } from '../query/freshmirror.ts';
import { queryFailure } from '../query/queryfailure.ts';

/** A mirror to read. */
export interface MirrorReader {
  readonly hasHistory: boolean;
  /** The rows of a statement, with the names of its columns. Throws a Failure. */
  readonly rows: (sql: string) => { readonly names: readonly string[]; readonly values: readonly QueryValue[][] };
}

/** Where the mirror of a command line is, and what brings it up to date. */
export interface MirrorPlace {
  readonly flags: FlagValues;
  readonly context: Context;
  readonly config: Config;
  readonly note: (text: string) => Promise<void>;
}

type Place = ReturnType<typeof mirrorPlace>;

/** The flag that no report has: the place is always that of the profile. */
const PLACE = 'mirror';

/** Whether the mirror of the profile keeps every version of a record; false where there is none. */
export async function keepsHistory(flags: FlagValues, context: Context): Promise<boolean> {
  return (await readMirror(mirrorPlace(flags, context, PLACE)))?.facts.history ?? false;
}

/**
 * The mirror of the profile: made where there is none, synced first when these resources are older than `--fresh`, as it
 * is with `--offline`. Throws a Failure: exit 4 where `--offline` finds none, and what a sync throws.
 */
export async function currentMirror(resources: readonly string[], place: MirrorPlace): Promise<MirrorReader> {
  const { flags, context } = place;
  const mirror = mirrorPlace(flags, context, PLACE);
  if ((await readMirror(mirror))?.facts.deidentified) throw deidentified(mirror.name);
  if (!isOn(flags, 'offline')) await refreshed(mirror, resources, place);
  const contents = await readMirror(mirror);
  if (contents === undefined) throw noMirror(mirror.name);
  const { organization } = contents.facts;
  const asked = organizationOf(flags, context.env) ?? organization;
  if (asked !== organization)
    throw usageFailure(`${mirror.name} is a mirror of the organization ${organization}, not of ${asked}.`, {
      source: '--organization',
    });
  return { hasHistory: contents.facts.history, rows: (sql) => rowsOf(mirror.name, sql) };
}

/** Reports would list nothing, which looks like an answer. */
function deidentified(file: string): Failure {
  return localFailure('mirror.unusable', `The mirror ${file} is de-identified: it has no names, phones or days.`, {
    hint: 'Move it to another place; the next report makes a copy that has them.',
  });
}

/** The age of a mirror at which it is synced first, where `--fresh` names none. */
const FRESH = '15m';

/** How often to look whether another command has done with the mirror, and after how many milliseconds each time. */
const LOOKS = 300;
const PAUSE = 250;

async function refreshed(mirror: Place, resources: readonly string[], place: MirrorPlace): Promise<void> {
  const { flags, context, config, note } = place;
  const isFirst = (await readMirror(mirror)) === undefined;
  const startedAt = context.clock.now();
  if (isFirst) await note(`The first report makes a copy of the practice, which takes a while: ${mirror.name}`);
  const fresh = textFlag(flags, 'fresh') ?? FRESH;
  // The first run makes all of it; later ones bring up to date what is read.
  const line = freshLine({ ...flags, fresh }, mirror, isFirst ? [] : resources);
  for (let look = 0; ; look++) {
    try {
      return await FreshMirror.start(line, config);
    } catch (cause) {
      if (isInterruption(cause)) throw cause;
      if (look < LOOKS && isInUse(cause)) {
        await context.clock.sleep(PAUSE, context.signal);
        // Reports that are due at the same time share one sync, and one that is followed is synced each minute.
        if (await isWhole(resources, mirror, startedAt)) return;
      } else if (isFirst && (await isWhole(resources, mirror))) return;
      else throw reasonOf(cause);
    }
  }
}

/** What kept one of the resources from being up to date: there is no part of a report, so it does not end as a partial run. */
function reasonOf(cause: unknown): unknown {
  if (!(cause instanceof Failure) || cause.exitCode !== EXIT.partial) return cause;
  if (cause.cause instanceof Failure) return cause.cause;
  return localFailure('query.incomplete', cause.message, {
    hint: 'This report needs it; see molar mirror status, and what the token may read.',
    cause,
  });
}

/** Whether another command has the lock of the mirror. */
function isInUse(cause: unknown): boolean {
  return cause instanceof Failure && cause.items.some(({ source }) => source?.endsWith('.lock') === true);
}

/** Whether what a report reads is there, whatever else could not be read, as of a time or later. */
async function isWhole(resources: readonly string[], mirror: Place, since = 0): Promise<boolean> {
  const states = [...((await readMirror(mirror))?.resources ?? [])].filter(([{ resource }]) =>
    resources.includes(resource.name),
  );
  const isThere = states.every(([, { complete, asOf }]) => complete && Date.parse(asOf ?? '') >= since);
  return isThere && states.length === resources.length;
}

/** Rows of one step of a statement. */
const ROWS = 1000;

function rowsOf(file: string, sql: string): ReturnType<MirrorReader['rows']> {
  try {
    const connection = openReadOnly(file);
    try {
      const query = new SqliteQuery(connection, { sql, parameters: {}, partial: false });
      const values: QueryValue[][] = [];
      for (let step = query.next(ROWS); step.length > 0; step = query.next(ROWS)) values.push(...step);
      return { names: query.names, values };
    } finally {
      connection.close();
    }
  } catch (cause) {
    if (!(cause instanceof QueryFault)) throw cause;
    throw unreadable(cause, sql);
  }
}

/** A fault of a statement that is right: the mirror lacks what it reads. */
function unreadable(fault: QueryFault, sql: string): Failure {
  const failure = queryFailure(fault, sql);
  const { kind } = fault.facts;
  if (kind === 'incomplete')
    return localFailure('query.incomplete', failure.message, { hint: 'Run molar mirror sync.', cause: fault });
  if (kind !== 'column' && kind !== 'table') return failure;
  const message = `The mirror lacks what this report reads: ${fault.facts.message}.`;
  const hint = 'Its columns were chosen. Make one with all of them: molar mirror reset --yes, then molar mirror sync.';
  return localFailure('query.incomplete', message, { hint, cause: fault });
}
