// Makes a large practice of a small one by copying its rows inside the database file, which takes a fraction of the
// time of importing them: what the server keeps beside the records (columns, side tables, ledger, distributions,
// indexes, sequences, counts) is copied with them; each copy has change dates of its own. `molar server check` finds
// nothing wrong with the result.
import { join } from 'node:path';
import { Database } from './driver.js';
import { LEDGER_DAYS, TODAY } from './practice.js';

/** What each copied table holds of ids, and of texts in which ids stand. */
const TABLES = {
  patients: {
    patients: ['id', 'primary_guarantor_id', 'duplicate_of_patient_id', 'primary_contact_id', 'referred_by_patient_id'],
    texts: ['json', 'email_address', 'chart_number'],
    changes: ['last_modified'],
  },
  patients_phones_number: { patients: ['id'] },
  transactions: { patients: ['patient_id'], transactions: ['id'], texts: ['json'], changes: ['last_modified'] },
  distributions: { transactions: ['charge_id', 'credit_id'] },
  ledger: { patients: ['guarantor_id'], transactions: ['id'] },
};

/**
 * Makes the practice of a data folder so many times as large. It has `patients` and `transactions` now, with ids one
 * after another as `writePractice` gives them, and nobody has it open.
 */
export function enlarge(folder, { patients, transactions }, times) {
  const database = new Database(join(folder, 'molar.sqlite'));
  try {
    // Nothing is lost when this ends early but a practice that can be made again.
    database.pragma('journal_mode = DELETE');
    database.pragma('synchronous = OFF');
    database.pragma('cache_size = -400000');
    database.function('moved', { deterministic: true }, (text, copy) =>
      moved(text, patients * copy, transactions * copy)?.replace(CHANGED, (time) => changed(time, copy)),
    );
    database.function('changed', { deterministic: true }, changed);
    database.exec('BEGIN');
    for (const [table, places] of Object.entries(TABLES)) {
      copyRows(database, table, places, { patients, transactions, times });
    }
    const raise = database.prepare('UPDATE sequences SET last_id = last_id + ? WHERE type = ?');
    raise.run(patients * (times - 1), 'PatientV1');
    raise.run(transactions * (times - 1), 'Transaction');
    database.exec(
      `UPDATE record_counts SET records = records * ${times} WHERE table_name IN ('patients', 'transactions')`,
    );
    database.exec('UPDATE ledger_versions SET version = version + 1, counted = version + 1; DELETE FROM ledger_blocks');
    const blocks =
      database.prepare(`INSERT INTO ledger_blocks SELECT org, location_id, @width, guarantor_id / @width, COUNT(*)
      FROM ledger GROUP BY org, location_id, guarantor_id / @width`);
    for (const bits of [10n, 20n, 30n, 40n]) blocks.run({ width: 2n ** bits });
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

function copyRows(database, table, places, { patients, transactions, times }) {
  const indexes = database
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
    .all(table);
  const columns = database.pragma(`table_info(${table})`).map(({ name }) => name);
  const copied = columns.map((name) => {
    if (places.patients?.includes(name)) return `${name} + @copy * ${patients}`;
    if (places.transactions?.includes(name)) return `${name} + @copy * ${transactions}`;
    if (places.changes?.includes(name)) return `changed(${name}, @copy)`;
    return places.texts?.includes(name) ? `moved(${name}, @copy)` : name;
  });
  database.exec(`CREATE TEMP TABLE originals AS SELECT * FROM ${table}`);
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
  const copy = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${copied.join(', ')} FROM originals ORDER BY rowid`,
  );
  for (let number = 1; number < times; number++) copy.run({ copy: number });
  for (const { sql } of indexes) database.exec(sql);
  database.exec('DROP TABLE originals');
}

const CHANGED = /(?<="lastModified":")[^"]+/;

/** The change date of a copy: anywhere in the two years in which the original may lie, too. */
function changed(time, copy) {
  if (time === null) return null;
  const years = LEDGER_DAYS * 86_400_000;
  const before = (TODAY - Date.parse(time) + copy * COPIES_APART) % years;
  return new Date(TODAY - before).toISOString();
}

/** Milliseconds: no thousand copies come near each other. */
const COPIES_APART = 25_985_743_000;

/**
 * Gives the last patients of a practice change dates of ten years ago, in the order of their ids: as if they had come
 * from a practice that was closed then.
 */
export function takeOver(folder, patients) {
  const database = new Database(join(folder, 'molar.sqlite'));
  try {
    const last = database.prepare('SELECT id FROM patients ORDER BY id DESC LIMIT ?').pluck().all(patients);
    const set = database.prepare(
      "UPDATE patients SET last_modified = @time, json = json_set(json, '$.lastModified', @time) WHERE id = @id",
    );
    database.transaction(() => {
      for (const [at, id] of last.entries()) {
        set.run({ id, time: new Date(Date.UTC(2016, 0, 1) - (at + 1) * 1000).toISOString() });
      }
    })();
  } finally {
    database.close();
  }
}

/** A record's text, or a column of it, with the ids, chart number and address of a copy. */
function moved(text, patients, transactions) {
  if (text === null) return null;
  return text
    .replace(/\b[79]0\d{11}\b/g, (id) => String(Number(id) + (id[0] === '7' ? patients : transactions)))
    .replace(/\bpatient(\d+)@/, (_, index) => `patient${Number(index) + patients}@`)
    .replace(/\bB(\d{7})\b/, (_, index) => `B${String(Number(index) + patients).padStart(7, '0')}`);
}
