import { describe, expect, it } from 'vitest';
import { checkPlace } from '../../../src/server/maintenance/check/check.ts';
import { big, LOCATIONS, ORGANIZATION, PATIENTS } from '../../support/ids.ts';
import { check, copied, inDatabase, linesOf, sharedPractice, spoil, stoppingAt } from './practices.ts';
import { type Damage, like, RARE_DAMAGES, RARE_DAMAGES_APART, unmatched } from './raredamages.ts';

const practice = sharedPractice();
const OTHER = "UPDATE schema_state SET value = 'other' WHERE name = 'fingerprint'";
const copy = () => copied(practice.base, practice.fresh());

const ANN = PATIENTS.ann;

/** Damages that stand side by side, so that one check finds all of them. */
const DAMAGES: readonly Damage[] = [
  [
    'JSON cut short',
    `UPDATE appointmenthistories SET json = substr(json, 1, 20) WHERE id = (SELECT MAX(id) FROM appointmenthistories)`,
    [like(/^records appointmenthistories \d+: its JSON cannot be read$/)],
  ],
  [
    'JSON with another id',
    `UPDATE transactiontags SET json = replace(json, '"id":${big(304)}', '"id":${big(399)}') WHERE id = ${big(304)}`,
    [`records transactiontags ${big(304)}: its JSON has another id`],
  ],
  [
    'a filter column',
    `UPDATE patients SET last_name_fold = 'jones' WHERE id = ${ANN} AND org = 1`,
    [`records patients ${ANN}: column last_name_fold does not agree with its JSON`],
  ],
  [
    'the owner of a document',
    `UPDATE documents SET owner = 'p5' WHERE org = 1 AND id = (SELECT MAX(id) FROM documents WHERE org = 1)`,
    [like(/^records documents \d+: column owner does not agree/)],
  ],
  [
    'the amount of a transaction',
    `UPDATE transactions SET amount_cents = 499 WHERE id = ${big(404)}`,
    [
      `records transactions ${big(404)}: column amount_cents does not agree with its JSON`,
      `ledger ledger ${big(404)}: does not agree with transactions`,
    ],
  ],
  [
    'a reference record filed elsewhere',
    `UPDATE reference_records SET filed_under = 5 WHERE type = 'InsuranceClaim' AND filed_under = ${ANN}`,
    [`records reference_records InsuranceClaim ${big(71)}: column filed_under does not agree with its JSON`],
  ],
  [
    'a phone number by which nobody is found',
    `DELETE FROM patients_phones_number WHERE id = ${ANN} AND org = 1`,
    [`values patients_phones_number ${ANN}: does not agree with patients`],
  ],
  [
    'a phone number of nobody',
    `INSERT INTO patients_phones_number (org, value, id) VALUES (1, '8015550199', 3)`,
    ['values patients_phones_number 3: is of a record that is not in patients'],
  ],
  [
    'a tag that is not kept',
    `DELETE FROM document_tags WHERE name = 'Only here'`,
    [like(/^values documents \d+: has a tag that is not in document_tags$/)],
  ],
  [
    'a record that is gone',
    `DELETE FROM reference_records WHERE type = 'PerioExam' AND id = ${big(32)}`,
    [`links documents ${big(208)}: ownerPerioExam leads to PerioExam ${big(32)}, which does not exist`],
  ],
  [
    'referrals that the referrer does not list',
    `UPDATE patients SET referred_by_patient_id = NULL, json = json_set(json, '$.referredByPatient', NULL) WHERE id = ${PATIENTS.cleo} AND org = 1`,
    [`links patients ${ANN}: referredPatients are not the patients that it referred`],
  ],
  [
    'rows of no organization',
    `INSERT INTO events (org, id, json) VALUES (77, 5, '{"id":5}')`,
    [
      'links events: rows of organization key 77, which does not exist',
      'sequences sequences EventV1: the last id given is unknown, but 5 is there',
    ],
  ],
  [
    'a distribution that is missing',
    `DELETE FROM distributions WHERE credit_id = ${big(403)}`,
    [
      `ledger distributions ${big(403)} → ${big(401)}: is missing`,
      `ledger ledger ${big(401)}: does not agree with transactions`,
      `ledger ledger ${big(403)}: does not agree with transactions`,
    ],
  ],
  [
    'a count of records',
    `UPDATE record_counts SET records = 77 WHERE org = 1 AND table_name = 'transactiontags'`,
    [like(/^counts record_counts transactiontags: says 77 transaction tags, but there are \d+$/)],
  ],
  [
    'a count that is missing',
    `DELETE FROM record_counts WHERE org = 1 AND table_name = 'appointments' AND place = ${LOCATIONS.east}`,
    [like(new RegExp(`^counts record_counts appointments: says 0 appointments at location ${LOCATIONS.east}, but`))],
  ],
  [
    'a ledger row of no transaction',
    `INSERT INTO ledger VALUES (1, ${LOCATIONS.east}, ${ANN}, 9, '2026-01-01', 1, 5, 0, 0)`,
    ['ledger ledger 9: should not be there'],
  ],
  [
    'changes of the ledger that were not worked in',
    'INSERT INTO ledger_changes (org, id) VALUES (1, 9)',
    ['ledger ledger_changes: 1 changes have not been applied'],
  ],
  [
    'a sequence below an id',
    `UPDATE sequences SET last_id = 5 WHERE type = 'PatientV1' AND org = 1`,
    [`sequences sequences PatientV1: the last id given is 5, but ${big(109)} is there`],
  ],
  [
    'an occurrence with another recurrence',
    `UPDATE events SET json = json_set(json, '$.recurrenceFrequency', 9) WHERE id = (SELECT MAX(e.id) FROM events e
       WHERE EXISTS (SELECT 1 FROM events f WHERE f.org = e.org AND f.group_id = e.group_id AND f.id < e.id))`,
    [like(/^series events \d+: has another recurrence/)],
  ],
  [
    'a gap in the stream',
    'DELETE FROM stream_messages WHERE org = 1 AND seq IN (2, 3)',
    ['stream stream_messages 2: and those up to 3 are missing'],
  ],
  [
    'a floor above messages',
    'UPDATE stream_heads SET floor = 1 WHERE org = 1',
    ['stream stream_messages 1: should have been deleted: the floor is 1'],
  ],
  [
    'a head below the last message',
    'UPDATE stream_heads SET seq = seq - 1 WHERE org = 1',
    [like(/^stream stream_messages \d+: is above the head, which is \d+$/)],
  ],
  [
    'a message of another organization',
    `UPDATE stream_messages SET routing_key = 'nobody.*.PatientV1.CREATE' WHERE org = 1 AND seq = 4`,
    ['stream stream_messages 4: its routing key does not agree with its organization'],
  ],
  [
    'a message out of time',
    `UPDATE stream_messages SET sent_at = '2020-01-01T00:00:00.000Z' WHERE org = 1 AND seq = 4`,
    ['stream stream_messages 4: was sent more than a day before the one before it'],
  ],
  [
    'a relay that is ahead',
    `INSERT INTO relay_positions (org, target, position) VALUES (1, 'relay broker molar.stream', '0a1b2c3d-99999')`,
    [like(/^stream relay_positions relay broker molar.stream: is beyond/)],
  ],
  [
    'an audit entry that was changed',
    `UPDATE audit_entries SET operation = 'nothing' WHERE id = 2`,
    ['audit audit_entries 2: was changed after it was written, or the entry before it was'],
  ],
  [
    'a delivery of nothing that is known',
    `INSERT INTO async_deliveries (org, correlation_id, operation, after_id, total, created_at) VALUES (1, 'c', 'nosuch.async', 0, -1, 'then')`,
    [
      'deliveries async_deliveries 1: is of an operation that does not exist',
      'deliveries async_deliveries 1: has a negative total',
      'deliveries async_deliveries 1: its time cannot be read',
    ],
  ],
  [
    'a token with scopes of nobody',
    `UPDATE access_tokens SET scopes = '["all"]' WHERE id = (SELECT MIN(id) FROM access_tokens)`,
    [like(/^access access_tokens [0-9a-f]+: its scopes cannot be read$/)],
  ],
];

/** Damages of what others have damaged too, or of what a check needs to look at the rest. */
const DAMAGES_APART: readonly Damage[] = [
  ['an index that is missing', 'DROP INDEX events_by_start', ['schema events_by_start: the index is missing']],
  [
    'a name that stands twice',
    `DROP INDEX transactiontags_by_text;
     UPDATE transactiontags SET (tag_text, tag_text_fold, tag_type, json) = (SELECT b.tag_text, b.tag_text_fold, b.tag_type,
       json_set(transactiontags.json, '$.tagText', b.tag_text, '$.tagType', b.tag_type) FROM transactiontags b WHERE b.id = ${big(301)} AND b.org = 1)
     WHERE id = ${big(304)}`,
    [
      'schema transactiontags_by_text: the index is missing',
      `uniqueness transactiontags ${big(304)}: has the text of another tag`,
    ],
  ],
  [
    'a ledger row that is missing',
    `DELETE FROM ledger WHERE id = ${big(404)}`,
    [`ledger ledger ${big(404)}: is missing`],
  ],
  [
    'a block of the ledger',
    'UPDATE ledger_blocks SET transactions = transactions - 1 WHERE org = 1 AND width = 1024 AND location_id = 0',
    [like(/^ledger ledger_blocks \d+ 1024 \d+: does not agree with ledger$/)],
  ],
  [
    'the first message',
    'DELETE FROM stream_messages WHERE org = 1 AND seq = 1',
    ['stream stream_messages 1: is missing'],
  ],
  [
    'a head above the last message',
    'UPDATE stream_heads SET seq = seq + 1 WHERE org = 1',
    [like(/^stream stream_messages \d+: is missing$/)],
  ],
  [
    'a column that is missing',
    'ALTER TABLE scheduletemplatereasons RENAME COLUMN location_id TO place',
    ['schema scheduletemplatereasons location_id: the column is missing'],
  ],
  [
    'a schema of an earlier version',
    'DELETE FROM schema_migrations WHERE version > 1',
    [like(/^schema: is of version 1, not \d+: molar serve brings it/)],
  ],
  ['tables of another version', OTHER, ['schema: is of another molar: molar serve brings it to this version']],
  [
    'tables of a newer version',
    `${OTHER}; UPDATE schema_state SET value = '99.0.0' WHERE name = 'molar'`,
    ['schema: is of another molar: it needs a newer molar, 99.0.0 at least'],
  ],
];

describe('a check', () => {
  it('finds nothing wrong with what the server has written, and leaves it as it is', async () => {
    const data = await copy();
    const report = await check({ data }, { deep: true });
    expect(linesOf(report)).toEqual([]);
    expect(report).toMatchObject({ ok: true, served: false, repaired: null });
    for (const { name, checked } of report.checks)
      expect({ name, some: checked > 0 || name === 'deliveries' }).toEqual({ name, some: true });
  });

  it.each<[string, readonly Damage[]]>([
    ['each of many usual damages', DAMAGES],
    ['each of many rare damages', RARE_DAMAGES],
    ...[...DAMAGES_APART, ...RARE_DAMAGES_APART].map((damage): [string, Damage[]] => [damage[0], [damage]]),
  ])('finds %s, and nothing else', async (_name, damages) => {
    const data = await copy();
    inDatabase(data, (connection) => connection.exec(damages.map(([, statement]) => statement).join(';')));
    const found = damages.flatMap(([, , lines]) => lines);
    const report = await check({ data });
    expect(unmatched(linesOf(report), found)).toEqual({ found: [], wanted: [] });
    expect(report.ok).toBe(found.length === 0);
  });

  it('says of which organization a record is', async () => {
    const data = await copy();
    inDatabase(data, (connection) => connection.exec(`UPDATE patients SET gender = 'X' WHERE id = ${ANN} AND org = 1`));
    const { problems } = await check({ data });
    expect(problems).toEqual([
      {
        check: 'records',
        table: 'patients',
        organization: ORGANIZATION,
        id: ANN,
        message: 'column gender does not agree with its JSON',
      },
    ]);
  });

  it('looks at nothing else where the schema is another, and says so', async () => {
    const data = await copy();
    inDatabase(data, (connection) => connection.exec(OTHER));
    const { checks, ok } = await check({ data });
    expect(ok).toBe(false);
    expect(checks.map(({ name, skipped }) => [name, skipped])).toEqual(
      checks.map(({ name }) => [name, ['database', 'schema'].includes(name) ? null : 'the schema is another']),
    );
    expect(checks.find(({ name }) => name === 'records')).toMatchObject({ checked: 0, problems: 0 });
  });

  it('ends when it is told to, and says nothing then', async () => {
    const work = { ...stoppingAt('Checking patients'), deep: false, repair: false };
    await expect(checkPlace({ data: practice.base }, work)).rejects.toThrow('Stopped here.');
  });

  it('goes on where pages cannot be read', async () => {
    const data = await copy();
    await spoil(data, 'events');
    const report = await check({ data });
    const checks = new Set(report.problems.map((problem) => problem.check));
    expect(checks).toContain('database');
    expect(report.checks.find(({ name }) => name === 'files')).toMatchObject({ problems: 0 });
    expect(JSON.stringify(report)).not.toContain('Smith');
    // Counts of what cannot be read would be made again without it.
    inDatabase(data, (connection) => connection.exec('UPDATE record_counts SET records = 77'));
    expect(await check({ data }, { repair: true })).toMatchObject({ ok: false, repaired: [] });
  });
});
