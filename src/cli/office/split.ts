import { join } from 'node:path';
import { isDate } from '../../catalog/fields/times.ts';
import { usageFailure } from '../../core/failure.ts';
import type { OfficeRow } from '../../core/office/result.ts';
import { guarded } from '../../core/output/atomicfile.ts';
import { FORMATS } from '../../core/output/formats.ts';
import { makeOwnFolder } from '../../core/output/ownfile.ts';
import { type FlagValues, textFlag, textFlags } from '../flags/values.ts';
import type { Access, Answer } from './asked.ts';
import { type OfficePlan, type Writing, writeOffice } from './output.ts';
import { type ResultOrder, resultOf } from './result.ts';
import type { ReportSpec } from './spec.ts';

/**
 * The folder of `--split-by location --to DIR`, and the flags without it: `--to` may be given for the last day too, which
 * is a date. Undefined without `--split-by`. Throws a Failure (exit 2).
 */
export function readFolder(
  flags: FlagValues,
  { flags: own }: ReportSpec,
): { readonly folder: string; readonly flags: FlagValues } | undefined {
  const given = textFlags(flags, 'to');
  const isDay = (text: string) => 'to' in own && isDate(text);
  const folders = given.filter((text) => !isDay(text));
  if (textFlag(flags, 'split-by') === undefined) {
    if ('to' in own || given.length === 0) return undefined;
    throw usageFailure('--to is the folder of --split-by location; for one file give --out.', { source: '--to' });
  }
  const [folder, another] = folders;
  if (folder === undefined || folder === '' || another !== undefined) {
    const what = another === undefined ? 'needs a folder' : 'takes one folder';
    throw usageFailure(`--split-by location ${what} for its files: add --to DIR.`, { source: '--to' });
  }
  if (textFlag(flags, 'out') !== undefined) {
    throw usageFailure('--out is one file, and --split-by writes several; give one of them.', { source: '--out' });
  }
  const dates = given.filter(isDay);
  return { folder, flags: { ...flags, to: dates.length === 0 ? undefined : dates } };
}

/** Writes a file for each location with rows, and each that was asked for. Returns their paths. */
export async function writeByLocation(
  folder: string,
  order: ResultOrder,
  access: Access,
  writing: Writing,
): Promise<string[]> {
  const { asked, spec, setting } = order;
  const { format } = writing.plan;
  const [extension] = FORMATS[format].extensions;
  if (extension === undefined) {
    throw usageFailure(`--split-by writes files, and ${format} is for a terminal.`, { source: '--format' });
  }
  const answers = (await asked.answerByLocation?.(access)) ?? byLocation(await asked.answer(access));
  const wanted = setting.question.locations ?? [];
  const all = new Map([...wanted.map((id) => [id, NOTHING] as const), ...answers]);
  await guarded(`make the folder ${folder}`, () => makeOwnFolder(folder));
  const paths: string[] = [];
  for (const [location, answer] of all) {
    if (answer.rows.length === 0 && !wanted.includes(location)) continue;
    const out = join(folder, `${spec.name}-${location}.${extension}`);
    const plan: OfficePlan = { ...writing.plan, out };
    const ids = location === NONE ? [] : [location];
    await writeOffice(resultOf(order, answer, ids), { ...writing, plan });
    paths.push(out);
  }
  return paths;
}

const NOTHING: Answer = { rows: [], check: null };

/** In place of an id, for rows without a location. */
const NONE = 'none';

/** Rows by the location that they name, in the order of the first of each. */
function byLocation({ rows, check }: Answer): ReadonlyMap<string, Answer> {
  const found = new Map<string, OfficeRow[]>();
  for (const row of rows) {
    const id = String(row['location.id'] ?? NONE);
    const own = found.get(id) ?? [];
    own.push(row);
    found.set(id, own);
  }
  return new Map([...found].map(([id, own]) => [id, { rows: own, check }]));
}
