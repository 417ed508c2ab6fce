import { expect } from 'vitest';
import { big, PATIENTS } from '../../support/ids.ts';

const ANN = PATIENTS.ann;

/** A damage as a statement, and everything that is to be found then. */
export type Damage = readonly [name: string, statement: string, found: readonly string[]];

export const like = (pattern: RegExp): string => expect.stringMatching(pattern);

/** What is left when each line that was wanted, a text or a pattern, has taken one that was found. */
export function unmatched(lines: readonly string[], wanted: readonly string[]) {
  const found = [...lines];
  const missing = wanted.filter((line) => {
    const pattern = line as string | { asymmetricMatch(text: string): boolean };
    const at = found.findIndex((each) =>
      typeof pattern === 'string' ? each === pattern : pattern.asymmetricMatch(each),
    );
    if (at >= 0) found.splice(at, 1);
    return at < 0;
  });
  return { found, wanted: missing };
}

/** Damages of what few practices have, and of bounds (pages, epochs, gaps), that stand side by side. */
export const RARE_DAMAGES: readonly Damage[] = [
  [
    'JSON that is no record',
    `UPDATE transactiontags SET json = '[1]' WHERE id = ${big(304)}`,
    [`records transactiontags ${big(304)}: its JSON cannot be read`],
  ],
  [
    'one phone number more than a record has',
    `INSERT INTO patients_phones_number (org, value, id) VALUES (1, '8015550199', ${ANN})`,
    [`values patients_phones_number ${ANN}: does not agree with patients`],
  ],
  [
    'a reference record of a kind that nobody knows',
    `INSERT INTO reference_records (org, type, id, json) VALUES (1, 'Nonsense', 5, '{"id":5}')`,
    [
      'records reference_records Nonsense: has a type that is not stored here',
      'sequences sequences Nonsense: the last id given is unknown, but 5 is there',
    ],
  ],
  [
    'a reference record of a kind that has a table of its own',
    `INSERT INTO reference_records (org, type, id, json) VALUES (1, 'PatientV1', 5, '{"id":5}')`,
    ['records reference_records PatientV1: has a type that is not stored here'],
  ],
  [
    'reference records whose JSON is not theirs',
    `INSERT INTO reference_records (org, type, id, json) VALUES (1, 'Referral', 5, '{'), (1, 'Referral', 6, '{"id":7,"name":"x"}'),
       (1, 'Location', 8, '{"id":8}')`,
    [
      'records reference_records Location 8: its JSON has no name',
      'records reference_records Referral 5: its JSON cannot be read',
      'records reference_records Referral 6: its JSON has another id',
    ],
  ],
  [
    'a reference record that leads to nobody',
    `INSERT INTO reference_records (org, type, id, json) VALUES (1, 'Operatory', 5, '{"id":5,"location":{"id":6}}')`,
    ['links reference_records 5: location leads to Location 6, which does not exist'],
  ],
  [
    'a count of a place that has none',
    `INSERT INTO record_counts (org, table_name, place, records) VALUES (1, 'transactiontags', 5, 3)`,
    ['counts record_counts transactiontags: says 3 transaction tags at location 5, but there are 0'],
  ],
  [
    'counts of no organization',
    `INSERT INTO record_counts (org, table_name, place, records) VALUES (77, 'patients', 0, 3)`,
    [],
  ],
  [
    'rows of no organization beside records',
    `INSERT INTO patients_phones_number (org, value, id) VALUES (77, '8015550199', 3);
     INSERT INTO reference_records (org, type, id, json) VALUES (78, 'Location', 8, '{"id":8,"name":"x"}');
     INSERT INTO distributions (org, charge_id, credit_id, cents, by_insurance) VALUES (79, 5, 6, 7, 0);
     INSERT INTO ledger VALUES (80, 1, 1, 9, '2026-01-01', 1, 5, 0, 0)`,
    [
      'links patients_phones_number: rows of organization key 77, which does not exist',
      'links reference_records: rows of organization key 78, which does not exist',
      'links distributions: rows of organization key 79, which does not exist',
      'links ledger: rows of organization key 80, which does not exist',
      'ledger distributions 6 → 5: should not be there',
      'ledger ledger 9: should not be there',
      'sequences sequences Location: the last id given is unknown, but 8 is there',
    ],
  ],
  [
    'a distribution of another sum',
    `UPDATE distributions SET cents = cents + 1 WHERE credit_id = ${big(403)}`,
    [
      `ledger distributions ${big(403)} → ${big(401)}: does not agree with transactions`,
      `ledger ledger ${big(401)}: does not agree with transactions`,
      `ledger ledger ${big(403)}: does not agree with transactions`,
    ],
  ],
  [
    'a distribution of no credit',
    `INSERT INTO distributions (org, charge_id, credit_id, cents, by_insurance) VALUES (1, 5, 6, 7, 0)`,
    ['ledger distributions 6 → 5: should not be there'],
  ],
  [
    'several gaps in the stream, the last one of one message',
    'DELETE FROM stream_messages WHERE org = 1 AND seq IN (2, 4)',
    ['stream stream_messages 2: is missing', 'stream stream_messages 4: is missing'],
  ],
  [
    'no gap where numbers were left out by a new epoch',
    `UPDATE stream_messages SET seq = 1767000000000000 + 1 WHERE org = 1 AND seq = (SELECT seq FROM stream_heads WHERE org = 1);
     UPDATE stream_heads SET seq = 1767000000000001 WHERE org = 1`,
    [],
  ],
  [
    'a gap at the beginning of an epoch',
    `UPDATE stream_messages SET seq = 1767000000000000 + 2 WHERE org = 1 AND seq = (SELECT seq FROM stream_heads WHERE org = 1);
     UPDATE stream_heads SET seq = 1767000000000002 WHERE org = 1`,
    [like(/^stream stream_messages \d+: and those up to 1767000000000001 are missing$/)],
  ],
  [
    'a message that was sent a day before the one before it, and not more',
    `UPDATE stream_messages SET sent_at = strftime('%Y-%m-%dT%H:%M:%fZ', sent_at, '-1 day') WHERE org = 1 AND seq = 4`,
    [],
  ],
  [
    'relays that are where the stream ends, beyond it, and nowhere',
    `INSERT INTO relay_positions (org, target, position) SELECT org, 'relay a', '0a1b2c3d-' || seq FROM stream_heads WHERE org = 1;
     INSERT INTO relay_positions (org, target, position) SELECT org, 'relay b', '0a1b2c3d-' || (seq + 1) FROM stream_heads WHERE org = 1;
     INSERT INTO relay_positions (org, target, position) VALUES (1, 'relay c', 'x'), (77, 'relay d', '0a1b2c3d-1'), (77, 'relay e', '0a1b2c3d-0')`,
    [
      like(/^stream relay_positions relay b: is beyond the last message, \d+$/),
      like(/^stream relay_positions relay c: is beyond the last message, \d+$/),
      'stream relay_positions relay d: is beyond the last message, 0',
    ],
  ],
  [
    'a delivery of no organization',
    `INSERT INTO async_deliveries (org, correlation_id, operation, after_id, total, created_at)
       VALUES (77, 'c', 'patients.async', 0, 0, '2026-03-02T12:00:00.000Z')`,
    ['deliveries async_deliveries 1: is of an organization that does not exist'],
  ],
  [
    'a head of the audit log',
    "UPDATE log_heads SET hash = 'x' WHERE name = 'audit'",
    [like(/^audit log_heads: does not record entry \d+ as the end$/)],
  ],
  [
    'checkpoints of the audit log',
    'UPDATE audit_checkpoints SET entries = 99 WHERE number = 1',
    ['audit audit_checkpoints 1: was changed after it was signed'],
  ],
  [
    'documents with variants of nobody',
    `UPDATE documents SET variants = 'huge' WHERE org = 1 AND id = (SELECT MAX(id) FROM documents WHERE org = 1 AND variants = 'original')`,
    [
      like(/^files documents \d+: has a variant that is not known$/),
      like(/^files documents \d+: has no original$/),
      like(/^files files .+-original: belongs to no document$/),
    ],
  ],
  [
    'one wrong record behind a thousand others, and one wrong link',
    `WITH RECURSIVE n (id) AS (SELECT 1000 UNION ALL SELECT id + 1 FROM n WHERE id < 2100)
       INSERT INTO reference_records (org, type, id, json) SELECT 1, 'Location', id, '{"id":' || id || ',"name":"x"}' FROM n
       UNION ALL SELECT 1, 'Operatory', id, '{"id":' || id || ',"location":{"id":' || id || '}}' FROM n;
     UPDATE reference_records SET json = '{"id":5,"name":"x"}' WHERE org = 1 AND type = 'Location' AND id = 2100;
     DELETE FROM reference_records WHERE org = 1 AND type = 'Location' AND id = 2099`,
    [
      'records reference_records Location 2100: its JSON has another id',
      'links reference_records 2099: location leads to Location 2099, which does not exist',
    ],
  ],
  [
    'nothing of a document with more tags than are looked for at once',
    `CREATE TEMP TABLE own AS SELECT MAX(id) AS id FROM documents WHERE org = 1;
     CREATE TEMP TABLE tags AS WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1100) SELECT 'tag ' || n AS tag FROM n;
     UPDATE documents SET json = json_set(json, '$.tags', (SELECT json_group_array(tag) FROM tags)) WHERE org = 1 AND id = (SELECT id FROM own);
     DELETE FROM documents_tags WHERE org = 1 AND id = (SELECT id FROM own);
     INSERT INTO documents_tags (org, value, id) SELECT 1, tag, id FROM tags, own;
     INSERT INTO document_tags (org, fold, name) SELECT 1, tag, tag FROM tags`,
    [],
  ],
];

/** The same, of what others have damaged too, or of what a check needs to look at the rest. */
export const RARE_DAMAGES_APART: readonly Damage[] = [
  [
    'a message with the number of none',
    'UPDATE stream_messages SET seq = seq + 1000000 WHERE org = 1 AND seq = 4',
    [
      'stream stream_messages 4: is missing',
      like(/^stream stream_messages \d+: and those up to 1000003 are missing$/),
      like(/^stream stream_messages 1000004: is above the head, which is \d+$/),
    ],
  ],
  [
    'messages of an organization whose numbers would be given again',
    'DELETE FROM stream_heads WHERE org = 1',
    [like(/^stream stream_messages \d+: is above the head, which is 0$/)],
  ],
  [
    'another phone number than a record has',
    `UPDATE patients_phones_number SET value = '8015550199' WHERE id = ${ANN} AND org = 1
       AND value = (SELECT MIN(value) FROM patients_phones_number WHERE id = ${ANN} AND org = 1)`,
    [`values patients_phones_number ${ANN}: does not agree with patients`],
  ],
  [
    'a distribution by another',
    `UPDATE distributions SET by_insurance = 1 - by_insurance WHERE credit_id = ${big(403)}`,
    [
      `ledger distributions ${big(403)} → ${big(401)}: does not agree with transactions`,
      `ledger ledger ${big(401)}: does not agree with transactions`,
    ],
  ],
  ...['location_id', 'guarantor_id', 'is_charge', 'open_cents', 'insurance_cents', 'write_off_cents'].map(
    (column): [string, string, string[]] => [
      `the ledger's ${column}`,
      `UPDATE ledger SET ${column} = ${column} + 1 WHERE id = ${big(404)}`,
      [`ledger ledger ${big(404)}: does not agree with transactions`],
    ],
  ),
  [
    'no gap where numbers were those of all organizations',
    'DELETE FROM stream_messages WHERE org = 1 AND seq IN (2, 4); UPDATE stream_heads SET shared = 4 WHERE org = 1',
    [],
  ],
  [
    'a gap right behind those numbers',
    'DELETE FROM stream_messages WHERE org = 1 AND seq IN (2, 5); UPDATE stream_heads SET shared = 4 WHERE org = 1',
    ['stream stream_messages 5: is missing'],
  ],
  [
    'floors that were deleted up to',
    'DELETE FROM stream_messages WHERE org = 1 AND seq <= 3; UPDATE stream_heads SET floor = 3 WHERE org = 1',
    [],
  ],
  [
    'messages that cannot be read',
    `UPDATE stream_messages SET routing_key = routing_key || '.more' WHERE org = 1 AND seq = 4;
     UPDATE stream_messages SET sent_at = 'then' WHERE org = 1 AND seq = 5`,
    [
      'stream stream_messages 4: its routing key does not agree with its organization',
      'stream stream_messages 5: its time cannot be read',
    ],
  ],
  [
    'a message that was sent a moment more than a day before',
    `UPDATE stream_messages SET sent_at = strftime('%Y-%m-%dT%H:%M:%fZ', sent_at, '-1 day', '-1 second') WHERE org = 1 AND seq = 4`,
    ['stream stream_messages 4: was sent more than a day before the one before it'],
  ],
  ['a table that is missing', 'DROP TABLE ledger_changes', ['schema ledger_changes: the table is missing']],
  [
    'a schema of a later version',
    `INSERT INTO schema_migrations (version, name, applied_at) VALUES (999, 'later', 'then')`,
    [like(/^schema: is of version 999, not \d+: it needs a newer molar$/)],
  ],
  [
    'a schema that is being changed',
    "DELETE FROM schema_state WHERE name = 'fingerprint'",
    ['schema: is being brought to another version: molar serve brings it to this version'],
  ],
  [
    'a gap behind thousands of messages',
    `WITH RECURSIVE n (more) AS (SELECT 1 UNION ALL SELECT more + 1 FROM n WHERE more < 4200)
       INSERT INTO stream_messages (org, seq, routing_key, sent_at, correlation_id, payload, record)
       SELECT m.org, m.seq + more, m.routing_key, m.sent_at, m.correlation_id, m.payload, m.record
       FROM n, (SELECT * FROM stream_messages WHERE org = 1 ORDER BY seq DESC LIMIT 1) AS m;
     UPDATE stream_heads SET seq = seq + 4200 WHERE org = 1;
     DELETE FROM stream_messages WHERE org = 1 AND seq = 4003`,
    ['stream stream_messages 4003: is missing'],
  ],
  [
    'two documents with one file',
    `UPDATE documents SET guid = (SELECT guid FROM documents WHERE org = 1 AND id = (SELECT MAX(id) FROM documents WHERE org = 1))
       WHERE org = 1 AND id = (SELECT MAX(id) FROM documents WHERE org = 1 AND id < (SELECT MAX(id) FROM documents WHERE org = 1))`,
    [
      like(/^records documents \d+: column guid does not agree with its JSON$/),
      like(/^uniqueness documents \d+: has the file of another document$/),
      like(/^files documents \d+: its file original has \d+ bytes, not \d+$/),
      like(/^files files .+-original: belongs to no document$/),
    ],
  ],
];
