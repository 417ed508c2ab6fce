import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Reader, Transaction } from '../../store/store.ts';

/**
 * Ids of guarantors that a block spans, from the widest down: how many transactions of the ledger each block has is kept
 * at every width, so that a change of the ledger writes one row of each, and what comes after so many transactions is
 * found by reading a thousand rows of each at most, whatever the ids.
 */
const WIDTHS = [40, 30, 20, 10].map((bits) => 2 ** bits);

/** The widths as rows, to join with. */
const EACH_WIDTH = raw(`(${WIDTHS.map((width) => `SELECT CAST(${width} AS BIGINT) AS width`).join(' UNION ALL ')})`);

/**
 * Adds to the blocks what the noted changes, a table of `org` and `id`, will change of the ledger: call it before they are
 * settled. `after`: the rows of the ledger that there will be, as `org`, `location_id` and `guarantor_id`.
 */
export async function changeBlocks(tx: Transaction, noted: Sql, after: Sql): Promise<void> {
  await addBlocks(
    tx,
    sql`SELECT l.org, l.location_id, l.guarantor_id, -1 AS transactions
      FROM ${noted} AS n CROSS JOIN ledger l WHERE l.org = n.org AND l.id = n.id
      UNION ALL SELECT a.org, a.location_id, a.guarantor_id, 1 FROM (${after}) AS a`,
  );
}

/** Makes the blocks of an organization anew from its ledger, and notes that they are those of the ledger's version. */
export async function fillBlocks(tx: Transaction, org: number): Promise<void> {
  await tx.run(sql`DELETE FROM ledger_blocks WHERE org = ${org}`);
  await addBlocks(
    tx,
    sql`SELECT org, location_id, guarantor_id, COUNT(*) AS transactions FROM ledger WHERE org = ${org}
      GROUP BY org, location_id, guarantor_id`,
  );
  await tx.run(sql`UPDATE ledger_versions SET counted = version WHERE org = ${org}`);
}

/** In the order of their key, in which every transaction takes the rows. */
async function addBlocks(tx: Transaction, changes: Sql): Promise<void> {
  await tx.run(sql`INSERT INTO ledger_blocks (org, location_id, width, block, transactions)
    SELECT c.org, c.location_id, w.width, c.guarantor_id / w.width, SUM(c.transactions)
    FROM (${changes}) AS c CROSS JOIN ${EACH_WIDTH} AS w
    GROUP BY c.org, c.location_id, w.width, c.guarantor_id / w.width HAVING SUM(c.transactions) <> 0
    ORDER BY 1, 2, 3, 4
    ON CONFLICT (org, location_id, width, block) DO UPDATE SET transactions = ledger_blocks.transactions + excluded.transactions`);
}

/** The statement that finds blocks of an organization that are not those of its ledger. */
export function wrongBlocks(org: number, limit: number): Sql {
  return sql`SELECT d.location_id, d.width, d.block FROM (
      SELECT location_id, width, block, transactions FROM ledger_blocks WHERE org = ${org}
      UNION ALL SELECT l.location_id, w.width, l.guarantor_id / w.width, -l.transactions
        FROM (SELECT location_id, guarantor_id, COUNT(*) AS transactions FROM ledger WHERE org = ${org}
          GROUP BY location_id, guarantor_id) AS l CROSS JOIN ${EACH_WIDTH} AS w
    ) AS d GROUP BY d.location_id, d.width, d.block HAVING SUM(d.transactions) <> 0
    ORDER BY d.location_id, d.width, d.block LIMIT ${limit}`;
}

/** A run of guarantors, and how many transactions it has. */
interface Run {
  readonly first: number;
  readonly transactions: number;
}

/** The guarantors of a location's ledger, or of all of it, in the order of their ids, by how many transactions are before them. */
export class GuarantorOrder {
  /** What one page has read is the way to its end, too. */
  private readonly known = new Map<string, Promise<Run[]>>();

  constructor(
    private readonly read: Reader,
    private readonly org: number,
    private readonly location: number | 'ALL',
  ) {}

  async total(): Promise<number> {
    return (await this.blocks(WIDTHS[0] as number, 0, Number.MAX_SAFE_INTEGER)).reduce(
      (sum, { transactions }) => sum + transactions,
      0,
    );
  }

  /** An id that no guarantor is below who has so many transactions of others, or more, before their own; all others are. */
  async after(transactions: number): Promise<number> {
    if (transactions <= 0) return 0;
    let left = transactions;
    let [from, until] = [0, Number.MAX_SAFE_INTEGER];
    for (const width of WIDTHS) {
      // Who is wanted is in the last block that begins before, or is the first after it.
      const reached = lastBefore(await this.blocks(width, from, until), left);
      if (reached === undefined) return from;
      left -= reached.before;
      [from, until] = [reached.first, reached.first + width];
    }
    let before = 0;
    for (const { first, transactions: own } of await this.guarantors(from, until)) {
      if (before >= left) return first;
      before += own;
    }
    return until;
  }

  private blocks(width: number, from: number, until: number): Promise<Run[]> {
    return this.once(
      `${width} ${from}`,
      sql`SELECT l.block * l.width AS first, CAST(SUM(l.transactions) AS BIGINT) AS transactions FROM ledger_blocks l
        WHERE ${this.there()} AND l.width = ${width} AND l.block >= ${Math.floor(from / width)}
          AND l.block < ${Math.ceil(until / width)}
        GROUP BY l.block, l.width ORDER BY l.block`,
    );
  }

  private guarantors(from: number, until: number): Promise<Run[]> {
    return this.once(
      `${from}`,
      sql`SELECT l.guarantor_id AS first, COUNT(*) AS transactions FROM ledger l
        WHERE ${this.there()} AND l.guarantor_id >= ${from} AND l.guarantor_id < ${until}
        GROUP BY l.guarantor_id ORDER BY l.guarantor_id`,
    );
  }

  private there(): Sql {
    const all = sql`l.org = ${this.org}`;
    return this.location === 'ALL' ? all : join([all, sql`l.location_id = ${this.location}`], ' AND ');
  }

  private once(name: string, statement: Sql): Promise<Run[]> {
    const known = this.known.get(name) ?? this.read.all<Run>(statement);
    this.known.set(name, known);
    return known;
  }
}

/** The last run that fewer transactions are before, and how many those are. */
function lastBefore(runs: readonly Run[], transactions: number): { first: number; before: number } | undefined {
  let before = 0;
  let last: { first: number; before: number } | undefined;
  for (const { first, transactions: own } of runs) {
    if (before >= transactions) break;
    last = { first, before };
    before += own;
  }
  return last;
}
