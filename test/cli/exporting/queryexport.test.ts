import { readdir, readFile, rename } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { columnsHash, unprovedText } from '../../../src/cli/exporting/resourceexport.ts';
import type { RowPlan } from '../../../src/cli/rows/plan.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import TransactionsList from '../../../src/commands/transactions/list.ts';
import { answer, problem } from '../../core/transport/script.ts';
import { replaceSystem, systemError } from '../../support/othersystem.ts';
import { runCommand } from '../runcommand.ts';
import { BOTH, nightly, refused } from './nightly.ts';
import { desk, Practice } from './practice.ts';

/** Patients of a practice, exported to one file; its server fails when it is asked for what follows an id. */
async function place(failsAfter?: number) {
  const { env, folder, at } = await desk();
  const practice = new Practice();
  const lastModified = '2026-01-01T00:00:00.000Z';
  practice.rows.patients = [1, 2, 3].map((id) => ({ id, lastName: `Name ${id}`, lastModified }));
  practice.instead = (_, { url }) =>
    url.includes(`lastId=${failsAfter}&`) || url.endsWith(`lastId=${failsAfter}`)
      ? problem(403, 'auth.scope_missing', null, 'No.')
      : undefined;
  return {
    practice,
    names: async () => (await readdir(folder)).filter((name) => name !== 'config').toSorted(),
    read: () => readFile(at('p.csv'), 'utf8'),
    list: (...argv: string[]) =>
      runCommand('patients:list', PatientsList, ['--out', at('p.csv'), '--page-size', '1', ...argv], {
        script: practice.script,
        env,
      }),
  };
}

describe('the request of an export', () => {
  it('has the limit, and the limit is part of what is resumed', async () => {
    const { list, read, practice } = await place(1);
    expect((await list('--fields', 'id', '--limit', '2')).exitCode).toBe(3);
    const before = practice.asked.length;
    const other = await list('--fields', 'id', '--limit', '3', '--resume');
    expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--limit was 2 and is now 3') });
    expect(practice.asked.length).toBe(before);
    practice.instead = () => undefined;
    expect((await list('--fields', 'id', '--limit', '2', '--resume')).exitCode).toBe(0);
    expect(practice.asked.slice(before).map(([, { lastId }]) => lastId)).toEqual(['1']);
    expect(await read()).toBe('id\n1\n2\n');
  });

  it.each([
    ['id', 'id,lastModified'],
    ['lastModified,id', 'id,lastModified'],
  ])('of a bookmark asks once for the time of the change, and writes the columns %s only', async (fields, sent) => {
    const { list, read, practice } = await place();
    await list('--fields', fields, '--since-last', 'n');
    expect(new Set(practice.asked.map(([, { responseFields }]) => responseFields))).toEqual(new Set([sent]));
    expect((await read()).split('\n')[0]).toBe(fields);
  });

  it('is several at once with --parallel', async () => {
    const { list, read, practice } = await place();
    const answering = practice.script.send;
    let inFlight = 0;
    let most = 0;
    Object.assign(practice.script, {
      send: async (request: Parameters<typeof answering>[0]) => {
        most = Math.max(most, ++inFlight);
        return answering(request).finally(() => inFlight--);
      },
    });
    await list('--fields', 'id');
    // The next page is requested while one is written.
    expect(most).toBeLessThanOrEqual(2);
    await list('--fields', 'id', '--parallel', '3');
    expect(most).toBeGreaterThan(2);
    expect(await read()).toBe('id\n1\n2\n3\n');
  });

  it('has the filter of the receipt, also where the server adds its own', async () => {
    const { env, at } = await desk();
    const practice = new Practice();
    practice.rows.transactions = [];
    const filters = [];
    for (const more of [[], ['--server-defaults']]) {
      const argv = ['--out', at('t.csv'), '--receipt', ...more];
      await runCommand('transactions:list', TransactionsList, argv, { script: practice.script, env });
      filters.push(JSON.parse(await readFile(at('t.csv.receipt.json'), 'utf8')).filter);
    }
    expect(filters).toEqual(['transactionDate>=0001-01-01', null]);
  });

  it('is not made where the bookmark could not be saved', async () => {
    const { list, practice } = await place();
    replaceSystem({ mkdir: (() => Promise.reject(systemError('ENOSPC'))) as never });
    expect((await list('--fields', 'id', '--since-last', 'n')).exitCode).toBe(9);
    expect(practice.asked).toEqual([]);
  });
});

it('what is sorted leaves nothing to resume', async () => {
  const { list, names } = await place(2);
  const ran = await list('--fields', 'id', '--sort', '-id');
  expect(ran).toMatchObject({ exitCode: 3, stderr: expect.not.stringContaining('--resume') });
  expect(await names()).toEqual([]);
});

it('a file of a folder has its own waits only, and the totals have all', async () => {
  const { run, practice, summary } = await nightly();
  let isFirst = true;
  practice.instead = (segment) => {
    if (segment !== 'patients' || !isFirst) return undefined;
    isFirst = false;
    return answer(429, { data: null, warnings: [], errors: [] }, { 'retry-after': '7' });
  };
  const { stderr } = await run(BOTH);
  const { files, totals } = await summary();
  // After its wait a client is slower for a while.
  expect(files.map(({ throttledSeconds }: { throttledSeconds: number }) => throttledSeconds)).toEqual([7.1, 0.1]);
  expect(totals).toMatchObject({ throttledSeconds: 7.2, retries: 1 });
  expect(stderr).toContain('5 rows, 1 retry, 7 s held back by the rate limit, 7 s.');
});

describe('a summary that the disk does not take', () => {
  const fullAfterTheFirst = () => {
    let number = 0;
    replaceSystem({
      rename: async (from, to) => {
        if (String(to).endsWith('/summary.json') && ++number > 1) throw systemError('ENOSPC');
        return rename(from, to);
      },
    });
  };

  it('moves no bookmark: the run is not complete', async () => {
    const { run, bookmarks, names } = await nightly();
    fullAfterTheFirst();
    expect((await run([...BOTH, '--since-last', 'n'])).exitCode).toBe(9);
    expect(await bookmarks()).toEqual([]);
    expect(await names()).toContain('.molar-export.json');
  });

  it('does not hide what failed before', async () => {
    const { run, practice } = await nightly();
    practice.instead = refused('patients');
    fullAfterTheFirst();
    const ran = await run(BOTH);
    expect(ran).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('1 of 2 files were not exported') });
  });
});

describe('the hash of the columns', () => {
  const planOf = (format: string, names: readonly string[], more: Partial<RowPlan> = {}) =>
    ({ format, columns: names.map((name) => ({ name })), ...more }) as unknown as RowPlan;
  const hash = columnsHash(planOf('csv', ['id', 'lastName']));

  it.each<[string, RowPlan, boolean]>([
    ['the same columns', planOf('csv', ['id', 'lastName']), true],
    ['another order', planOf('csv', ['lastName', 'id']), false],
    ['one more', planOf('csv', ['id', 'lastName', 'city']), false],
    ['records that are given a shape', planOf('json', ['id', 'lastName'], { shape: (row) => row }), true],
    ['records as the server sends them', planOf('json', ['id', 'lastName']), false],
  ])('of %s', (_name, plan, isSame) => expect(columnsHash(plan) === hash).toBe(isSame));

  it('does not depend on columns where records are as the server sends them', () => {
    expect(columnsHash(planOf('json', ['id']))).toBe(columnsHash(planOf('ndjson', ['id', 'lastName'])));
  });
});

it.each([
  ['walk', 'no count', 'Could not prove that these are all patients: no count'],
  ['count', null, undefined],
  ['none', 'a limit', undefined],
] as const)('a proof by %s with what is not proved, %j, is told as %j', (by, unproved, text) => {
  expect(unprovedText({ by, counted: null, unproved }, patients)).toBe(text);
});
