import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Resource } from '../../../src/catalog/define.ts';
import type { Term } from '../../../src/catalog/filter/check.ts';
import { appointments } from '../../../src/catalog/resources/appointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { transactions } from '../../../src/catalog/resources/transactions.ts';
import { countRecords } from '../../../src/server/store/counting.ts';
import { putRecord, readPageText } from '../../../src/server/store/records.ts';
import type { Paces } from '../../../src/server/store/roads.ts';
import type { Reader, Statement } from '../../../src/server/store/store.ts';
import { seeded } from '../../support/faults/seeded.ts';
import { type TestService, testService } from '../../support/service.ts';
import { cases } from '../../support/store.ts';

const ORG = 77;
const RECORDS = cases(400, 160);
const random = seeded(20);
const below = (bound: number) => Math.floor(random() * bound);
const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
const chance = (share: number) => random() < share;

/** Days of two years; few of them, so that many records share a moment. */
const day = (at: number) => new Date(Date.UTC(2024, 0, 1 + at)).toISOString().slice(0, 10);
const moment = (at: number) => `${day(at)}T10:00:00.000Z`;
const DAYS = 60;

type Plain = { readonly id: number } & Readonly<Record<string, unknown>>;

/** Where the days of the records lie: anywhere, one for all, later with the id, and at one end of the ids alone. */
const SPREADS: Readonly<Record<string, (at: number) => number>> = {
  anywhere: () => below(DAYS),
  same: () => 30,
  rising: (at) => Math.floor((at * DAYS) / RECORDS),
  'late at the end': (at) => (at > RECORDS * 0.9 ? DAYS - 1 : below(5)),
  'late at the beginning': (at) => (at < RECORDS * 0.1 ? DAYS - 1 : below(5)),
};

const MADE: readonly [Resource, (id: number, at: number) => Plain][] = [
  [
    patients,
    (id, at) => ({
      id,
      lastName: pick(['Abel', 'abbot', 'Ábel', 'Baker', 'Zoe']),
      patientStatus: pick(['ACTIVE', 'ACTIVE', 'INACTIVE']),
      preferredLocation: chance(0.1) ? null : { id: pick([1, 2, 3]) },
      lastModified: chance(0.05) ? null : moment(at),
    }),
  ],
  [
    transactions,
    (id, at) => ({
      id,
      amount: 1,
      isActive: true,
      ledgerType: pick(['Payment', 'Adjustment']),
      provider: { id: pick([1, 2]) },
      location: { id: pick([1, 2, 3]) },
      transactionDate: chance(0.1) ? null : day(below(DAYS)),
      lastModified: moment(at),
    }),
  ],
  [
    appointments,
    (id, at) => ({
      id,
      status: pick(['CONFIRMED', 'BROKEN']),
      location: { id: pick([1, 2, 3]) },
      start: moment(below(DAYS)),
      lastModified: moment(at),
    }),
  ],
];

const RANGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  patients: ['lastModified'],
  transactions: ['lastModified', 'transactionDate'],
  appointments: ['lastModified', 'start'],
};
const OTHER_TERMS: Readonly<
  Record<string, readonly (readonly [string, Term['operator'], readonly (string | number)[]])[]>
> = {
  patients: [
    ['preferredLocation.id', '==', [2]],
    ['preferredLocation.id', '==', [9]],
    ['patientStatus', '==', ['INACTIVE']],
    ['patientStatus', '!=', ['INACTIVE']],
    ['lastName', '~=', ['ab']],
    ['lastName', '<>=', ['b']],
    ['lastName', '==', ['Abel']],
  ],
  transactions: [
    ['location.id', '==', [2]],
    ['location.id', '!=', [2]],
    ['provider.id', '==', [1]],
    ['ledgerType', '!=', ['Payment']],
  ],
  appointments: [
    ['location.id', '->', [2, 3]],
    ['location.id', '==', [1]],
    ['status', '==', ['BROKEN']],
  ],
};

function term(resource: Resource, name: string, operator: Term['operator'], values: Term['values']): Term {
  const key = Object.values(resource.filters).find((candidate) => candidate.key === name);
  if (key === undefined) throw new Error(`There is no filter key ${name}.`);
  return { key, operator, values, all: false };
}

/** What a term selects, said by the plain record: comparisons fit, as all days and moments are written alike. */
function selects({ key, operator, values }: Term, record: Plain): boolean {
  const [first, second] = key.key.split('.') as [string, string?];
  const found = record[first] as string | number | { readonly id: number } | null | undefined;
  const value = (second === undefined ? found : (found as { readonly id: number } | null)?.id) ?? null;
  const [wanted] = values as [string | number];
  const folded = String(value).toLowerCase();
  switch (operator) {
    case '==':
      return value === wanted;
    case '!=':
      return value !== wanted;
    case '->':
      return value !== null && values.includes(value as never);
    case '~=':
      return value !== null && folded.startsWith(String(wanted));
    case '<>=':
      return value !== null && folded.includes(String(wanted));
    case '>':
      return value !== null && value > wanted;
    case '>=':
      return value !== null && value >= wanted;
    case '<':
      return value !== null && value < wanted;
    default:
      return value !== null && value <= wanted;
  }
}

/** Random ranges of one key or two, with one end or both, and now and then another term. */
function randomTerms(resource: Resource): Term[] {
  const made: Term[] = [];
  for (const name of RANGE_KEYS[resource.name] ?? []) {
    if (!chance(0.7)) continue;
    const write = name === 'transactionDate' ? day : moment;
    const from = below(DAYS + 10) - 5;
    if (chance(0.8)) made.push(term(resource, name, pick(['>', '>=']), [write(from)]));
    if (chance(0.4)) made.push(term(resource, name, pick(['<', '<=']), [write(from + below(20))]));
  }
  if (made.length === 0 || chance(0.4)) made.push(term(resource, ...pick(OTHER_TERMS[resource.name] ?? [])));
  return made;
}

/** Paces that leave no choice but one. */
const WAYS: Readonly<Record<string, Paces | undefined>> = {
  'whichever suits': undefined,
  'by the index of a range': { few: 1e6, more: 1e6, first: 1, most: 1 },
  'along the ids at once': { few: -1, more: -1, first: 1e6, most: 1e6 },
  'in parts of few rows': { few: -1, more: -1, first: 1, most: 3 },
  'in parts of some rows': { few: 10, more: 30, first: 5, most: 40 },
};

let service: TestService;
let read: Reader;
beforeAll(async () => {
  service = await testService([]);
  read = service.service.store.read;
});
afterAll(() => service.close());

let orgs = 0;
/** Fills an organization of its own; its ids have gaps. */
async function fill(
  resource: Resource,
  make: (id: number, at: number) => Plain,
  spread: (at: number) => number,
  count = RECORDS,
) {
  const org = ORG + orgs++;
  const records: Plain[] = [];
  for (let at = 0, id = 1; at < count; at++, id += 1 + below(3)) records.push(make(id, spread(at)));
  await service.service.store.write(async (tx) => {
    for (const record of records) await putRecord(tx, org, resource, record, {}, null);
  });
  return { org, records };
}

const idsOf = (page: { readonly ids: string | null }) => (page.ids === null ? [] : page.ids.split(',').map(Number));

describe('pages and counts by ranges', () => {
  it.each(
    MADE.flatMap(([resource, make]) =>
      Object.keys(SPREADS).map((spread) => [resource.name, spread, resource, make] as const),
    ),
  )('%s, dates %s: the same whichever way is gone', async (_, spread, resource, make) => {
    const { org, records } = await fill(resource, make, SPREADS[spread] as (at: number) => number);
    for (let round = 0; round < cases(6, 3); round++) {
      const terms = randomTerms(resource);
      const isBound = chance(0.2) && resource !== patients;
      const reach = isBound ? { org, locations: [1, 3] } : { org };
      const isSeen = (record: Plain) => !isBound || [1, 3].includes((record.location as { readonly id: number }).id);
      const wanted = records.filter((record) => isSeen(record) && terms.every((each) => selects(each, record)));
      const lastId = chance(0.3) ? 0 : below(records.at(-1)?.id ?? 0);
      const [limit, offset] = [1 + below(chance(0.5) ? 10 : 500), chance(0.3) ? below(30) : 0];
      const after = wanted.filter(({ id }) => id > lastId).slice(offset, offset + limit);
      for (const [way, paces] of Object.entries(WAYS)) {
        const what = `${way}: ${JSON.stringify(terms.map(({ key, ...rest }) => [key.key, rest]))} ${JSON.stringify({ isBound, lastId, limit, offset })}`;
        const page = await readPageText(read, reach, resource, terms, { lastId, offset, limit }, paces);
        expect(idsOf(page), what).toEqual(after.map(({ id }) => id));
        expect(JSON.parse(`[${page.data ?? ''}]`), what).toEqual(after);
        expect(await countRecords(read, reach, resource, terms, paces), what).toBe(wanted.length);
      }
    }
  });

  it.each([
    ['moved on', 'lastModified', (at: number) => DAYS + at],
    ['moved back and forth', 'start', () => 20 + below(40)],
  ] as const)(
    'miss none of the records that stay selected while others are %s between statements',
    async (_, name, to) => {
      const [, make] = MADE[2] as (typeof MADE)[number];
      const { org, records } = await fill(
        appointments,
        (id) => ({ ...make(id, 0), [name]: moment(id % 40) }),
        () => 0,
      );
      const terms = [term(appointments, name, '>=', [moment(20)])];
      const always = records.filter((record) => terms.every((each) => selects(each, record))).map(({ id }) => id);
      let changes = 0;
      const change = async <T>(result: T): Promise<T> => {
        const record = { ...pick(records), [name]: moment(to(changes++)) };
        await service.service.store.write((tx) => putRecord(tx, org, appointments, record));
        return result;
      };
      const changing: Reader = {
        all: async (statement) => change(await read.all(statement)),
        get: async (statement) => change(await read.get(statement)),
      };
      const seen: number[] = [];
      for (let lastId = 0; ; ) {
        const slice = { lastId, offset: 0, limit: 20 };
        const paces = { few: -1, more: -1, first: 2, most: 30 };
        const ids = idsOf(await readPageText(changing, { org }, appointments, terms, slice, paces));
        seen.push(...ids);
        if (ids.length < slice.limit) break;
        lastId = ids.at(-1) as number;
      }
      expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
      expect(always.filter((id) => !seen.includes(id))).toEqual([]);
    },
  );
});

describe('the way to a page', () => {
  /** How many statements a page and a count take. */
  async function asked(org: number, terms: readonly Term[], paces?: Paces) {
    const statements: Statement[] = [];
    const noted = (statement: Statement) => {
      statements.push(statement);
      return statement;
    };
    const counting: Reader = { all: (each) => read.all(noted(each)), get: (each) => read.get(noted(each)) };
    await readPageText(counting, { org }, patients, terms, { lastId: 0, offset: 0, limit: 10 }, paces);
    return statements.length;
  }

  it('is chosen by what is there', async () => {
    const [, make] = MADE[0] as (typeof MADE)[number];
    const since = (at: number) => [term(patients, 'lastModified', '>=', [moment(at)])];
    // Ids rise, and days fall: what is old is at the end of the ids.
    const { org } = await fill(
      patients,
      (id) => ({ ...make(id, 0), lastModified: moment(1000 - id) }),
      () => 0,
      400,
    );
    const paces = { few: 20, more: 20, first: 20, most: 20 };
    const nothing = await asked(org, since(2000), paces);
    const all = await asked(org, since(0), paces);
    // Many, and all of them at the end: along the ids it would be a statement for every 20 records, twice.
    const clustered = [term(patients, 'lastModified', '<', [moment(260)])];
    const atEnd = await asked(org, clustered, paces);
    expect(nothing).toBe(2);
    expect(all).toBe(3);
    expect(atEnd).toBeLessThan(400 / 20);
  });
});
