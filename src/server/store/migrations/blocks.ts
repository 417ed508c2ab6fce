import type { Migration } from './dialects.ts';

/** The ledger in blocks of guarantors, by which a page of the aging report is found. */
export const BLOCKS: Migration = {
  name: 'blocks',
  statements: [
    // How many rows of the ledger each block of guarantors has, by its width (reports/aging/blocks.ts).
    `CREATE TABLE ledger_blocks (org INTEGER NOT NULL, location_id INTEGER NOT NULL, width INTEGER NOT NULL, block INTEGER NOT NULL,
      transactions INTEGER NOT NULL, PRIMARY KEY (org, location_id, width, block)) WITHOUT ROWID`,
    // The version of the ledger that its blocks are of: an earlier molar raises the version alone. Noted before they are
    // made, so that it cannot write in between unnoticed.
    'ALTER TABLE ledger_versions ADD COLUMN counted INTEGER NOT NULL DEFAULT 0',
    'UPDATE ledger_versions SET counted = version',
    ...[10, 20, 30, 40].map((bits) => {
      const [width, from] = [2 ** bits, bits === 10 ? 'ledger' : 'ledger_blocks'];
      const block = bits === 10 ? `guarantor_id / ${width}` : 'block / 1024';
      const only = bits === 10 ? '' : ` WHERE width = ${width / 1024}`;
      return `INSERT INTO ledger_blocks (org, location_id, width, block, transactions)
        SELECT org, location_id, ${width}, ${block}, ${bits === 10 ? 'COUNT(*)' : 'SUM(transactions)'} FROM ${from}${only}
        GROUP BY org, location_id, ${block}`;
    }),
  ],
};
