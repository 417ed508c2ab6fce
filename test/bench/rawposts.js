// Writes the rows of the POSTs that a server has answered since the last time into a copy of its database, with nothing
// but the driver: so many records a transaction. Prints a line of JSON: records, and the seconds that writing took.
import { Database } from './driver.js';
import { insertInto, openRaw } from './rawrows.js';

const [from, to, group] = process.argv.slice(2);
const source = new Database(from, { readonly: true });
const target = openRaw(to);

/** Of each table the rows that are new, in their order: a POST adds one to each. */
const NEW = {
  patients: 'SELECT * FROM patients WHERE id > (SELECT MAX(id) FROM raw.patients) ORDER BY id',
  patients_phones_number: `SELECT * FROM patients_phones_number WHERE id > (SELECT MAX(id) FROM raw.patients) ORDER BY id`,
  stream_messages:
    'SELECT * FROM stream_messages WHERE seq > (SELECT COALESCE(MAX(seq), 0) FROM raw.stream_messages) ORDER BY seq',
  audit_entries: 'SELECT * FROM audit_entries WHERE id > (SELECT MAX(id) FROM raw.audit_entries) ORDER BY id',
  audit_patients: 'SELECT * FROM audit_patients WHERE entry > (SELECT MAX(id) FROM raw.audit_entries) ORDER BY entry',
  idempotency_keys:
    'SELECT * FROM idempotency_keys WHERE rowid > (SELECT COALESCE(MAX(rowid), 0) FROM raw.idempotency_keys) ORDER BY rowid',
};

/** Counters that the server keeps: written once a transaction, as they are after its rows. */
const HEADS = {
  sequences: `UPDATE sequences SET last_id = ? WHERE type = 'PatientV1'`,
  stream: `INSERT INTO stream_heads (org, seq, shared, floor, epoch, base)
    SELECT ?, ?, 0, 0, value, 0 FROM settings WHERE name = 'stream_epoch'
    ON CONFLICT (org) DO UPDATE SET seq = excluded.seq`,
  count: `UPDATE record_counts SET records = records + ? WHERE table_name = 'patients' AND place = ?`,
  audit: `UPDATE log_heads SET last_id = ?, hash = ? WHERE name = 'audit'`,
};

source.prepare('ATTACH ? AS raw').run(to);
const rows = Object.entries(NEW).map(([table, text]) => ({ table, rows: source.prepare(text).raw().all() }));
source.close();
const inserts = rows.map(({ table, rows }) => ({ rows, insert: insertInto(target, table) }));
const heads = Object.fromEntries(Object.entries(HEADS).map(([name, text]) => [name, target.prepare(text)]));
const last = (table, to) => rows.find((entry) => entry.table === table).rows[to - 1];
const columnOf = (table, wanted) => target.pragma(`table_info(${table})`).findIndex(({ name }) => name === wanted);
const place = columnOf('patients', 'preferred_location_id');
const hash = columnOf('audit_entries', 'hash');
const number = columnOf('stream_messages', 'seq');
const records = rows[0].rows.length;

const write = target.transaction((first, end) => {
  for (let index = first; index < end; index++) {
    for (const { rows, insert } of inserts) insert.run(rows[index]);
  }
  const [patient, message, entry] = ['patients', 'stream_messages', 'audit_entries'].map((table) => last(table, end));
  heads.sequences.run(patient[1]);
  heads.stream.run(message[0], message[number]);
  const counts = new Map();
  for (const row of rows[0].rows.slice(first, end)) counts.set(row[place], (counts.get(row[place]) ?? 0) + 1);
  for (const [where, count] of counts) heads.count.run(count, where);
  heads.audit.run(entry[0], entry[hash]);
});

const began = performance.now();
for (let first = 0; first < records; first += Number(group)) {
  write.immediate(first, Math.min(records, first + Number(group)));
}
const seconds = (performance.now() - began) / 1000;
target.close();
process.stdout.write(`${JSON.stringify({ records, seconds })}\n`);
