import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { type ParallelOptions, walkParallel } from '../../../src/core/pages/parallel.ts';
import type { OutgoingRequest, Send } from '../../../src/core/transport/send.ts';
import { answer, clientOf, success } from '../transport/script.ts';

const list = operationOf(patients, 'list');
const upTo = (last: number, step = 1) => Array.from({ length: Math.floor(last / step) }, (_, at) => (at + 1) * step);

interface Asked {
  readonly lastId: number;
  readonly pageSize: number;
  readonly signal: AbortSignal | undefined;
  readonly release: () => void;
}

/**
 * A server that has these ids, and says when each of its answers goes out: head and body, or the body alone. Heads tell
 * the last id of their page unless they are silent.
 */
class HeldServer {
  readonly asked: Asked[] = [];

  constructor(
    private readonly ids: readonly number[],
    private readonly holds: (lastId: number) => 'nothing' | 'all' | 'body' | 'silent',
    private readonly longest = Number.POSITIVE_INFINITY,
    private readonly refuses: (lastId: number) => boolean = () => false,
  ) {}

  readonly send: Send = async ({ url, signal }: OutgoingRequest) => {
    const query = new URL(url).searchParams;
    const [lastId, pageSize] = [Number(query.get('lastId')), Number(query.get('pageSize'))];
    let release = () => {};
    const released = new Promise<void>((resolve, reject) => {
      release = resolve;
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
    released.catch(() => undefined);
    this.asked.push({ lastId, pageSize, signal, release });
    await new Promise((done) => setImmediate(done));
    const held = this.holds(lastId);
    if (held === 'all') await released;
    if (this.refuses(lastId)) return answer(403, '');
    const page = this.ids.filter((id) => id > lastId).slice(0, Math.min(pageSize, this.longest));
    const link = { link: `<?lastId=${page.at(-1)}>; rel="next"` };
    const { body, ...head } = success(
      page.map((id) => ({ id })),
      {},
      page.length === 0 || held === 'silent' ? {} : link,
    );
    const slow = async function* () {
      if (held === 'body') await released;
      yield* body;
    };
    return { ...head, body: slow() };
  };

  get places(): readonly number[] {
    return this.asked.map(({ lastId }) => lastId);
  }

  releaseAll(): void {
    for (const { release } of this.asked) release();
  }
}

/** Until nothing goes on any more. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await new Promise((done) => setImmediate(done));
}

/** A walk that takes whatever comes, and what it has found so far. */
function taking(server: HeldServer, options: Partial<ParallelOptions> = {}) {
  const found: Row[] = [];
  const work = (async () => {
    const pages = walkParallel(clientOf(server), list, { pageSize: 10, parallel: 2, ...options });
    for await (const page of pages) found.push(...page.rows);
  })();
  work.catch(() => undefined);
  return { found, work };
}

const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b);
const rowsOf = (ids: readonly number[]) => ids.map((id) => ({ id }));

describe('the requests of a parallel walk', () => {
  it('are for the next range as soon as the last page of one is on its way', async () => {
    // Behind the first page the ids are so far apart that a range ends with the first row that it has.
    const ids = [...upTo(10), ...upTo(50_000, 1000)];
    const server = new HeldServer(ids, (lastId) => (lastId === 0 ? 'nothing' : 'body'));
    const { found, work } = taking(server);
    await settled();
    // The range that is taken, and two that wait.
    expect(server.places).toEqual([0, 10, 40, 70]);
    const holding = setInterval(() => server.releaseAll());
    await work.finally(() => clearInterval(holding));
    expect(found).toEqual(rowsOf(ids));
  });

  it.each<[string, (lastId: number) => 'nothing' | 'all' | 'body' | 'silent', number[]]>([
    // Ranges are 10 to 40, 40 to 70, and so on.
    ['page of a range', (lastId) => (lastId < 10 ? 'nothing' : 'body'), [0, 10, 40, 20, 50]],
    [
      'range, by the head of the last page of one',
      (lastId) => (lastId < 30 ? 'nothing' : 'body'),
      [0, 10, 40, 20, 50, 30, 70, 80],
    ],
    [
      'page, also behind one whose head told nothing',
      (lastId) => (lastId < 20 ? 'silent' : 'body'),
      [0, 10, 40, 50, 20, 30],
    ],
  ])('are for the next %s, while records are on their way', async (_what, holds, places) => {
    const server = new HeldServer(upTo(1000), holds);
    const { found, work } = taking(server);
    await settled();
    expect(sorted(server.places)).toEqual(sorted(places));
    const holding = setInterval(() => server.releaseAll());
    await work.finally(() => clearInterval(holding));
    expect(found).toEqual(rowsOf(upTo(1000)));
  });

  it('are for no more rows than a range has ids left', async () => {
    const ids = [...upTo(10), 12, 15, 17, 20, 22, 25, 27, 30, 32, 35, ...upTo(100).map((id) => id + 35)];
    const server = new HeldServer(ids, () => 'nothing');
    const { found, work } = taking(server);
    await work;
    expect(found).toEqual(rowsOf(ids));
    // The first range ends with 40.
    expect(server.asked.find(({ lastId }) => lastId === 35)?.pageSize).toBe(5);
  });

  it('are no more at once than allowed while others are held up', async () => {
    // Ranges are 10 to 40, 40 to 70, and so on: only the first is answered.
    const server = new HeldServer(upTo(1000), (lastId) => (lastId < 40 ? 'nothing' : 'all'));
    const { found, work } = taking(server);
    await settled();
    expect(found).toEqual(rowsOf(upTo(40)));
    expect(server.places).toEqual(expect.arrayContaining([0, 10, 20, 30, 40, 70]));
    expect(server.asked).toHaveLength(6);
    const holding = setInterval(() => server.releaseAll());
    await work.finally(() => clearInterval(holding));
    expect(found).toEqual(rowsOf(upTo(1000)));
  });

  it('begin nothing new once one has failed', async () => {
    const server = new HeldServer(
      upTo(1000),
      (lastId) => (lastId === 10 ? 'all' : 'nothing'),
      undefined,
      (lastId) => lastId >= 40,
    );
    const { found, work } = taking(server);
    await settled();
    expect(server.places).toEqual([0, 10, 40]);
    server.releaseAll();
    await expect(work).rejects.toMatchObject({ status: 403 });
    expect(found).toEqual(rowsOf(upTo(40)));
  });

  it('end when nobody wants more', async () => {
    const server = new HeldServer(upTo(1000), (lastId) => (lastId === 0 ? 'nothing' : 'all'));
    const pages = walkParallel(clientOf(server), list, { pageSize: 10, parallel: 3 });
    await pages.next();
    await settled();
    const ahead = server.asked.slice(1);
    expect(ahead.map(({ signal }) => signal?.aborted)).toEqual([false, false, false]);
    await pages.return(undefined);
    await settled();
    expect(ahead.map(({ signal }) => signal?.aborted)).toEqual([true, true, true]);
    expect(server.asked).toHaveLength(4);
  });

  it('are for pages as long as those of the service, several at once', async () => {
    // Two pages of the same length tell that it has no longer ones.
    const server = new HeldServer(upTo(200), () => 'nothing', 5);
    const { found, work } = taking(server, { pageSize: 500 });
    await work;
    expect(found).toEqual(rowsOf(upTo(200)));
    expect(server.asked.map(({ pageSize }) => pageSize)).toEqual([500, 500, ...server.asked.slice(2).map(() => 5)]);
    // A range of 15 ids and the next one.
    expect(server.places.slice(0, 4)).toEqual([0, 5, 10, 25]);
  });
});
