import { test } from 'vitest';
import { testPostgres } from '../../support/services.ts';
import { PracticeRun } from './practicerun.ts';
import { Tally } from './tally.ts';

/** Other kills each day, and those of a failure again with the number that it told. */
const SEED = Number(process.env.MOLAR_TORTURE_SEED ?? Math.floor(Date.now() / 86_400_000));

test(`a server on SQLite that is killed again and again loses nothing and does nothing by halves (seed ${SEED})`, async () => {
  await PracticeRun.run('sqlite', 2, SEED, new Tally());
});

test(`a server that loses PostgreSQL, and is killed, loses nothing and does nothing by halves (seed ${SEED})`, async (context) => {
  if ((await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
  await PracticeRun.run('postgres', 2, SEED, new Tally());
});
