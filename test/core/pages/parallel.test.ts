import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { type ParallelOptions, walkParallel } from '../../../src/core/pages/parallel.ts';
import type { OutgoingRequest, Send } from '../../../src/core/transport/send.ts';
import { answer, clientOf, Script, success } from '../transport/script.ts';

const list = operationOf(patients, 'list');
const rows = (ids: readonly number[]) => ids.map((id) => ({ id }));

/** What a server says in the head of a full page that ends with an id: nothing, that id, or another one. */
type Linking = (last: number) => number | undefined;
const LINKING: Readonly<Record<string, Linking>> = {
  nothing: () => undefined,
  'the last id': (last) => last,
  'an id too high': (last) => last + 7,
  'an id too low': (last) => last - 3,
  'any id': (last) => (last * 7919) % 5000,
};

/** A server that has these ids, answers in an order of its own and counts how many requests it has at once. */
class PagingServer {
  readonly queries: { lastId: number; pageSize: number }[] = [];
  atOnce = 0;
  most = 0;
  private readonly ids: number[];
  private readonly before: (query: { lastId: number; pageSize: number }) => void;
  private readonly linked: Linking;
  private turns = 0;

  constructor(
    ids: number[],
    before: (query: { lastId: number; pageSize: number }) => void = () => {},
    linked: Linking = () => undefined,
  ) {
    this.ids = ids;
    this.before = before;
    this.linked = linked;
  }

  readonly send: Send = async (request: OutgoingRequest) => {
    const query = new URL(request.url).searchParams;
    const asked = { lastId: Number(query.get('lastId')), pageSize: Number(query.get('pageSize')) };
    this.queries.push(asked);
    this.most = Math.max(this.most, ++this.atOnce);
    for (let turn = (this.turns++ * 7) % 5; turn > 0; turn--) await new Promise((done) => setImmediate(done));
    this.atOnce--;
    request.signal?.throwIfAborted();
    this.before(asked);
    const page = this.ids.filter((id) => id > asked.lastId).slice(0, asked.pageSize);
    const told = page.length === asked.pageSize ? this.linked(page.at(-1) ?? 0) : undefined;
    return success(rows(page), {}, told === undefined ? {} : { link: `<?lastId=${told}>; rel="next"` });
  };
}

async function walk(server: { send: Send }, options: Partial<ParallelOptions> = {}): Promise<Row[]> {
  const all: Row[] = [];
  const script = { send: server.send };
  const { fetched = 0 } = options.from ?? {};
  for await (const page of walkParallel(clientOf(script), list, { pageSize: 10, parallel: 4, ...options })) {
    all.push(...page.rows);
    // Each page has rows, and tells a place that is true.
    expect(page.position).toEqual({ lastId: String(page.rows.at(-1)?.id), fetched: fetched + all.length });
  }
  return all;
}

const upTo = (last: number, step = 1) => Array.from({ length: Math.floor(last / step) }, (_, at) => (at + 1) * step);

describe('walkParallel', () => {
  it.each([
    ['dense ids', upTo(1000)],
    ['ids far apart', upTo(900_000, 1000)],
    ['ids that begin late', upTo(500).map((id) => id + 5_000_000)],
    ['a wide gap', [...upTo(300), ...upTo(300).map((id) => id + 10_000_000)]],
    ['ids that become dense', [...upTo(100_000, 1000), ...upTo(500).map((id) => id + 100_000)]],
    // Ranges of 30 ids are asked for at once, the fourth of which ends with the first id behind the gap.
    ['a gap that ends where a range does', [...upTo(12), ...upTo(500).map((id) => id + 129)]],
    ['nothing', []],
    ['less than a page', upTo(3)],
    ['exactly a page', upTo(10)],
    ['ids that become sparse', [...upTo(100), ...upTo(300_000, 1000).map((id) => id + 100)]],
  ])('brings %s once and in order, with few requests', async (_name, ids) => {
    const server = new PagingServer(ids);
    expect(await walk(server)).toEqual(rows(ids));
    expect(server.queries.length).toBeLessThan((2 * ids.length) / 10 + 10);
  });

  it.each(Object.entries(LINKING))('has several requests at once where heads tell %s', async (_what, linked) => {
    const server = new PagingServer(upTo(2000), undefined, linked);
    expect(await walk(server, { parallel: 3 })).toEqual(rows(upTo(2000)));
    const isRight = [undefined, 5].includes(linked(5));
    // What was asked for behind a wrong id is let go of, once.
    expect(server.most).toBeLessThanOrEqual(isRight ? 3 : 6);
    expect(server.queries.length).toBeLessThan(isRight ? 210 : 220);
    expect(server.most).toBeGreaterThan(1);
  });

  it('asks for what comes next while the records of a page are on their way', async () => {
    const server = new PagingServer(upTo(1000), undefined, (last) => last);
    let [waiting, most, mostLater] = [0, 0, 0];
    const slowly: Send = async (request) => {
      const isLate = server.queries.length > 60;
      const { body, ...head } = await server.send(request);
      const slow = async function* () {
        most = Math.max(most, ++waiting);
        if (isLate) mostLater = Math.max(mostLater, waiting);
        for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
        waiting--;
        yield* body;
      };
      return { ...head, body: slow() };
    };
    expect(await walk({ send: slowly }, { parallel: 2 })).toEqual(rows(upTo(1000)));
    expect(most).toBeGreaterThan(2);
    expect(mostLater).toBeGreaterThan(2);
    expect(server.most).toBe(2);
  });

  const dense = [...upTo(1_000_000, 100_000), ...upTo(3000).map((id) => id + 1_000_000)];

  it.each([
    // The first page, four of the first range, and the end; then also all three of the second range.
    ['however dense the ids become', dense, undefined, 6],
    ['however dense they become, where heads tell what comes', dense, (last: number) => last, 6],
    ['where ids are as dense as before', upTo(3000), undefined, 7],
  ])('reads no further ahead of a slow reader than it may buffer, %s', async (_name, ids, linked, most) => {
    const server = new PagingServer(ids, undefined, linked);
    const pages = walkParallel(clientOf(server), list, { pageSize: 10, parallel: 2 });
    const found: Row[] = [...((await pages.next()).value?.rows ?? [])];
    for (let turn = 0; turn < 500; turn++) await new Promise((done) => setImmediate(done));
    expect(server.queries).toHaveLength(most);
    for await (const page of pages) found.push(...page.rows);
    expect(found).toEqual(rows(ids));
  });

  it('asks one page after another for what one page holds', async () => {
    const server = new PagingServer(upTo(1_000_000, 200_000));
    await walk(server);
    expect(server.queries.map(({ lastId }) => lastId)).toEqual([0, 1_000_000]);
  });

  it.each(Object.entries(LINKING).slice(0, 2))(
    'does not ask much more often than a walk one after another, where heads tell %s',
    async (_what, linked) => {
      for (const step of [1, 3, 1000]) {
        const server = new PagingServer(upTo(3000 * step, step), undefined, linked);
        await walk(server);
        expect(server.queries.length).toBeLessThan(2 * 300);
      }
    },
  );

  it('goes on after an id, to a limit', async () => {
    const from = { lastId: '500', fetched: 500 };
    const server = new PagingServer(upTo(1000));
    expect(await walk(server, { from, limit: 700 })).toEqual(rows(upTo(700).slice(500)));
    expect(server.queries.length).toBeLessThan(40);
    const last = new PagingServer(upTo(1000));
    expect(await walk(last, { from, limit: 507 })).toEqual(rows(upTo(507).slice(500)));
    expect(last.queries).toEqual([{ lastId: 500, pageSize: 7 }]);
    const page = new PagingServer(upTo(1000));
    expect(await walk(page, { from, limit: 510 })).toEqual(rows(upTo(510).slice(500)));
    expect(page.queries).toEqual([{ lastId: 500, pageSize: 10 }]);
  });

  it('asks for whole pages one after another where no two requests at once are allowed', async () => {
    const ids = [...upTo(100), ...upTo(3000, 100).map((id) => id + 100)];
    const server = new PagingServer(ids);
    expect(await walk(server, { parallel: 1 })).toEqual(rows(ids));
    const starts = [0, ...ids.filter((_id, at) => at % 10 === 9)];
    expect(server.queries).toEqual(starts.map((lastId) => ({ lastId, pageSize: 10 })));
  });

  it('ends with the page that reaches its limit, at a place from where nothing is lost', async () => {
    const pages = walkParallel(clientOf(new PagingServer(upTo(1000))), list, { pageSize: 10, parallel: 4, limit: 35 });
    const places: unknown[] = [];
    for await (const { position, rows: some } of pages) places.push([position?.lastId, position?.fetched, some.length]);
    expect(places).toEqual([
      ['10', 10, 10],
      ['20', 20, 10],
      ['30', 30, 10],
      ['35', 35, 5],
    ]);
  });

  it('tells where it stands with every page', async () => {
    const server = new PagingServer(upTo(100));
    const places: unknown[] = [];
    for await (const { position, rows: some } of walkParallel(clientOf(server), list, {
      pageSize: 10,
      parallel: 4,
    })) {
      places.push([position?.lastId, position?.fetched, some.at(-1)?.id]);
    }
    expect(places).toEqual(upTo(100, 10).map((id) => [String(id), id, id]));
  });

  it('asks for smaller pages after a timeout, once for all that were too large', async () => {
    let refused = 0;
    const server = new PagingServer(upTo(1000));
    const send: Send = async (request) => {
      const size = Number(new URL(request.url).searchParams.get('pageSize'));
      if (size > 5) return refused++ === 0 ? server.send(request) : answer(408, '');
      return server.send(request);
    };
    expect(await walk({ send })).toEqual(rows(upTo(1000)));
    expect(server.queries.slice(1).every(({ pageSize }) => pageSize === 5 || pageSize < 5)).toBe(true);
    expect(server.queries.filter(({ pageSize }) => pageSize === 5).length).toBeGreaterThan(150);
  });

  it('ends before what came into being behind the end it has seen', async () => {
    const ids = upTo(100);
    const server = new PagingServer(ids, ({ lastId }) => {
      // Records that are made after somebody has asked behind the last one.
      if (lastId === 100 && ids.length === 100) queueMicrotask(() => ids.push(...upTo(200).map((id) => id + 100)));
    });
    const found = (await walk(server)).map(({ id }) => Number(id));
    expect(found).toEqual(upTo(found.length));
    expect(found.length).toBeGreaterThanOrEqual(100);
  });

  it('fails when a page fails, after every page before it', async () => {
    const server = new PagingServer(upTo(1000));
    const send: Send = async (request) => {
      const lastId = Number(new URL(request.url).searchParams.get('lastId'));
      return lastId >= 500 ? answer(403, '') : server.send(request);
    };
    const seen: Row[] = [];
    const script = { send };
    const work = async () => {
      for await (const page of walkParallel(clientOf(script), list, { pageSize: 10, parallel: 4 }))
        seen.push(...page.rows);
    };
    await expect(work()).rejects.toMatchObject({ status: 403 });
    expect(seen).toEqual(rows(upTo(seen.length)));
    expect(seen.length).toBeGreaterThanOrEqual(500);
  });

  it('stops when the signal comes', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const server = new PagingServer(upTo(1000), ({ lastId }) => {
      if (lastId >= 300) stop.abort(reason);
    });
    await expect(walk(server, { signal: stop.signal })).rejects.toBe(reason);
  });

  it('counts pages one after another where there is no cursor', async () => {
    const script = new Script(success(rows([1, 2])), success(rows([3])), success([]));
    const histories = operationOf(appointmentHistories, 'list');
    const found: Row[] = [];
    for await (const page of walkParallel(clientOf(script), histories, { pageSize: 2, parallel: 4 })) {
      found.push(...page.rows);
    }
    expect(found).toEqual(rows([1, 2, 3]));
    expect(script.queries.map(({ page }) => page)).toEqual(['1', '2', '3']);
  });

  it('brings what a walk one after another brings, whatever the ids', async () => {
    // Where all of them are small, ranges end just before an id, at it and just behind it.
    const gaps = fc.oneof(
      fc.array(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 5000 })), { maxLength: 300 }),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 20, maxLength: 100 }),
    );
    const numbers = fc.record({
      pageSize: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 4 })),
      parallel: fc.integer({ min: 2, max: 9 }),
      limit: fc.option(fc.integer({ min: 1, max: 350 }), { nil: undefined }),
    });
    const heads = fc.constantFrom(...Object.values(LINKING));
    await fc.assert(
      fc.asyncProperty(gaps, numbers, heads, async (steps, given, linked) => {
        let last = 0;
        const ids = steps.map((step) => (last += step));
        expect(await walk(new PagingServer(ids, undefined, linked), given)).toEqual(rows(ids.slice(0, given.limit)));
      }),
      { numRuns: 150 },
    );
  });
});
