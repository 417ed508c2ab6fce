// The aging report of a location as one statement of SQL over the server's database file: what somebody would write
// who has nothing but the file. One row a guarantor that owes or has credits, in whole cents.

/** The amounts of a row, by the path that each has in a record of the API. */
export const AMOUNTS = {
  ...Object.fromEntries(
    ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'].flatMap((bucket) =>
      ['guarantorPortion', 'insurancePortion', 'writeOff'].map((part) => [
        `${bucket}_${part}`,
        [`${bucket}Portion`, part],
      ]),
    ),
  ),
  credits: ['unAppliedCredits'],
};

/** Sums by guarantor of rows that have `bucket` (null for credits), `open`, `write_off` and `insurance` (D34). */
const SUMS = `
  SELECT guarantor,
    ${['current', 'thirtyDays', 'sixtyDays', 'ninetyDays']
      .flatMap((name, bucket) => [
        `COALESCE(SUM(open - write_off - insurance) FILTER (WHERE bucket = ${bucket}), 0) AS ${name}_guarantorPortion`,
        `COALESCE(SUM(insurance) FILTER (WHERE bucket = ${bucket}), 0) AS ${name}_insurancePortion`,
        `COALESCE(SUM(write_off) FILTER (WHERE bucket = ${bucket}), 0) AS ${name}_writeOff`,
      ])
      .join(',\n    ')},
    COALESCE(SUM(open) FILTER (WHERE bucket IS NULL), 0) AS credits
  FROM split GROUP BY guarantor
  HAVING SUM(open <> 0) > 0 ORDER BY guarantor`;

/** The parts of what is open: the write-off first, then insurance; the rest is the guarantor's. */
const SPLIT = `
  split AS (
    SELECT guarantor, bucket, open, MIN(write_off, open) AS write_off,
      MIN(MAX(insurance, 0), open - MIN(write_off, open)) AS insurance
    FROM items WHERE open <> 0
  )`;

const BUCKET = `CASE WHEN date >= @thirty THEN 0 WHEN date >= @sixty THEN 1 WHEN date >= @ninety THEN 2 ELSE 3 END`;

/** From the transactions and what credits distribute over charges. */
export const OF_TRANSACTIONS = `
  WITH active AS (
    SELECT t.id, t.amount_cents AS amount, t.transaction_date AS date, p.primary_guarantor_id AS guarantor,
      COALESCE(t.estimated_insurance_cents, 0) AS insurance, COALESCE(t.estimated_write_off_cents, 0) AS write_off
    FROM transactions t CROSS JOIN patients p
    WHERE t.org = @org AND t.location_id = @location AND t.is_active = 1 AND p.org = t.org AND p.id = t.patient_id
  ),
  items AS (
    SELECT a.guarantor, ${BUCKET} AS bucket, a.amount - COALESCE(SUM(d.cents), 0) AS open,
      a.insurance - COALESCE(SUM(d.cents * d.by_insurance), 0) AS insurance, a.write_off
    FROM active a LEFT JOIN distributions d ON d.org = @org AND d.charge_id = a.id
    WHERE a.amount > 0 GROUP BY a.id
    UNION ALL
    SELECT a.guarantor, NULL, a.amount + COALESCE(SUM(d.cents) FILTER (WHERE c.is_active = 1 AND c.amount_cents > 0), 0), 0, 0
    FROM active a LEFT JOIN distributions d ON d.org = @org AND d.credit_id = a.id
      LEFT JOIN transactions c ON c.org = @org AND c.id = d.charge_id
    WHERE a.amount <= 0 GROUP BY a.id
  ),${SPLIT}${SUMS}`;

/** From the ledger, in which the server keeps what is open of each transaction. */
export const OF_LEDGER = `
  WITH items AS (
    SELECT guarantor_id AS guarantor, CASE WHEN is_charge THEN ${BUCKET.replaceAll('date', 'transaction_date')} END AS bucket,
      open_cents AS open, insurance_cents AS insurance, write_off_cents AS write_off
    FROM ledger WHERE org = @org AND location_id = @location
  ),${SPLIT}${SUMS}`;
