import { chmodSync } from 'node:fs';
import { loadDriver } from '../../src/sqlite/open.ts';

/** A mirror as its contract describes it, made by hand with the driver alone: two patients, no appointments yet. */
export function makeMirror(file: string, ...more: readonly string[]): string {
  const database = new (loadDriver())(file);
  database.pragma('journal_mode = WAL');
  database.pragma('application_id = 0x6d6f6c72');
  database.pragma('user_version = 1');
  for (const statement of [...STATEMENTS, ...more]) database.exec(statement);
  database.close();
  chmodSync(file, 0o600);
  return file;
}

const FACTS = "'org-1', 'https://api.example.com', 0, 0";

const STATEMENTS = [
  `CREATE TABLE _mirror (resource TEXT PRIMARY KEY, table_name TEXT, organization TEXT, url TEXT, rows INTEGER,
     deleted_rows INTEGER, complete INTEGER, as_of TEXT, position TEXT, changes TEXT, deletes TEXT, verified_at TEXT,
     unavailable TEXT, about TEXT)`,
  `INSERT INTO _mirror VALUES
     ('patients', 'patients', ${FACTS}, 1, '2026-11-22T05:00:00.000Z', NULL, 'lastModified', 'ids', NULL, NULL, ''),
     ('patientinsuranceplans', 'patient_insurance_plans', ${FACTS}, 1, '2026-11-22T05:00:00.000Z', NULL, 'lastModified', 'ids', NULL, NULL, ''),
     ('appointments', 'appointments', ${FACTS}, 0, NULL, NULL, NULL, NULL, NULL, NULL, ''),
     ('events', 'events', ${FACTS}, 0, NULL, NULL, NULL, NULL, NULL, 'the token may not read it (403)', '')`,
  'CREATE TABLE patients (id INTEGER PRIMARY KEY, first_name TEXT, balance_cents INTEGER, first_visit_date TEXT, _synced_at TEXT, _record TEXT)',
  `CREATE TABLE patient_phones (patient_id INTEGER, ordinal INTEGER, number TEXT, PRIMARY KEY (patient_id, ordinal)) WITHOUT ROWID`,
  'CREATE TABLE patient_insurance_plans (id INTEGER PRIMARY KEY, patient_id INTEGER, _record TEXT)',
  'CREATE TABLE appointments (id INTEGER PRIMARY KEY, patient_id INTEGER, start TEXT)',
  'CREATE TABLE appointments_deleted (id INTEGER PRIMARY KEY, patient_id INTEGER, start TEXT, _deleted_at TEXT)',
  'CREATE TABLE events (id INTEGER PRIMARY KEY)',
  'CREATE INDEX appointments_by_patient_id ON appointments (patient_id)',
  'CREATE VIEW v_visits AS SELECT patients.id AS patient_id, max(start) AS next_visit FROM patients LEFT JOIN appointments ON appointments.patient_id = patients.id GROUP BY 1',
  "INSERT INTO patients VALUES (5, 'Ann', -1250, '2020-02-29', '2026-11-22T05:00:00.000Z', '{}'), (9007199254740993, '=Bob', NULL, NULL, '2026-11-22T05:00:00.000Z', '{}')",
  "INSERT INTO patient_phones VALUES (5, 1, '555-0100')",
];
