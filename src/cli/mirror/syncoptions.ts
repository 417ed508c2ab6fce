import { resolve } from 'node:path';
import type { Fields } from '../../catalog/fields/kind.ts';
import { MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import { emittedFields } from '../../catalog/record.ts';
import type { ConnectionSettings } from '../../core/connection/settings.ts';
import type { Environment } from '../../core/environment.ts';
import { usageFailure } from '../../core/failure.ts';
import type { MirrorContents } from '../../core/mirror/sql/reading.ts';
import type { MirrorFacts } from '../../core/mirror/store.ts';
import { findTable, MIRROR_TABLES, type MirrorTable } from '../../core/mirror/tables.ts';
import { type LocalZones, localZones } from '../../core/mirror/zones.ts';
import { Names } from '../../core/names/namesfile.ts';
import { didYouMean } from '../../core/nearest.ts';
import { readParallel } from '../flags/exports.ts';
import { type FlagValues, isOn, textFlag, textFlags, wholeNumber } from '../flags/values.ts';
import { readNames, readZones } from '../names/profilenames.ts';

/** The tables that a command line names, or all; what needs locations comes last. Throws a Failure (exit 2). */
export function readTables(names: readonly string[]): readonly MirrorTable[] {
  const known = MIRROR_TABLES.map(({ resource }) => resource.name);
  const found = names.flatMap((name) => {
    if (name === 'ALL') return MIRROR_TABLES;
    const table = findTable(name);
    if (table !== undefined && table.resource.name === name) return [table];
    const near = didYouMean(name, [...known, 'ALL']);
    throw usageFailure(`${name} is not mirrored.${near} These are: ${known.join(', ')}.`, { source: 'RESOURCE' });
  });
  const tables = [...new Set(names.length === 0 ? MIRROR_TABLES : found)];
  return tables.toSorted((a, b) => Number(needsLocations(a)) - Number(needsLocations(b)));
}

/** Whether a resource is asked for at the locations that other records name, and at none where there are none. */
export function needsLocations({ resource: { operations } }: MirrorTable): boolean {
  return operations.list?.filterRequired === true && operations.list.unpaged === true;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a flag such as `15m`; undefined when it was not given. Throws a Failure (exit 2). */
export function readAge(flags: FlagValues, name: string): number | undefined {
  const text = textFlag(flags, name);
  if (text === undefined) return undefined;
  const [, amount = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text.trim()) ?? [];
  const milliseconds = Number(amount) * (UNITS[unit] ?? 0);
  if (amount !== '' && milliseconds > 0) return milliseconds;
  throw usageFailure(`--${name} must be a time such as 30s, 15m, 2h or 1d.`, { source: `--${name}` });
}

/** Records of a request, and requests at once. Throws a Failure (exit 2). */
export function readPaging(flags: FlagValues): { readonly pageSize: number; readonly parallel: number } {
  const pageSize = wholeNumber(flags, 'page-size', 1, MAX_PAGE_SIZE) ?? MAX_PAGE_SIZE;
  return { pageSize, parallel: readParallel(flags) };
}

/**
 * What a mirror is and keeps, by what it says and this command line. Throws a Failure (exit 2) for that of another
 * organization or address, and for choices that it was not made with.
 */
export function readFacts(
  flags: FlagValues,
  { baseUrl: url, organization }: ConnectionSettings,
  known: MirrorContents | undefined,
  name: string,
): MirrorFacts {
  const columns = readColumns(flags);
  const before = known?.facts;
  if (before === undefined) {
    return {
      organization,
      url,
      history: isOn(flags, 'history'),
      files: readFilesFolder(flags),
      columns: columns ?? {},
      timezone: textFlag(flags, 'timezone') ?? null,
    };
  }
  if (before.organization !== organization) {
    throw usageFailure(`${name} is a mirror of the organization ${before.organization}, not of ${organization}.`, {
      source: '--organization',
      hint: 'Name another place with --to, or connect as that organization.',
    });
  }
  if (before.url !== url && !isOn(flags, 'moved')) {
    throw usageFailure(`${name} is a mirror of ${before.url}, not of ${url}.`, {
      source: '--url',
      hint: 'Name another place with --to; add --moved if it is the same practice at a new address.',
    });
  }
  if (columns !== undefined && JSON.stringify(columns) !== JSON.stringify(before.columns)) {
    throw usageFailure(`${name} was made with other columns.`, {
      source: '--columns',
      hint: 'Leave out --columns to go on as before, or name another place with --to.',
    });
  }
  return {
    ...before,
    url,
    history: before.history || isOn(flags, 'history'),
    files: readFilesFolder(flags) ?? before.files ?? null,
    timezone: textFlag(flags, 'timezone') ?? before.timezone,
  };
}

/** The absolute path that `--files` names; null without it. Throws a Failure (exit 2). */
function readFilesFolder(flags: FlagValues): string | null {
  const folder = textFlag(flags, 'files');
  if (folder === '') throw usageFailure('--files must name a folder.', { source: '--files' });
  return folder === undefined ? null : resolve(folder);
}

/** The zones of local times: of the names file, elsewhere that of `--timezone` now or earlier. Throws a Failure (exit 9). */
export function readLocalZones(
  flags: FlagValues,
  { timezone, deidentified = null }: MirrorFacts,
  env: Environment,
): LocalZones {
  // A copy without originals has no ids of locations, and no times.
  const names = deidentified === null ? readNames(flags, env) : new Names([]);
  return localZones(names, readZones({ ...flags, timezone: timezone ?? undefined }, env, names).of(undefined));
}

/** Chosen fields by resource; undefined when none were named. */
function readColumns(flags: FlagValues): Readonly<Record<string, readonly string[]>> | undefined {
  const texts = textFlags(flags, 'columns');
  if (texts.length === 0) return undefined;
  const chosen = new Map<string, Set<string>>();
  for (const text of texts) {
    const [, name = '', list = ''] = /^([a-z]+):(.+)$/.exec(text.trim()) ?? [];
    const table = findTable(name);
    if (table === undefined || table.resource.name !== name)
      throw usageFailure('--columns must begin with a resource and a colon, such as patients:id,lastName.', {
        source: '--columns',
      });
    const fields = chosen.get(name) ?? new Set<string>();
    for (const field of list.split(',')) fields.add(checkField(field.trim(), table.resource.fields, name));
    chosen.set(name, fields);
  }
  return Object.fromEntries([...chosen].sort().map(([name, fields]) => [name, [...fields].sort()]));
}

function checkField(name: string, fields: Fields, resource: string): string {
  const known = emittedFields(fields);
  if (known.includes(name)) return name;
  throw usageFailure(`${resource} have no field ${name}.${didYouMean(name, known)} Fields: ${known.join(', ')}.`, {
    source: '--columns',
  });
}
