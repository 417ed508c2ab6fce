import sql from 'sql-template-tag';
import { expect, it } from 'vitest';
import type { WireRecord } from '../../support/calls.ts';
import { line } from '../../support/practice.ts';
import { sharedService, type TestService, testService } from '../../support/service.ts';
import { importInParts } from './staged/stores.ts';

const service = sharedService();

const [ANN, BOB] = [1, 2];
const patient = (id: number, guarantor = id) =>
  line('PatientV1', { id, firstName: 'Pat', lastName: `No ${id}`, primaryGuarantor: { id: guarantor } });
const entry = (id: number, ledgerType: string, amount: number, more: WireRecord = {}) =>
  line('Transaction', { id, ledgerType, amount, transactionDate: '2026-02-01', patient: { id: ANN }, ...more });
const charge = (id: number, more?: WireRecord) => entry(id, 'PatientChargeAdjustment', 50, more);
const payment = (id: number, pays: number, more: WireRecord = {}) =>
  entry(id, 'PatientProcedurePayment', -20, { distributions: [{ chargeId: pays, appliedAmount: 20 }], ...more });
const gone = (id: number) => line('Transaction', { id, deleted: true });

/** Who owes what of a transaction, in cents. */
type Row = readonly [id: number, guarantor: number, open: number];

/** The ledger of an organization; all that is noted of it must have been made again, and its blocks with it. */
async function ledgerOf({ service }: TestService, organization: string): Promise<unknown[]> {
  const { read } = service.store;
  const own = sql`org = (SELECT org FROM organizations WHERE id = ${organization})`;
  expect(await read.all(sql`SELECT id FROM ledger_changes WHERE ${own}`)).toEqual([]);
  expect(await read.all(sql`SELECT org FROM ledger_versions WHERE ${own} AND counted <> version`)).toEqual([]);
  const rows = await read.all<{ id: number; guarantor_id: number; open_cents: number }>(
    sql`SELECT id, guarantor_id, open_cents FROM ledger WHERE ${own} ORDER BY id`,
  );
  const paid = await read.all<{ charge_id: number; credit_id: number }>(
    sql`SELECT charge_id, credit_id FROM distributions WHERE ${own} ORDER BY charge_id, credit_id`,
  );
  return [
    ...rows.map(({ id, guarantor_id, open_cents }) => [id, guarantor_id, open_cents]),
    ...paid.map(({ charge_id, credit_id }) => `${credit_id} pays ${charge_id}`),
  ];
}

const CASES: readonly (readonly [name: string, lines: readonly WireRecord[], ledger: readonly (Row | string)[]])[] = [
  ['is that of all lines', [], [[11, ANN, 3000], [12, ANN, 0], '12 pays 11']],
  ['has no payment that is deleted', [gone(12)], [[11, ANN, 5000]]],
  ['has nothing where all is deleted', [gone(11), gone(12)], []],
  [
    'has a payment of what its last line says',
    [charge(13), payment(12, 13)],
    [[11, ANN, 5000], [12, ANN, 0], [13, ANN, 3000], '12 pays 13'],
  ],
  ['has no charge that is not active any more', [charge(11, { isActive: false })], [[12, ANN, -2000], '12 pays 11']],
  ['is that of who is responsible now', [patient(ANN, BOB)], [[11, BOB, 3000], [12, BOB, 0], '12 pays 11']],
];

let made = 0;

it.each(CASES)('the ledger %s, at once, in parts and with a decision', async (_name, lines, ledger) => {
  const first = [patient(ANN), patient(BOB), charge(11), payment(12, 11)];
  const name = `ledger-${++made}`;
  const practice = (id: string) => ({ type: 'Organization', id, timezone: 'UTC' });
  const of = (id: string, records: readonly WireRecord[]) =>
    records.map((record) => ({ ...record, organizationId: id }));
  const atOnce = await testService([practice(name), ...of(name, [...first, ...lines])]);
  expect(await ledgerOf(atOnce, name)).toEqual(ledger);
  await atOnce.close();
  const ways = [service.import, (records: WireRecord[]) => importInParts(service.service, records)];
  for (const [index, way] of ways.entries()) {
    const id = `${name}-${index}`;
    await way([practice(id), ...of(id, first)]);
    await way(of(id, lines));
    expect(await ledgerOf(service, id)).toEqual(ledger);
  }
});
