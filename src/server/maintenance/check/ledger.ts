import sql from 'sql-template-tag';
import { cents } from '../../money.ts';
import { wrongBlocks } from '../../reports/aging/blocks.ts';
import { parseRecord } from '../../store/schema/backfill.ts';
import type { CheckContext, CheckFindings } from './context.ts';
import { orgsOf, PAGE, type RecordPage, recordPages, within } from './pages.ts';

interface TransactionRow {
  readonly id: number;
  readonly json: string;
  readonly ledger_type: string | null;
  readonly is_active: number;
  readonly amount_cents: number;
  readonly transaction_date: string | null;
  readonly location_id: number | null;
  readonly patient_id: number | null;
  readonly estimated_insurance_cents: number | null;
  readonly estimated_write_off_cents: number | null;
}

const COLUMNS = [
  'id',
  'json',
  'ledger_type',
  'is_active',
  'amount_cents',
  'transaction_date',
  'location_id',
  'patient_id',
  'estimated_insurance_cents',
  'estimated_write_off_cents',
];

/** What follows from transactions and is stored for the aging report (D34): computed again and compared. */
export async function checkLedger(context: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('ledger');
  const orgs = new Set<number>();
  const wrong = new Set<number>();
  for (const table of ['transactions', 'distributions', 'ledger', 'ledger_blocks']) {
    for (const org of await orgsOf(context.read, table)) orgs.add(org);
  }
  for await (const page of recordPages<TransactionRow>(context.read, 'transactions', COLUMNS, [...orgs])) {
    const organization = context.organization(page.org);
    const compare = (table: string, expected: ReadonlyMap<string, string>, kept: ReadonlyMap<string, string>) => {
      for (const id of new Set([...expected.keys(), ...kept.keys()])) {
        if (expected.get(id) === kept.get(id)) continue;
        wrong.add(page.org);
        const lacks = !kept.has(id) ? 'is missing' : !expected.has(id) ? 'should not be there' : undefined;
        findings.report({ table, organization, id, message: lacks ?? 'does not agree with transactions' });
      }
    };
    compare('distributions', distributionTexts(distributionsOf(page.rows)), await storedDistributions(context, page));
    compare('ledger', await ledgerOf(context, page), await storedLedger(context, page));
    findings.counted(page.rows.length);
    await context.turn('transactions', page.rows.length);
  }
  for (const org of orgs) {
    // A ledger that is wrong is made again with its blocks.
    if (wrong.has(org)) continue;
    const organization = context.organization(org);
    for (const { location_id, width, block } of await context.read.all<BlockKey>(wrongBlocks(org, PAGE))) {
      const id = `${location_id} ${width} ${block}`;
      findings.report({ table: 'ledger_blocks', organization, id, message: 'does not agree with ledger' });
    }
  }
  const waiting = await context.read.get<{ waiting: number }>(sql`SELECT COUNT(*) AS waiting FROM ledger_changes`);
  if ((waiting?.waiting ?? 0) > 0) {
    const message = `${waiting?.waiting} changes have not been applied`;
    findings.report({ table: 'ledger_changes', organization: null, id: null, message });
  }
}

/** Which block of a ledger. */
interface BlockKey {
  readonly location_id: number;
  readonly width: number;
  readonly block: number;
}

interface Part {
  readonly chargeId?: number | null;
  readonly appliedAmount?: number | null;
  readonly isActive?: boolean | null;
}

/** What a credit distributes on a charge. */
interface DistributionRow {
  readonly charge_id: number;
  readonly credit_id: number;
  readonly cents: number;
  readonly by_insurance: number;
}

/** What active credits actively distribute, of these transactions. */
export function distributionsOf(
  rows: readonly Pick<TransactionRow, 'id' | 'json' | 'is_active' | 'amount_cents' | 'ledger_type'>[],
): DistributionRow[] {
  const sums = new Map<string, DistributionRow>();
  for (const { id, json, is_active, amount_cents, ledger_type } of rows) {
    if (is_active !== 1 || amount_cents >= 0) continue;
    const byInsurance = Number(ledger_type === 'InsurancePayment');
    const parts = parseRecord(json)?.distributions;
    for (const { chargeId, appliedAmount, isActive } of (Array.isArray(parts) ? parts : []) as readonly Part[]) {
      if (isActive !== true || chargeId == null || appliedAmount == null) continue;
      const name = `${id} → ${chargeId}`;
      const sum = (sums.get(name)?.cents ?? 0) + (cents(appliedAmount) ?? 0);
      sums.set(name, { credit_id: id, charge_id: chargeId, cents: sum, by_insurance: byInsurance });
    }
  }
  return [...sums.values()];
}

function distributionTexts(rows: readonly DistributionRow[]): Map<string, string> {
  return new Map(rows.map((row) => [`${row.credit_id} → ${row.charge_id}`, `${row.cents} ${row.by_insurance}`]));
}

async function storedDistributions({ read }: CheckContext, page: RecordPage<TransactionRow>) {
  const rows = await read.all<DistributionRow>(
    sql`SELECT credit_id, charge_id, cents, by_insurance FROM distributions
      WHERE org = ${page.org} AND ${within('credit_id', page)}`,
  );
  return distributionTexts(rows);
}

/** What the ledger must have of the transactions of a page, by id. */
async function ledgerOf(context: CheckContext, page: RecordPage<TransactionRow>): Promise<Map<string, string>> {
  const { read } = context;
  const settled = await read.all<{ id: number; cents: number; insured: number }>(
    sql`SELECT charge_id AS id, CAST(SUM(cents) AS BIGINT) AS cents, CAST(SUM(cents * by_insurance) AS BIGINT) AS insured
      FROM distributions WHERE org = ${page.org} AND ${within('charge_id', page)} GROUP BY charge_id`,
  );
  const applied = await read.all<{ id: number; cents: number }>(
    sql`SELECT d.credit_id AS id, CAST(SUM(d.cents) AS BIGINT) AS cents FROM distributions d
      JOIN transactions c ON c.org = d.org AND c.id = d.charge_id AND c.is_active = 1 AND c.amount_cents > 0
      WHERE d.org = ${page.org} AND ${within('d.credit_id', page)} GROUP BY d.credit_id`,
  );
  const guarantors = await read.all<{ id: number; guarantor: number }>(
    sql`SELECT t.id, p.primary_guarantor_id AS guarantor FROM transactions t
      JOIN patients p ON p.org = t.org AND p.id = t.patient_id WHERE t.org = ${page.org} AND ${within('t.id', page)}`,
  );
  const byCharge = new Map(settled.map((row) => [row.id, row]));
  const byCredit = new Map(applied.map((row) => [row.id, row.cents]));
  const guarantorOf = new Map(guarantors.map((row) => [row.id, row.guarantor]));
  const rows = page.rows.filter(({ id, is_active }) => is_active === 1 && guarantorOf.has(id));
  return new Map(
    rows.map((row) => {
      const isCharge = row.amount_cents > 0;
      const charge = byCharge.get(row.id);
      const open = row.amount_cents + (isCharge ? -(charge?.cents ?? 0) : (byCredit.get(row.id) ?? 0));
      const insurance = (row.estimated_insurance_cents ?? 0) - (charge?.insured ?? 0);
      return [
        String(row.id),
        ledgerText({
          location_id: row.location_id ?? 0,
          guarantor_id: guarantorOf.get(row.id) ?? 0,
          transaction_date: row.transaction_date ?? '',
          is_charge: Number(isCharge),
          open_cents: open,
          insurance_cents: insurance,
          write_off_cents: row.estimated_write_off_cents ?? 0,
        }),
      ];
    }),
  );
}

interface LedgerRow {
  readonly location_id: number;
  readonly guarantor_id: number;
  readonly transaction_date: string;
  readonly is_charge: number;
  readonly open_cents: number;
  readonly insurance_cents: number;
  readonly write_off_cents: number;
}

async function storedLedger({ read }: CheckContext, page: RecordPage<TransactionRow>): Promise<Map<string, string>> {
  const rows = await read.all<LedgerRow & { id: number }>(
    sql`SELECT id, location_id, guarantor_id, transaction_date, is_charge, open_cents, insurance_cents, write_off_cents
      FROM ledger WHERE org = ${page.org} AND ${within('id', page)}`,
  );
  return new Map(rows.map((row) => [String(row.id), ledgerText(row)]));
}

function ledgerText(row: LedgerRow): string {
  const { location_id, guarantor_id, transaction_date, is_charge, open_cents, insurance_cents, write_off_cents } = row;
  return [location_id, guarantor_id, transaction_date, is_charge, open_cents, insurance_cents, write_off_cents].join(
    ' ',
  );
}
