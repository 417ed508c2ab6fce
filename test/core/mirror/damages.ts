/** Ids that exist in every practice, as SQL: a patient with phones, and a credit that was applied. */
export const PATIENT = '(SELECT min(patient_id) FROM patient_phones)';
export const CREDIT = '(SELECT min(transaction_id) FROM transaction_distributions)';
const LAST = '(SELECT max(id) FROM patients)';

/** What may happen to a file, and what is to be found: ids as SQL, before the damage. */
export const DAMAGES: readonly (readonly [string, string, string, Readonly<Record<string, string | string[]>>])[] = [
  ['a row is gone', `DELETE FROM patients WHERE id = ${PATIENT}`, 'patients', { missing: PATIENT }],
  [
    'a row is gone with the entries of its lists',
    `CREATE TEMP TABLE gone AS SELECT ${PATIENT} AS id;
    DELETE FROM patients WHERE id = (SELECT id FROM gone); DELETE FROM patient_phones WHERE patient_id = (SELECT id FROM gone)`,
    'patients',
    { missing: PATIENT },
  ],
  [
    'a record is gone of those that cannot be asked for by id',
    'DELETE FROM schedule_template_reasons WHERE id = (SELECT min(id) FROM schedule_template_reasons)',
    'scheduletemplatereasons',
    { missing: '(SELECT min(id) FROM schedule_template_reasons)' },
  ],
  ['a transaction is gone', `DELETE FROM transactions WHERE id = ${CREDIT}`, 'transactions', { missing: CREDIT }],
  [
    'an event is gone',
    'DELETE FROM events WHERE id = (SELECT min(id) FROM events)',
    'events',
    { missing: '(SELECT min(id) FROM events)' },
  ],
  [
    'a column is another one',
    `UPDATE patients SET first_name = 'Eve' WHERE id = ${PATIENT}`,
    'patients',
    { different: PATIENT, fields: ['firstName'] },
  ],
  [
    'a column is null',
    `UPDATE patients SET last_name = NULL WHERE id = ${PATIENT}`,
    'patients',
    { different: PATIENT, fields: ['lastName'] },
  ],
  [
    'an amount is a cent more',
    `UPDATE transactions SET amount_cents = amount_cents + 1 WHERE id = ${CREDIT}`,
    'transactions',
    { different: CREDIT, fields: ['amount'] },
  ],
  [
    'a column and the raw record agree on a lie',
    `UPDATE patients SET first_name = 'Eve', _record = json_set(_record, '$.firstName', 'Eve') WHERE id = ${LAST}`,
    'patients',
    { different: LAST, fields: ['firstName'] },
  ],
  [
    'the raw record alone is another one',
    `UPDATE patients SET _record = json_set(_record, '$.firstName', 'Eve') WHERE id = ${PATIENT}`,
    'patients',
    { different: PATIENT, fields: ['_record'] },
  ],
  [
    'the raw record is no JSON',
    `UPDATE patients SET _record = 'x' WHERE id = ${PATIENT}`,
    'patients',
    { different: PATIENT, fields: ['_record'] },
  ],
  [
    'a link leads elsewhere',
    `UPDATE patients SET preferred_location_id = 1 WHERE id = ${PATIENT}`,
    'patients',
    { different: PATIENT, fields: ['preferredLocation'] },
  ],
  [
    'an entry of a list is another one',
    `UPDATE patient_phones SET number = '5' WHERE patient_id = ${PATIENT} AND ordinal = 1`,
    'patients',
    { different: PATIENT, fields: ['phones'] },
  ],
  [
    'an entry of a list is gone',
    `DELETE FROM transaction_distributions WHERE transaction_id = ${CREDIT} AND ordinal = 1`,
    'transactions',
    { different: CREDIT, fields: ['distributions'] },
  ],
  [
    'an entry of a list is too many',
    `INSERT INTO patient_phones (patient_id, ordinal, number) VALUES (${PATIENT}, 99, '5')`,
    'patients',
    { different: PATIENT, fields: ['phones'] },
  ],
  [
    'an entry of a list is of nobody',
    `INSERT INTO patient_phones (patient_id, ordinal, number) VALUES (77, 1, '5')`,
    'patients',
    { extra: "'77'" },
  ],
  [
    'a row is too many',
    `INSERT INTO patients (id, first_name, _synced_at, _record) VALUES (77, 'Eve', '2026-01-01T00:00:00.000Z', '{"id":77}')`,
    'patients',
    { extra: "'77'" },
  ],
  [
    'a transaction is too many, which looks as if it had been synced',
    `INSERT INTO transactions (id, ledger_type, _synced_at, _record)
    VALUES (77, 'PatientProcedureLedger', '2026-01-01T00:00:00.000Z', '{"id":77,"ledgerType":"PatientProcedureLedger"}')`,
    'transactions',
    { extra: "'77'" },
  ],
  [
    'a record has another id',
    `UPDATE patients SET id = 77 WHERE id = ${LAST}`,
    'patients',
    { extra: "'77'", missing: LAST },
  ],
];
