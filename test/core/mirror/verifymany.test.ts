import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { openConnection } from '../../../src/sqlite/open.ts';
import { type Driven, drive } from '../../faithful/driving.ts';
import { queried } from './oracle.ts';

/** Named of each kind of difference, at most. */
const NAMED = 1_000;
/** More than are named, and than are looked at together (500) in all of the three rounds of a comparison. */
const MANY = 1_600;

let driven: Driven;
let file: string;

beforeEach(async () => {
  driven = await drive({ seed: 'many', moods: { pageCap: 500 }, practice: { patients: MANY } });
  onTestFinished(() => driven.close());
  file = join(driven.folder, 'practice.db');
  const { exitCode, stderr } = await driven.molar(['mirror', 'sync', 'patients', '--to', file]);
  expect(exitCode, stderr).toBe(0);
});

const verify = (...words: string[]) => driven.molar(['mirror', 'verify', 'patients', '--to', file, ...words]);
const patientIds = () => driven.service.records('patients').map(({ id }) => Number(id));

it('a comparison counts every difference, names a thousand of a kind, and mends all', async () => {
  const connection = openConnection(file);
  connection.exec("UPDATE patients SET first_name = 'Eve'");
  connection.close();
  const { exitCode, stdout, stderr } = await verify('--repair', '--json');
  expect(exitCode, stderr).toBe(0);
  const report = JSON.parse(stdout);
  const [{ different, missing, extra, rows, serverRows }] = report.resources;
  expect([report.differences, report.repaired, missing, extra, rows, serverRows]).toEqual([
    ...[MANY, MANY, [], [], MANY, MANY],
  ]);
  const first = patientIds().toSorted((a, b) => a - b);
  expect(different).toEqual(first.slice(0, NAMED).map((id) => ({ id: String(id), fields: ['firstName'] })));
  expect(queried(file, "SELECT count(*) AS left FROM patients WHERE first_name = 'Eve'")).toEqual([{ left: 0 }]);
});

it('a comparison takes no change for a difference, however many there are meanwhile', async () => {
  const { service } = driven;
  const change = (name: string) => {
    for (const id of patientIds()) service.edit('patients', id, { preferredName: name });
  };
  const isAskedById = () => service.requests.some(({ query }) => query.filter?.startsWith('id->'));
  let lists = 0;
  // Whatever a list says is old soon, until records are asked for by their ids, which all of them have to be then.
  service.onRequest = ({ path }) => {
    if (path.endsWith('/patients') && !isAskedById()) change(`New ${++lists}`);
  };
  const { exitCode, stdout, stderr } = await verify('--json');
  expect(exitCode, stderr).toBe(0);
  expect(isAskedById()).toBe(true);
  expect(JSON.parse(stdout)).toMatchObject({ differences: 0, complete: true });
  expect(queried(file, `SELECT count(*) AS new FROM patients WHERE preferred_name = 'New ${lists}'`)).toEqual([
    { new: MANY },
  ]);
});
