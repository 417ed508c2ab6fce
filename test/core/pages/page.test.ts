import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import {
  fetchPage,
  idOf,
  type Page,
  PageSize,
  type PageTarget,
  PageTimeout,
  truncatePage,
} from '../../../src/core/pages/page.ts';
import { answer, broken, clientOf, failureOf, Script, type Step, success } from '../transport/script.ts';

const list = operationOf(patients, 'list');
const rows = (...ids: number[]) => ids.map((id) => ({ id }));
const FIRST: PageTarget = { after: 0n, most: 1000 };

function fetch(script: Script, target: PageTarget, mostTimeouts?: number, size = new PageSize(100)): Promise<Page> {
  const options = { filter: 'a==1', fields: ['id', 'lastName'], mostTimeouts };
  const { signal } = new AbortController();
  return fetchPage(clientOf(script), list, { options, target, size, signal });
}

describe('the size of pages', () => {
  it('is halved once for all pages of one size, down to one row, and never grows again', () => {
    const size = new PageSize(10);
    const after = [10, 10, 5, 10, 2, 1].map((timedOut) => {
      size.shrink(timedOut);
      return size.current;
    });
    expect(after).toEqual([5, 5, 2, 2, 1, 1]);
  });

  it('is halved from that of the page that timed out, also where others have made it smaller meanwhile', async () => {
    const size = new PageSize(100);
    const script = new Script(() => {
      size.shrink(100);
      return answer(408, '');
    }, success([]));
    await fetch(script, FIRST, undefined, size);
    expect(script.queries.map(({ pageSize }) => pageSize)).toEqual(['100', '50']);
  });

  it.each([429, 500, 503])('stays as it is where a page is tried again after %d', async (status) => {
    const script = new Script(answer(status, ''), success(rows(1)));
    expect((await fetch(script, FIRST)).pageSize).toBe(100);
    expect(script.queries.map(({ pageSize }) => pageSize)).toEqual(['100', '100']);
  });
});

describe('the request of a page', () => {
  const common = { filter: 'a==1', responseFields: 'id,lastName' };

  it.each<[string, PageTarget, Record<string, string>]>([
    ['after an id', { after: 7n, most: 5000 }, { ...common, pageSize: '100', lastId: '7' }],
    ['of no more rows than are wanted', { after: 7n, most: 60 }, { ...common, pageSize: '60', lastId: '7' }],
    [
      'after an id that no number tells',
      { after: 2n ** 60n, most: 9 },
      { ...common, pageSize: '9', lastId: `${2n ** 60n}` },
    ],
    ['by number', { page: 3 }, { ...common, pageSize: '100', page: '3' }],
    ['without paging', 'all', common],
  ])('%s', async (_name, target, query) => {
    const script = new Script(success([]));
    await fetch(script, target);
    expect(script.queries).toEqual([query]);
    expect(script.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it.each<[string, PageTarget, string | undefined]>([
    ['by number keeps its size after a timeout: numbers count pages of one size', { page: 2 }, '100'],
    ['without paging has no size after a timeout, either', 'all', undefined],
  ])('%s', async (_name, target, sent) => {
    const script = new Script(answer(408, ''), success([]));
    const size = new PageSize(100);
    await fetch(script, target, undefined, size);
    expect(script.queries.map(({ pageSize }) => pageSize)).toEqual([sent, sent]);
    // Nor is that of later pages another one.
    expect(size.current).toBe(100);
  });
});

describe('timeouts of a page', () => {
  const timeout = answer(408, '');

  it('are as many as allowed, and then a PageTimeout', async () => {
    const script = new Script(timeout, answer(408, ''), answer(408, ''));
    const failure = await failureOf(fetch(script, FIRST, 2));
    expect(failure).toBeInstanceOf(PageTimeout);
    expect(failure).toMatchObject({ name: 'PageTimeout', message: 'The server timed out (HTTP 408).', exitCode: 7 });
    expect(script.requests).toHaveLength(2);
    const again = new Script(answer(408, ''), success(rows(4)));
    expect((await fetch(again, FIRST, 2)).lastId).toBe('4');
  });

  /** A 408, and then the same failure until retries end. */
  const thenAlways = (step: () => Step) => new Script(answer(408, ''), ...Array.from({ length: 5 }, step));

  it.each<[string, () => Step]>([
    ['errors of the server', () => answer(500, '')],
    ['lost connections', () => broken(true)],
  ])('among %s are a PageTimeout: a smaller request may succeed', async (_name, step) => {
    await expect(fetch(thenAlways(step), FIRST, 9)).rejects.toBeInstanceOf(PageTimeout);
    // Where no smaller request would follow, the failure is what it was.
    const failure = await failureOf(fetch(thenAlways(step), FIRST));
    expect(failure).not.toBeInstanceOf(PageTimeout);
    // Nor without a timeout.
    const untimed = new Script(...Array.from({ length: 6 }, step));
    await expect(fetch(untimed, FIRST, 9)).rejects.not.toBeInstanceOf(PageTimeout);
  });

  it('do not hide why the work was stopped meanwhile', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const script = new Script(answer(408, ''), () => {
      stop.abort(reason);
      return answer(408, '');
    });
    const options = { mostTimeouts: 9 };
    const request = { options, target: FIRST, size: new PageSize(100), signal: stop.signal };
    await expect(fetchPage(clientOf(script), list, request)).rejects.toBe(reason);
  });

  it('do not hide a refusal, nor data that are no list', async () => {
    const refused = new Script(answer(408, ''), answer(403, ''));
    expect(await failureOf(fetch(refused, FIRST, 9))).toMatchObject({ status: 403 });
    const malformed = new Script(answer(408, ''), success({ id: 1 }));
    expect(await failureOf(fetch(malformed, FIRST, 9))).toMatchObject({
      code: 'response.malformed',
      requestId: 'req-1',
    });
  });
});

describe('the last id that an answer tells', () => {
  const link = '<?lastId=7>; rel="next"';
  const pagination = { limit: 1, lastId: 8123 };

  it.each<[string, Step, bigint[]]>([
    ['its head', success(rows(7), {}, { link }), [7n]],
    ['its end', success(rows(8123), { meta: { pagination } }), [8123n]],
    ['both', success(rows(8123), { meta: { pagination } }, { link }), [7n, 8123n]],
    ['neither', success(rows(8123), {}, { link: '<?page=2>; rel="next"' }), []],
  ])('by %s is passed on where somebody wants it', async (_name, step, told) => {
    const ids: bigint[] = [];
    const request = { options: {}, target: FIRST, size: new PageSize(1), signal: new AbortController().signal };
    await fetchPage(clientOf(new Script(step)), list, { ...request, onLastId: (id) => ids.push(id) });
    expect(ids).toEqual(told);
  });

  it('is passed by, as the time of the server is, where nobody wants it', async () => {
    const date = 'Sun, 22 Nov 2026 12:00:00 GMT';
    const script = new Script(success(rows(8123), { meta: { pagination } }, { link, date }));
    expect(await fetch(script, FIRST)).toMatchObject({ rows: rows(8123), lastId: '8123' });
  });
});

describe('the order of a page', () => {
  it.each<[string, PageTarget, Record<string, unknown>[], string | undefined]>([
    ['after an id', { after: 4n, most: 9 }, rows(5, 6), undefined],
    ['with the id it comes after', { after: 5n, most: 9 }, rows(5, 6), 'has id 5 after 5'],
    ['with an id twice', { after: 0n, most: 9 }, rows(5, 5), 'has id 5 after 5'],
    ['in no order, by number', { page: 1 }, rows(6, 5, 5), undefined],
    ['in no order, without paging', 'all', rows(6, 5), undefined],
    ['in no order, where any will do', { after: 9n, most: 9, inAnyOrder: true }, rows(6, 5), undefined],
    ['by number, with a row without an id', { page: 1 }, [{ id: 6 }, {}], 'without a usable id'],
  ])('%s', async (_name, target, data, message) => {
    const fetched = fetch(new Script(success(data)), target);
    if (message === undefined) expect((await fetched).rows).toEqual(data);
    else
      await expect(fetched).rejects.toMatchObject({
        code: 'pages.order',
        requestId: 'req-1',
        message: expect.stringContaining(message),
      });
  });

  it('is told by its first and its last id', async () => {
    const page = await fetch(new Script(success(rows(6, 8, 5))), { page: 1 });
    expect(page).toMatchObject({ firstId: '6', lastId: '5' });
    expect(await fetch(new Script(success([])), { page: 1 })).toMatchObject({ firstId: null, lastId: null });
  });
});

describe('truncatePage', () => {
  const page = {
    rows: rows(1, 2, 3),
    meta: null,
    requestId: 'req-1',
    firstId: '1',
    lastId: '3',
    pageSize: 3,
  };

  it.each([
    [9, [1, 2, 3], '1', '3'],
    [3, [1, 2, 3], '1', '3'],
    [2, [1, 2], '1', '2'],
    [0, [], null, null],
  ])('to %d rows', (count, ids, firstId, lastId) => {
    const truncated = truncatePage(page, count);
    expect(truncated).toEqual({ ...page, rows: rows(...ids), firstId, lastId });
    // Nothing is copied in vain.
    expect(truncated === page).toBe(count >= 3);
  });
});

it.each<[unknown, bigint | undefined]>([
  [1, 1n],
  [2 ** 53 - 1, 2n ** 53n - 1n],
  [2 ** 53, undefined],
  [0, undefined],
  [-1, undefined],
  [1.5, undefined],
  ['1', 1n],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['9'.repeat(31), 10n ** 31n - 1n],
  ['9'.repeat(32), undefined],
  ['0', undefined],
  ['05', undefined],
  ['-5', undefined],
  ['5x', undefined],
  [null, undefined],
  [undefined, undefined],
  [true, undefined],
  [['5'], undefined],
])('the id %j is %s', (id, exact) => {
  expect(idOf({ id })).toBe(exact);
});
