import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import type { Operation } from '../../../src/catalog/define.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { scheduleTemplateReasons } from '../../../src/catalog/resources/scheduletemplatereasons.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { walkPages } from '../../../src/core/pages/walk.ts';
import { isByCursor, isByNumber, type WalkOptions } from '../../../src/core/pages/walkoptions.ts';
import type { OutgoingRequest, Send } from '../../../src/core/transport/send.ts';
import { answer, clientOf, Script, success } from '../transport/script.ts';

const list = operationOf(patients, 'list');
const histories = operationOf(appointmentHistories, 'list');
const reasons = operationOf(scheduleTemplateReasons, 'list');
const rows = (...ids: number[]) => ids.map((id) => ({ id }));

async function walk(script: Pick<Script, 'send'>, operation: Operation, options: Partial<WalkOptions> = {}) {
  const found: Row[] = [];
  for await (const page of walkPages(clientOf(script), operation, { pageSize: 9, ...options }))
    found.push(...page.rows);
  return found;
}

it.each<[string, Operation, boolean, boolean]>([
  ['list of patients', list, true, false],
  ['list of histories', histories, false, true],
  ['list of reasons', reasons, false, false],
  ['single patient', operationOf(patients, 'get'), false, false],
])('how a %s is paged', (_name, operation, hasCursor, hasNumbers) => {
  expect([isByCursor(operation), isByNumber(operation)]).toEqual([hasCursor, hasNumbers]);
});

describe('a walk that ends early', () => {
  it.each([
    ['by cursor', list],
    ['by number', histories],
  ])('%s lets go of the page that it asked for ahead, when nobody wants it any more', async (_name, operation) => {
    const ahead: OutgoingRequest[] = [];
    const send: Send = async (request) => {
      if (/lastId=0|page=1/.test(request.url)) return success(rows(1));
      ahead.push(request);
      return new Promise((_, reject) =>
        request.signal?.addEventListener('abort', () => reject(request.signal?.reason)),
      );
    };
    const pages = walkPages(clientOf({ send }), operation, { pageSize: 1 });
    await pages.next();
    await expect.poll(() => ahead.length).toBe(1);
    await pages.return(undefined);
    expect(ahead[0]?.signal?.aborted).toBe(true);
  });

  it.each([
    ['by cursor', list],
    ['by number', histories],
    ['without paging', reasons],
  ])('%s because of its signal says why', async (_name, operation) => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const script = new Script(success(rows(1), { meta: { pagination: { limit: 1 } } }), () => {
      stop.abort(reason);
      return answer(503, '');
    });
    await expect(walk(script, operation, { signal: stop.signal })).rejects.toBe(reason);
  });

  it('goes on after an earlier one, up to a limit that counts the rows of both', async () => {
    const script = new Script(success(rows(6, 7)), success(rows(8)));
    const from = { lastId: '5', fetched: 4 };
    expect(await walk(script, list, { from, limit: 7, pageSize: 2 })).toEqual(rows(6, 7, 8));
    expect(script.queries).toEqual([
      { lastId: '5', pageSize: '2' },
      { lastId: '7', pageSize: '1' },
    ]);
    expect(await walk(new Script(), list, { from, limit: 4 })).toEqual([]);
  });

  it('passes on the warnings of the last page, which has no rows', async () => {
    const warnings = [{ title: 'W', description: 'Some are left out.' }];
    const told: unknown[] = [];
    const onWarnings = (some: readonly unknown[]) => told.push(...some);
    await walk(new Script(success([], { warnings })), list, { onWarnings });
    expect(told).toMatchObject(warnings);
  });

  it('has no use for a page that it asked for behind a wrong id, also once that id comes', async () => {
    const wrong = success(rows(1, 2), { meta: { pagination: { limit: 2, lastId: 9 } } });
    const script = new Script(wrong, success(rows(10)), success(rows(3, 9)), success(rows(10, 11)), success([]));
    expect(await walk(script, list, { pageSize: 2 })).toEqual(rows(1, 2, 3, 9, 10, 11));
    expect(script.queries.map(({ lastId }) => lastId)).toEqual(['0', '9', '2', '9', '11']);
  });
});

describe('a walk without paging', () => {
  const full = (limit: unknown, ...ids: number[]) => success(rows(...ids), { meta: { pagination: { limit } } });

  it('asks for nothing behind its limit', async () => {
    const script = new Script(full(2, 1, 2), full(2, 3, 4));
    expect(await walk(script, reasons, { limit: 3 })).toEqual(rows(1, 2, 3));
    expect(await walk(new Script(full(2, 1, 2)), reasons, { limit: 2 })).toEqual(rows(1, 2));
  });

  it.each<[unknown, number]>([
    [2, 2],
    ['2', 2],
    [1, 2],
    [3, 1],
    [0, 1],
    [-1, 1],
    [null, 1],
    ['many', 1],
  ])('whose answer of two rows says that its limit is %j asks %d times', async (limit, requests) => {
    const script = new Script(full(limit, 4, 2), success([]));
    expect(await walk(script, reasons)).toEqual(rows(4, 2));
    // After the last row, in whatever order they came.
    expect(script.queries).toEqual([{}, { lastId: '2', pageSize: '9' }].slice(0, requests));
  });

  it.each([[{}], [{ meta: null }], [{ meta: { pagination: 5 } }]])('whose answer has %j asks once', async (more) => {
    expect(await walk(new Script(success(rows(1), more)), reasons)).toEqual(rows(1));
  });

  it('brings each row once, and tells no place to go on from', async () => {
    const script = new Script(full(2, 1, 2), full(2, 2, 3), full(2, 1, 3));
    const pages = [];
    for await (const page of walkPages(clientOf(script), reasons, { pageSize: 9 })) pages.push(page);
    expect(pages.map((page) => [page.rows, page.position])).toEqual([
      [rows(1, 2), undefined],
      [rows(3), undefined],
    ]);
  });

  it('has no page where there is nothing', async () => {
    expect(await walkPages(clientOf(new Script(success([]))), reasons, { pageSize: 9 }).next()).toMatchObject({
      done: true,
    });
  });
});
