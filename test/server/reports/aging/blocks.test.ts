import fc from 'fast-check';
import sql from 'sql-template-tag';
import { expect } from 'vitest';
import { fillBlocks, GuarantorOrder, wrongBlocks } from '../../../../src/server/reports/aging/blocks.ts';
import { fillLedger, settleLedger } from '../../../../src/server/reports/aging/ledger.ts';
import { MIGRATIONS } from '../../../../src/server/store/migrations/steps.ts';
import type { Store, Transaction } from '../../../../src/server/store/store.ts';
import { downgradeScript } from '../../../support/downgrade.ts';
import { onBothStores } from '../../store/schema/olderpractice.ts';

/** Guarantors within a block, on both sides of the edge of each width, and at both ends of all ids. */
const GUARANTORS = [10, 20, 30, 40]
  .flatMap((bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1])
  .concat([1, 2, 3, 70_000_000_000_123, 70_000_000_000_124, Number.MAX_SAFE_INTEGER - 1]);

const LOCATIONS = [null, 5, 6];

const change = fc.record({
  id: fc.integer({ min: 1, max: 60 }),
  guarantor: fc.nat(GUARANTORS.length - 1),
  location: fc.nat(LOCATIONS.length - 1),
  gone: fc.constantFrom(false, false, false, true),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** Rows of transactions by id: what the order is to be, said from the records alone. */
type Rows = Map<number, { readonly guarantor: number; readonly location: number }>;

async function write(tx: Transaction, org: number, rows: Rows, { id, guarantor, location, gone }: Change) {
  await tx.run(sql`INSERT INTO ledger_changes (org, id) VALUES (${org}, ${id}) ON CONFLICT DO NOTHING`);
  await tx.run(sql`DELETE FROM transactions WHERE org = ${org} AND id = ${id}`);
  rows.delete(id);
  if (gone) return;
  const place = LOCATIONS[location] ?? null;
  await tx.run(sql`INSERT INTO transactions (org, id, patient_id, location_id, is_active, amount_cents, transaction_date, json)
    VALUES (${org}, ${id}, ${guarantor + 1}, ${place}, 1, 100, '2026-01-01', '{}')`);
  rows.set(id, { guarantor: GUARANTORS[guarantor] as number, location: place ?? 0 });
}

/** For every number of transactions: who has so many, or more, before their own. */
async function expectOrder(store: Store, org: number, rows: Rows): Promise<void> {
  for (const location of ['ALL', 0, 5, 6] as const) {
    const there = [...rows.values()].filter((row) => location === 'ALL' || row.location === location);
    const guarantors = [...new Set(there.map(({ guarantor }) => guarantor))];
    const before = (one: number) => there.filter(({ guarantor }) => guarantor < one).length;
    const order = new GuarantorOrder(store.read, org, location);
    expect(await order.total()).toBe(there.length);
    for (let count = 0; count <= there.length + 1; count++) {
      const from = await order.after(count);
      const expected = guarantors.filter((one) => before(one) >= count);
      expect(guarantors.filter((one) => one >= from)).toEqual(expected);
    }
  }
  expect(await store.read.all(wrongBlocks(org, 10))).toEqual([]);
}

async function withPatients(store: Store): Promise<void> {
  await store.write(async (tx) => {
    for (const org of [1, 2]) {
      for (const [index, guarantor] of GUARANTORS.entries()) {
        await tx.run(sql`INSERT INTO patients (org, id, primary_guarantor_id, json)
          VALUES (${org}, ${index + 1}, ${guarantor}, '{}')`);
      }
    }
  });
}

onBothStores('Guarantors are found by how many transactions are before them, after any changes', async ({ open }) => {
  const store = await open();
  try {
    await withPatients(store);
    const rows: Record<number, Rows> = { 1: new Map(), 2: new Map() };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(1, 2),
        fc.array(change, { minLength: 1, maxLength: 30 }),
        async (org, changes) => {
          await store.write(async (tx) => {
            for (const one of changes) await write(tx, org, rows[org] as Rows, one);
            await settleLedger(tx);
          }, org);
          await expectOrder(store, 1, rows[1] as Rows);
          await expectOrder(store, 2, rows[2] as Rows);
        },
      ),
      // A failed run has changed what the next ones begin with.
      { numRuns: 7, seed: 20_260_304, endOnFailure: true },
    );
    await store.write((tx) => fillLedger(tx, 1));
    await expectOrder(store, 1, rows[1] as Rows);
    await store.write((tx) => fillBlocks(tx, 2));
    await expectOrder(store, 2, rows[2] as Rows);
  } finally {
    await store.close();
  }
});

onBothStores('A ledger of an earlier molar has its blocks when it is opened', async (home) => {
  const first = await home.open();
  await withPatients(first);
  const rows: Rows = new Map();
  await first.write(async (tx) => {
    for (let id = 1; id <= 40; id++) {
      await write(tx, 1, rows, { id, guarantor: id % GUARANTORS.length, location: id % 3, gone: false });
    }
    await settleLedger(tx);
  });
  await first.close();
  const earlier = downgradeScript(MIGRATIONS.findIndex(({ name }) => name === 'blocks'));
  await home.script({ sqlite: earlier, postgres: earlier });
  const second = await home.open();
  await expectOrder(second, 1, rows);
  expect(await second.read.all(sql`SELECT org FROM ledger_versions WHERE counted <> version`)).toEqual([]);
  await second.close();
});

onBothStores('Blocks that an earlier molar has left behind are made anew with the next change', async ({ open }) => {
  const store = await open();
  try {
    await withPatients(store);
    const rows: Rows = new Map();
    const settled = (id: number, guarantor: number) =>
      store.write(async (tx) => {
        await write(tx, 1, rows, { id, guarantor, location: 1, gone: false });
        await settleLedger(tx);
      });
    for (let id = 1; id <= 20; id++) await settled(id, id % GUARANTORS.length);
    // An earlier molar writes the ledger and its version alone.
    await store.write(async (tx) => {
      await tx.run(sql`DELETE FROM ledger WHERE id <= 5`);
      await tx.run(sql`DELETE FROM transactions WHERE id <= 5`);
      await tx.run(sql`UPDATE ledger_versions SET version = version + 1`);
    });
    for (let id = 1; id <= 5; id++) rows.delete(id);
    expect(await store.read.all(wrongBlocks(1, 10))).not.toEqual([]);
    await settled(21, 3);
    await expectOrder(store, 1, rows);
  } finally {
    await store.close();
  }
});
