import { expect, it } from 'vitest';
import { rowOf, type WireRecord } from '../../support/calls.ts';
import { ELSEWHERE, LOCATIONS, OTHER_ORGANIZATION, PATIENTS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

/** A charge; `corrects` is the one that it replaces. */
const charge = (id: number, corrects?: number, more: WireRecord = {}) =>
  line('Transaction', {
    ...{ id, ledgerType: 'PatientChargeAdjustment', amount: 10, transactionDate: '2026-02-01' },
    ...{ patient: { id: PATIENTS.ann }, location: { id: LOCATIONS.east } },
    ...(corrects !== undefined && { previousTransaction: { id: corrects } }),
    ...more,
  });

const elsewhere = (id: number, corrects?: number) => ({
  ...charge(id, corrects, { patient: { id: ELSEWHERE.patient }, location: { id: ELSEWHERE.location } }),
  organizationId: OTHER_ORGANIZATION,
});

/** By what each charge is replaced: null for one that is active. */
async function replacements(service: TestService, ids: readonly number[]): Promise<(number | null)[]> {
  const found = [];
  for (const id of ids) {
    const { isActive, replacedByTransaction } = rowOf(await service.call('GET', `/transactions/${id}`));
    const by = (replacedByTransaction as { id: number } | null)?.id ?? null;
    expect(isActive, `${id}`).toBe(by === null);
    found.push(by);
  }
  return found;
}

/** What the lines of charges 1, 2 and 3 make of them. */
const CASES: readonly [name: string, lines: readonly WireRecord[], replaced: readonly (number | null)[]][] = [
  ['the last of two, whatever the order of their lines', [charge(3, 1), charge(2, 1)], [3, null, null]],
  [
    'its own one, though another organization has a line of its id',
    [charge(2, 1), charge(3), elsewhere(1)],
    [2, null, null],
  ],
  ['one that is replaced itself', [charge(3, 2), charge(2, 1)], [2, 3, null]],
  [
    'none whose last line corrects nothing, whatever another organization has',
    [charge(2, 1), charge(3), charge(2), elsewhere(1), elsewhere(2, 1)],
    [null, null, null],
  ],
  ['the other one when the last corrects nothing any more', [charge(2, 1), charge(3, 1), charge(3)], [2, null, null]],
  ['none that is deleted', [charge(2), charge(3), charge(4, 1), charge(4, 1, { deleted: true })], [null, null, null]],
];

/** A line of a case with ids, and an amount, of its own: of a sum of amounts one can tell what each case adds. */
function lineOf(at: number, record: WireRecord): WireRecord {
  const { id, previousTransaction: of } = record as { id: number; previousTransaction?: { id: number } };
  const own = (number: number) => 10 * at + number;
  return {
    ...record,
    ...{ id: own(id), amount: 4 ** at },
    ...(of !== undefined && { previousTransaction: { id: own(of.id) } }),
  };
}

it('charges are replaced alike when they come at once, in parts, and later', async () => {
  const corrections = CASES.map(([, lines], at) => lines.map((each) => lineOf(at, each)));
  const first = CASES.map((_, at) => lineOf(at, charge(1)));
  const lines = corrections.flatMap((each, at) => [...each, first[at] as WireRecord]);
  const atOnce = await testService([...bareRecords(), ...lines]);
  const inParts = await testService(bareRecords());
  await inParts.import(lines);
  const later = await testService([...bareRecords(), ...first]);
  await later.import(corrections.flat());
  for (const service of [atOnce, inParts, later]) {
    let total = 0;
    for (const [at, [name, , replaced]] of CASES.entries()) {
      const found = await replacements(
        service,
        [1, 2, 3].map((id) => 10 * at + id),
      );
      expect(found, `by ${name}`).toEqual(replaced.map((by) => by && 10 * at + by));
      total += 4 ** at * replaced.filter((by) => by === null).length;
    }
    // The ledger has no charge that is replaced.
    const query = { filter: `location.id==${LOCATIONS.east},page==1` };
    const report = rowOf(await service.call('GET', '/agingbalances/report', { query }));
    expect(report.total).toBe(total);
    await service.close();
  }
});

it('a charge is not active once it is replaced, whatever its own line says', async () => {
  const own = charge(1, undefined, { isActive: true, replacedByTransaction: { id: 2 } });
  const service = await testService([...bareRecords(), own, charge(2, 1)]);
  expect(await replacements(service, [1, 2])).toEqual([2, null]);
  await service.close();
});

it('a charge that is replaced already is not changed by the same lines', async () => {
  const service = await testService([...bareRecords(), charge(1)]);
  await service.import([charge(2, 1)]);
  const before = rowOf(await service.call('GET', '/transactions/1'));
  service.clock.advance(60_000);
  await service.import([charge(2, 1)]);
  expect(rowOf(await service.call('GET', '/transactions/1'))).toEqual(before);
  await service.import([charge(3, 1)]);
  expect(rowOf(await service.call('GET', '/transactions/1'))).toMatchObject({
    replacedByTransaction: { id: 3 },
    lastModified: service.clock.text(),
  });
  await service.close();
});
