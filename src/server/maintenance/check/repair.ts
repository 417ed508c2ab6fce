import sql from 'sql-template-tag';
import { STORED_RESOURCES } from '../../../catalog/catalog.ts';
import type { Files } from '../../files/files.ts';
import { removeScheduled } from '../../files/recovery.ts';
import { fillBlocks } from '../../reports/aging/blocks.ts';
import { settleLedger } from '../../reports/aging/ledger.ts';
import { recount } from '../../store/counts.ts';
import { layoutOf } from '../../store/layout.ts';
import { raiseSequence } from '../../store/sequences.ts';
import type { Store, Transaction } from '../../store/store.ts';
import type { CheckContext, CheckFindings } from './context.ts';
import { orphans, unfinishedRemovals } from './files.ts';
import { distributionsOf } from './ledger.ts';
import { recordPages } from './pages.ts';
import { highestIds } from './uniqueness.ts';

/** What a repair did: how many of what. */
export interface Repaired {
  readonly what: string;
  readonly count: number;
}

/** What is repaired with: the findings, and what may be changed. */
interface Repair {
  readonly context: CheckContext;
  readonly book: CheckFindings;
  readonly store: Store;
  readonly files: Files;
}

/** Mends what follows from other data and loses nothing: everything else is left to whoever has a backup. */
export async function repair(work: Repair): Promise<Repaired[]> {
  const { book } = work;
  const done: Repaired[] = [];
  const note = (what: string, count: number) => {
    if (count > 0) done.push({ what, count });
  };
  if (book.of('files').problems > 0) {
    note('removals finished', await finishRemovals(work));
    note('files without a document removed', await dropOrphans(work));
  }
  if (book.of('sequences').problems > 0) note('sequences raised', await raiseSequences(work));
  if (book.of('counts').problems > 0) note('counts made again', await recountAll(work));
  if (book.of('ledger').problems > 0) note('ledgers made again', await rebuildLedgers(work));
  return done;
}

async function finishRemovals({ context, store, files }: Repair): Promise<number> {
  const names = await unfinishedRemovals(context);
  await removeScheduled(store, files, names);
  return names.length;
}

async function dropOrphans({ context, files }: Repair): Promise<number> {
  let count = 0;
  for await (const name of orphans(context)) {
    await files.remove(name);
    count++;
  }
  return count;
}

async function raiseSequences({ store, context }: Repair): Promise<number> {
  return store.write(async (tx) => {
    let raised = 0;
    for (const { org, type, id } of await highestIds(tx)) {
      const row = await tx.get<{ last_id: number }>(
        sql`SELECT last_id FROM sequences WHERE org = ${org} AND type = ${type}`,
      );
      if ((row?.last_id ?? 0) >= id) continue;
      await raiseSequence(tx, org, type, id);
      raised++;
    }
    await context.turn('sequences', raised);
    return raised;
  });
}

/** The organizations whose ledger has problems, and those with changes that were not worked in. */
async function rebuildLedgers({ store, book, context }: Repair): Promise<number> {
  const names = new Set(book.of('ledger').listed.map(({ organization }) => organization));
  const organizations = await store.read.all<{ org: number; id: string }>(sql`SELECT org, id FROM organizations`);
  const damaged = organizations.filter(({ id }) => names.has(id));
  for (const { org } of damaged) await store.write((tx) => rebuildLedger(tx, org, context), org);
  if (names.has(null)) await store.write((tx) => settleLedger(tx));
  return damaged.length + Number(names.has(null));
}

async function recountAll({ store, book }: Repair): Promise<number> {
  const wrong = new Set(book.of('counts').listed.map(({ organization, id }) => `${organization} ${id}`));
  const organizations = await store.read.all<{ org: number; id: string }>(sql`SELECT org, id FROM organizations`);
  let made = 0;
  for (const layout of STORED_RESOURCES.map(layoutOf)) {
    for (const { org, id } of organizations) {
      if (!wrong.has(`${id} ${layout.table}`)) continue;
      await store.write((tx) => recount(tx, layout, org), org);
      made++;
    }
  }
  return made;
}

const COLUMNS = ['id', 'json', 'ledger_type', 'is_active', 'amount_cents'] as const;

type CreditRow = Parameters<typeof distributionsOf>[0][number];

async function rebuildLedger(tx: Transaction, org: number, context: CheckContext): Promise<void> {
  await tx.run(sql`DELETE FROM distributions WHERE org = ${org}`);
  for await (const { rows } of recordPages<CreditRow>(tx, 'transactions', COLUMNS, [org])) {
    for (const { charge_id, credit_id, cents, by_insurance } of distributionsOf(rows)) {
      await tx.run(sql`INSERT INTO distributions (org, charge_id, credit_id, cents, by_insurance)
        VALUES (${org}, ${charge_id}, ${credit_id}, ${cents}, ${by_insurance})`);
    }
    context.progress('transactions', rows.length);
  }
  await tx.run(sql`DELETE FROM ledger WHERE org = ${org}`);
  await tx.run(sql`INSERT INTO ledger_changes (org, id) SELECT org, id FROM transactions WHERE org = ${org}
    ON CONFLICT DO NOTHING`);
  await settleLedger(tx);
  await fillBlocks(tx, org);
}
