import { describe, expect, it } from 'vitest';
import { checkLedger } from '../../../src/server/maintenance/check/ledger.ts';
import { foundIn } from './barechecks.ts';

const TABLES = `
  CREATE TABLE transactions (org, id, json, ledger_type, is_active, amount_cents, transaction_date, location_id, patient_id,
    estimated_insurance_cents, estimated_write_off_cents);
  CREATE TABLE patients (org, id, primary_guarantor_id);
  CREATE TABLE distributions (org, charge_id, credit_id, cents, by_insurance);
  CREATE TABLE ledger (org, location_id, guarantor_id, id, transaction_date, is_charge, open_cents, insurance_cents, write_off_cents);
  CREATE TABLE ledger_blocks (org, location_id, width, block, transactions);
  CREATE TABLE ledger_changes (org, id);`;

/**
 * Two organizations, each with more transactions than are read at once: charges of $100.00 by even ids, and a credit of
 * $30.00 behind each, of which $20.00 settle it. The pages of the first end between the two.
 */
const LARGE = `
  INSERT INTO patients VALUES (1, 5, 5), (1, 6, 5), (2, 5, 5);
  WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 1101)
  INSERT INTO transactions SELECT org, id,
    CASE id % 2 WHEN 0 THEN '{}' ELSE '{"distributions":[{"chargeId":' || (id - 1) || ',"appliedAmount":20,"isActive":true}]}' END,
    CASE id % 2 WHEN 0 THEN 'Procedure' ELSE 'Payment' END, 1, CASE id % 2 WHEN 0 THEN 10000 ELSE -3000 END,
    '2026-03-0' || (1 + id % 9), CASE id % 3 WHEN 0 THEN NULL ELSE 7 END, 5, CASE id % 2 WHEN 0 THEN 4000 END, CASE id % 2 WHEN 0 THEN 500 END
    FROM n CROSS JOIN (SELECT 1 AS org UNION ALL SELECT 2) WHERE id > 1 AND (org = 1 OR id < 700);
  INSERT INTO distributions SELECT org, id - 1, id, 2000, 0 FROM transactions WHERE id % 2 = 1;
  INSERT INTO ledger SELECT org, COALESCE(location_id, 0), 5, id, transaction_date, 1 - id % 2,
    CASE WHEN id % 2 = 1 THEN -1000 WHEN EXISTS (SELECT 1 FROM transactions c WHERE c.org = t.org AND c.id = t.id + 1) THEN 8000 ELSE 10000 END,
    COALESCE(estimated_insurance_cents, 0), COALESCE(estimated_write_off_cents, 0) FROM transactions t;`;

/** What is out of the ordinary, and how it is in the ledger. */
const ODD = `
  UPDATE transactions SET ledger_type = 'InsurancePayment' WHERE org = 1 AND id = 11;
  UPDATE distributions SET by_insurance = 1 WHERE org = 1 AND credit_id = 11;
  UPDATE ledger SET insurance_cents = 2000 WHERE org = 1 AND id = 10;
  UPDATE transactions SET json = '{"distributions":[{"chargeId":20,"appliedAmount":12.34,"isActive":true},{"chargeId":20,"appliedAmount":7.66,"isActive":true},{"chargeId":22,"appliedAmount":5,"isActive":false},{"chargeId":null,"appliedAmount":5,"isActive":true},{"chargeId":24,"appliedAmount":null,"isActive":true}]}' WHERE org = 1 AND id = 21;
  UPDATE transactions SET is_active = 0 WHERE org = 1 AND id IN (30, 41);
  DELETE FROM ledger WHERE org = 1 AND id IN (30, 41);
  UPDATE ledger SET open_cents = -3000 WHERE org = 1 AND id = 31;
  DELETE FROM distributions WHERE org = 1 AND credit_id = 41;
  UPDATE ledger SET open_cents = 10000 WHERE org = 1 AND id = 40;
  UPDATE transactions SET patient_id = 6 WHERE org = 1 AND id IN (50, 51);`;

const BLOCKS = `
  INSERT INTO ledger_blocks SELECT l.org, l.location_id, w.width, l.guarantor_id / w.width, COUNT(*) FROM ledger l
    CROSS JOIN (SELECT 1024 AS width UNION ALL SELECT 1048576 UNION ALL SELECT 1073741824 UNION ALL SELECT 1099511627776) w
    GROUP BY l.org, l.location_id, w.width, l.guarantor_id / w.width;`;

const found = (damage: string) => foundIn(`${TABLES}${LARGE}${ODD}${BLOCKS}${damage}`, checkLedger);

const disagrees = (id: number, org = 1) => `${org} ledger ${id}: does not agree with transactions`;

describe('the check of a ledger that is read page by page', () => {
  it('finds no fault with one that is as it should be', async () => {
    expect(await found('')).toEqual([]);
  });

  it.each([
    ['location_id', 9],
    ['guarantor_id', 6],
    ['transaction_date', "'2026-02-01'"],
    ['is_charge', 2],
    ['open_cents', 7999],
    ['insurance_cents', 1],
    ['write_off_cents', 1],
  ])('finds another %s, at the ends of pages and behind the last one', async (column, value) => {
    // 501 is the last one of the first page, for 1 is not there.
    const ids = [10, 500, 501, 502, 1000, 1001, 1002, 1101];
    expect(await found(`UPDATE ledger SET ${column} = ${value} WHERE org = 1 AND id IN (${ids})`)).toEqual(
      ids.map((id) => disagrees(id)),
    );
  });

  it.each<[string, string, readonly string[]]>([
    [
      'a row that is missing at the end of a page',
      'DELETE FROM ledger WHERE id = 501 AND org = 1',
      ['1 ledger 501: is missing'],
    ],
    [
      'a row behind all transactions',
      "INSERT INTO ledger VALUES (1, 7, 5, 5000, '2026-03-01', 1, 1, 0, 0)",
      ['1 ledger 5000: should not be there'],
    ],
    [
      'a row of an inactive transaction',
      "INSERT INTO ledger VALUES (1, 0, 5, 30, '2026-03-04', 1, 8000, 4000, 500)",
      ['1 ledger 30: should not be there'],
    ],
    [
      'distributions of an organization without transactions',
      'INSERT INTO distributions VALUES (9, 2, 3, 500, 0)',
      ['9 distributions 3 → 2: should not be there'],
    ],
    [
      'the ledger of an organization without transactions',
      "INSERT INTO ledger VALUES (9, 7, 5, 3, '2026-03-01', 1, 1, 0, 0)",
      ['9 ledger 3: should not be there'],
    ],
    [
      'blocks of an organization with nothing else',
      'INSERT INTO ledger_blocks VALUES (9, 0, 1024, 0, 5)',
      ['9 ledger_blocks 0 1024 0: does not agree with ledger'],
    ],
    [
      'a distribution on the next page of what it settles',
      'UPDATE distributions SET cents = 2001 WHERE org = 1 AND credit_id = 1001',
      ['1 distributions 1001 → 1000: does not agree with transactions', disagrees(1000), disagrees(1001)],
    ],
    [
      'who has paid',
      'UPDATE distributions SET by_insurance = 0 WHERE org = 1 AND credit_id = 11',
      ['1 distributions 11 → 10: does not agree with transactions', disagrees(10)],
    ],
    [
      'wrong blocks of one organization beside the wrong ledger of another, whose blocks are made again with it',
      'UPDATE ledger SET open_cents = 1 WHERE org = 1 AND id = 2; UPDATE ledger_blocks SET transactions = 1 WHERE width = 1024 AND location_id = 7',
      [disagrees(2), '2 ledger_blocks 7 1024 0: does not agree with ledger'],
    ],
    [
      'one change that waits',
      'INSERT INTO ledger_changes VALUES (1, 9)',
      ['ledger_changes: 1 changes have not been applied'],
    ],
  ])('finds %s', async (_name, damage, told) => {
    expect(await found(damage)).toEqual(told);
  });
});
