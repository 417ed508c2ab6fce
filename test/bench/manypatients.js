// A practice with patients and nothing else, made larger without the time that an import of it would take.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from './driver.js';
import { FIRST, writePractice } from './practice.js';
import { finish } from './processes.js';

/** Imports a practice of so many patients into a data folder. */
export async function importPatients(data, patients, signal) {
  const file = `${data}.ndjson`;
  await writePractice(file, patients, 0, signal);
  await finish(['server', 'import', file, '--data', data], {}, () => undefined);
  rmSync(file);
}

/**
 * Makes `patients` into `times` as many, with ids that go on, by copying their rows. Only what lists read is copied: the
 * columns for filters stay empty, and nobody was told of the new ones.
 */
export function multiplyPatients(data, patients, times) {
  const database = new Database(join(data, 'molar.sqlite'));
  try {
    database.pragma('synchronous = OFF');
    const copy = database.prepare(`
      INSERT INTO patients (org, id, json)
      SELECT org, id + :added, '{"id":' || (id + :added) || substr(json, instr(json, ','))
      FROM patients WHERE id < :end ORDER BY org, id`);
    const end = FIRST.patient + patients;
    for (let time = 1; time < times; time++) copy.run({ added: time * patients, end });
    // What was copied is on the disk before it is measured.
    database.pragma('synchronous = FULL');
    database.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
}
