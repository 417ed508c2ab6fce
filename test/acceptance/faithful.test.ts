import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LACKING } from '../faithful/commands/lacking.ts';
import { READS } from '../faithful/commands/reads.ts';
import type { Row, Setting } from '../faithful/commands/row.ts';
import { WRITES } from '../faithful/commands/writes.ts';
import { drive } from '../faithful/driving.ts';
import { type Faults, faultsOf } from '../faithful/faults.ts';
import { type Moods, PLAIN } from '../faithful/moods.ts';
import { RESOURCES } from '../faithful/store.ts';

/** Everything that the specification leaves open is settled against the client. */
const UNHELPFUL: Moods = {
  ...PLAIN,
  extraFields: true,
  unknownEnums: true,
  missingFields: true,
  strings: 'numbers',
  countsAsStrings: true,
  countName: 'totalCount',
  bareMeta: true,
  pageCap: 7,
  historyOrder: 'shuffled',
  newestFirst: 'always',
  encoding: 'br',
  chunked: true,
  deletes: 'null',
  instants: 'local',
  clockAhead: 3_600_000,
  newIds: 'falling',
  jpegExtension: 'jpg',
  tagCase: 'upper',
  automaticDates: true,
  modifiedLimitsTransactions: false,
  wideDays: 400,
  wideEverywhere: true,
  emptyReports: 'notFound',
  reorderedKeys: true,
  missingNeverDiffers: true,
  errorItems: 'titles',
};

const RATE = 0.3;

const WORLDS: readonly (readonly [string, Partial<Moods>, () => Faults | undefined])[] = [
  ['an unhelpful service', UNHELPFUL, () => undefined],
  ['a faulty service that requires a location', { requireLocation: true }, () => faultsOf('acceptance', RATE)],
];

describe.each(WORLDS)('%s', (_name, moods, faults) => {
  it.each(Object.entries({ ...READS, ...WRITES, ...LACKING }))('%s', (_line, row) => check(row, moods, faults()));
});

/** Commands that ask no service. */
const SILENT =
  /^(autocomplete|config|demo|export |help|logout|mirror (export|reset|status|tables)|names (edit|import|list)|profiles|reports list|serve|server|version)/;

/** Reports that ask for nothing but the sync of a mirror: one of them stands for all, and one for those that need appointments. */
const LIKE_ANOTHER = /^reports (?!collections|day-sheet|production)/;

it('every command that speaks to a service is in the tables', () => {
  const lines = Object.keys({ ...READS, ...WRITES, ...LACKING });
  const folder = resolve(import.meta.dirname, '../../src/commands');
  const commands = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => path.replace(/(\/index)?\.ts$/, '').replaceAll('/', ' '))
    .filter((command) => !(SILENT.test(command) || LIKE_ANOTHER.test(command)));
  expect(commands.length).toBeGreaterThan(40);
  expect(commands.filter((command) => !lines.some((line) => line.startsWith(command)))).toEqual([]);
});

async function check(row: Row, moods: Partial<Moods>, faults: Faults | undefined): Promise<void> {
  const driven = await drive({ seed: 'acceptance', moods, ...(faults ? { faults: unless(row, faults) } : {}) });
  const { service } = driven;
  const records = () => new Map(RESOURCES.map((resource) => [resource, service.records(resource)]));
  let before = records();
  const setting: Setting = {
    ...driven,
    first: (resource) => String(before.get(resource)?.[0]?.id),
    before: (resource) => before.get(resource) ?? [],
    location: String(service.practice.locations[0]?.id),
  };
  try {
    await row.prepare?.(setting);
    before = records();
    const ran = await driven.molar(row.line(setting), row.stdin);
    expect(ran.exitCode !== 0, ran.stderr).toBe(row.fails ?? false);
    await row.check(ran, setting);
    const tries = [row.tries].flat();
    if (!row.fails) expect(service.violations.filter(({ path }) => !tries.includes(path))).toEqual([]);
  } finally {
    await driven.close();
  }
}

/** What a service does not have answers 404 whatever else goes wrong; what never tries again is spared too. */
function unless(row: Row, faults: Faults): Faults {
  return row.fails || row.attemptsOnce ? () => undefined : faults;
}
