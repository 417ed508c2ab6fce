import { expect, it } from 'vitest';
import { STORED_RESOURCES } from '../../../src/catalog/catalog.ts';
import { checkSequences } from '../../../src/server/maintenance/check/uniqueness.ts';
import { tableOf } from '../../../src/server/store/layout.ts';
import { foundIn } from './barechecks.ts';

/** Two organizations with patients, and with two kinds of reference records; the last id given is the highest of each. */
const RECORDS = `
  ${STORED_RESOURCES.map((resource) => `CREATE TABLE ${tableOf(resource)} (org, id);`).join(' ')}
  CREATE TABLE reference_records (org, type, id);
  CREATE TABLE sequences (org, type, last_id);
  INSERT INTO patients VALUES (1, 3), (1, 9), (1, 5), (2, 40), (2, 20);
  INSERT INTO reference_records VALUES (1, 'ProviderV1', 8), (1, 'ProviderV1', 2), (1, 'LocationV1', 4), (2, 'ProviderV1', 6);
  INSERT INTO sequences VALUES (1, 'PatientV1', 9), (2, 'PatientV1', 40), (1, 'ProviderV1', 8), (1, 'LocationV1', 4), (2, 'ProviderV1', 6);`;

it.each<[string, string, readonly string[]]>([
  ['nothing where the last id that was given is the highest', '', []],
  ['nothing where more were given', 'UPDATE sequences SET last_id = last_id + 1', []],
  [
    'each of which the last is one below',
    'UPDATE sequences SET last_id = last_id - 1',
    [
      '1 sequences PatientV1: the last id given is 8, but 9 is there',
      '2 sequences PatientV1: the last id given is 39, but 40 is there',
      '1 sequences LocationV1: the last id given is 3, but 4 is there',
      '1 sequences ProviderV1: the last id given is 7, but 8 is there',
      '2 sequences ProviderV1: the last id given is 5, but 6 is there',
    ],
  ],
  [
    'that one organization has none, whatever the other has',
    "DELETE FROM sequences WHERE org = 2 AND type = 'PatientV1'",
    ['2 sequences PatientV1: the last id given is unknown, but 40 is there'],
  ],
])('the check of sequences finds %s', async (_name, change, found) => {
  expect(await foundIn(`${RECORDS} ${change}`, checkSequences)).toEqual(found);
});
