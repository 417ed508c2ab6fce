import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { walkPages } from '../../../src/core/pages/walk.ts';
import type { WalkOptions } from '../../../src/core/pages/walkoptions.ts';
import { bodyText, readEnvelope } from '../../../src/core/transport/envelope.ts';
import type { OutgoingRequest } from '../../../src/core/transport/send.ts';
import { answer, broken, clientOf, problem, Script, type Step, success } from '../transport/script.ts';

const list = operationOf(patients, 'list');
const rows = (...ids: (number | string)[]) => ids.map((id) => ({ id }));

async function walk(script: Script, options: Partial<WalkOptions> = {}): Promise<Row[]> {
  const all: Row[] = [];
  for await (const page of walkPages(clientOf(script), list, { pageSize: 2, ...options })) all.push(...page.rows);
  return all;
}

/** A server that has these ids and pages as it should. */
function serverOf(ids: readonly number[], longest: number): Step {
  return ({ url }: OutgoingRequest) => {
    const query = new URL(url).searchParams;
    const after = Number(query.get('lastId'));
    const size = Math.min(Number(query.get('pageSize')), longest);
    return success(rows(...ids.filter((id) => id > after).slice(0, size)));
  };
}

describe('walkPages', () => {
  it('goes on until a page is empty, with the filter on every page', async () => {
    const script = new Script(success(rows(3, 5)), success(rows(9)), success([]));
    expect(await walk(script, { filter: 'lastName~=Sm', fields: ['id', 'lastName'] })).toEqual(rows(3, 5, 9));
    const common = { filter: 'lastName~=Sm', responseFields: 'id,lastName', pageSize: '2' };
    expect(script.queries).toEqual([
      { ...common, lastId: '0' },
      { ...common, lastId: '5' },
      { ...common, lastId: '9' },
    ]);
  });

  it('keeps ids exact that are longer than a number can be', async () => {
    const script = new Script(success(rows('9007199254740993', '9007199254740994')), success([]));
    expect(await walk(script)).toHaveLength(2);
    expect(script.queries[1]?.lastId).toBe('9007199254740994');
  });

  it('asks for no more than the limit', async () => {
    const script = new Script(success(rows(1, 2)), success(rows(3)));
    expect(await walk(script, { limit: 3 })).toEqual(rows(1, 2, 3));
    expect(script.queries.map(({ pageSize }) => pageSize)).toEqual(['2', '1']);
  });

  it('cuts a page that is longer than was asked for', async () => {
    const script = new Script(success(rows(1, 2, 3, 4)));
    expect(await walk(script, { limit: 1 })).toEqual(rows(1));
  });

  it('asks for smaller pages after a timeout, for the rest of the run', async () => {
    const script = new Script(answer(408, ''), answer(408, ''), success(rows(1)), success(rows(2)), success([]));
    await walk(script, { pageSize: 500 });
    expect(script.queries.map(({ pageSize }) => pageSize)).toEqual(['500', '250', '125', '125', '125']);
  });

  it('fetches one page ahead and no more', async () => {
    const script = new Script(success(rows(1)), success(rows(2)), success(rows(3)));
    const pages = walkPages(clientOf(script), list, { pageSize: 1 });
    await pages.next();
    await new Promise((done) => setImmediate(done));
    expect(script.requests).toHaveLength(2);
    await pages.return(undefined);
  });

  describe('asks ahead', () => {
    const told = (lastId: number | string, ...ids: number[]) =>
      success(rows(...ids), { meta: { pagination: { limit: 1, lastId } } });
    const settled = () => new Promise((done) => setImmediate(done));
    /** How many requests there were when the records of a page were read. */
    const noting = (script: Script, counts: number[]) => (body: Uint8Array) => {
      counts.push(script.requests.length);
      return readEnvelope(bodyText(body));
    };

    it('for the next page before the records of this one are read', async () => {
      const script = new Script(told(1, 1), told('3', 3), success([]));
      const counts: number[] = [];
      expect(await walk(script, { pageSize: 1, read: noting(script, counts) })).toEqual(rows(1, 3));
      expect(counts).toEqual([2, 3, 3]);
      expect(script.queries.map(({ lastId }) => lastId)).toEqual(['0', '1', '3']);
    });

    it('also where much comes after the id, such as the filter', async () => {
      const pagination = { limit: 1, lastId: 1, filter: 'x'.repeat(200) };
      const script = new Script(success(rows(1), { meta: { pagination } }), success([]));
      const counts: number[] = [];
      await walk(script, { pageSize: 1, read: noting(script, counts) });
      expect(counts).toEqual([2, 2]);
    });

    it('and again, when the records end with another id', async () => {
      const script = new Script(told(9, 1, 2), success(rows(10)), success(rows(3)), success([]));
      expect(await walk(script)).toEqual(rows(1, 2, 3));
      expect(script.queries.map(({ lastId }) => lastId)).toEqual(['0', '9', '2', '3']);
    });

    it('but not back', async () => {
      const script = new Script(told(0, 5, 6), success(rows(7)), told(2, 8), success([]));
      expect(await walk(script)).toEqual(rows(5, 6, 7, 8));
      expect(script.queries.map(({ lastId }) => lastId)).toEqual(['0', '6', '7', '8']);
    });

    it.each([
      ['but not where the limit may end the walk', 3, [1, 2]],
      ['also for the page that ends it', 4, [2, 2]],
    ])('%s', async (_name, limit, expected) => {
      const script = new Script(told(2, 1, 2), limit === 3 ? told(3, 3) : told(4, 3, 4));
      const counts: number[] = [];
      expect(await walk(script, { limit, read: noting(script, counts) })).toEqual(rows(1, 2, 3, 4).slice(0, limit));
      expect(counts).toEqual(expected);
    });

    it('by no more than the page that is wanted next and the one after it', async () => {
      const script = new Script(told(1, 1), told(2, 2), told(3, 3), told(4, 4));
      const pages = walkPages(clientOf(script), list, { pageSize: 1 });
      await pages.next();
      await settled();
      await settled();
      expect(script.queries.map(({ lastId }) => lastId)).toEqual(['0', '1', '2']);
      await pages.return(undefined);
    });

    it('and fails when what it asked for fails', async () => {
      const script = new Script(told(1, 1), problem(403, 'auth.scope', null, 'No.'));
      await expect(walk(script, { pageSize: 1 })).rejects.toMatchObject({ status: 403 });
    });

    describe('by the head of an answer', () => {
      const linked = (link: string, ...ids: number[]) => success(rows(...ids), {}, { link });
      const next = (id: number | string) => `<?filter=a&lastId=${id}&pageSize=1>; rel="next"`;

      it('while its records are still on their way', async () => {
        const script = new Script(() => ({ ...linked(next(1)), body: slow() }), success(rows(2)), success([]));
        let asked = 0;
        async function* slow() {
          yield Buffer.from('{"data":[{"id":1}]');
          await settled();
          asked = script.requests.length;
          yield Buffer.from('}');
        }
        expect(await walk(script, { pageSize: 1 })).toEqual(rows(1, 2));
        expect(asked).toBe(2);
        expect(script.queries.map(({ lastId }) => lastId)).toEqual(['0', '1', '2']);
      });

      it('once, where the end of the answer tells the same', async () => {
        const both = success(rows(1), { meta: { pagination: { limit: 1, lastId: 1 } } }, { link: next(1) });
        const script = new Script(both, success([]));
        expect(await walk(script, { pageSize: 1 })).toEqual(rows(1));
        expect(script.requests).toHaveLength(2);
      });

      it('and again, when the records end with another id', async () => {
        const script = new Script(linked(next(9), 1, 2), success(rows(10)), success(rows(3)), success([]));
        expect(await walk(script)).toEqual(rows(1, 2, 3));
        expect(script.queries.map(({ lastId }) => lastId)).toEqual(['0', '9', '2', '3']);
      });

      it('and again, after an answer that was cut off', async () => {
        const cut = answer(200, '{"data":[{"id":1}]', { link: next(1) });
        const script = new Script(cut, success(rows(2)), linked(next(1), 1), success([]));
        expect(await walk(script, { pageSize: 1 })).toEqual(rows(1, 2));
        expect(script.queries.map(({ lastId }) => lastId)).toEqual(['0', '1', '0', '2']);
      });

      it.each([
        ['https://other.example.com/api/v1/patients?lastId=5', '; rel=next'],
        ['/api/v1/patients?filter=x%3D%3Ey&lastId=5', '; title="a"; rel="next"'],
        ['?lastId=5', ' ; rel="next last"'],
      ])('from <%s>%s', async (target, rest) => {
        const script = new Script(linked(`<?lastId=1>; rel="first", <${target}>${rest}`, 4, 5), success([]));
        const counts: number[] = [];
        expect(await walk(script, { read: noting(script, counts) })).toEqual(rows(4, 5));
        expect(counts).toEqual([2, 2]);
      });

      it.each([
        '<?lastId=5>; rel="prev"',
        '<?lastId=5>',
        '?lastId=5; rel="next"',
        '<?lastId=>; rel="next"',
        '<?lastId=05>; rel="next"',
        '<?lastId=-5>; rel="next"',
        '<?page=2>; rel="next"',
        '<?lastId=0>; rel="next"',
        `<?lastId=${'5'.repeat(40)}>; rel="next"`,
        `${'<'.repeat(10_000)}?lastId=5; rel="next"`,
      ])('but not from %.40s', async (link) => {
        const script = new Script(linked(link, 4, 5), success([]));
        const counts: number[] = [];
        expect(await walk(script, { read: noting(script, counts) })).toEqual(rows(4, 5));
        expect(counts).toEqual([1, 2]);
      });
    });
  });

  it.each<[string, Step[], string]>([
    ['an id again', [success(rows(1, 2)), success(rows(2, 3))], 'id 2 after 2'],
    ['a step back', [success(rows(5)), success(rows(4))], 'id 4 after 5'],
    ['a step back within a page', [success(rows(5, 4))], 'id 4 after 5'],
    ['the same page again', [success(rows(1, 2)), success(rows(1, 2))], 'id 1 after 2'],
    ['no id', [success([{ lastName: 'Example' }])], 'without a usable id'],
    ['an id that is not exact', [success([{ id: 2 ** 53 }])], 'without a usable id'],
  ])('fails on %s', async (_name, steps, message) => {
    await expect(walk(new Script(...steps))).rejects.toMatchObject({
      code: 'pages.order',
      exitCode: 8,
      requestId: 'req-1',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ['an object', {}],
    ['null', null],
    ['a list of something else', [1, 2]],
  ])('fails on data that is %s', async (_name, data) => {
    await expect(walk(new Script(success(data)))).rejects.toMatchObject({ code: 'response.malformed', exitCode: 8 });
  });

  it('fails when a page fails, after the pages before it', async () => {
    const script = new Script(success(rows(1, 2)), answer(403, ''));
    const seen: Row[] = [];
    const work = async () => {
      for await (const page of walkPages(clientOf(script), list, { pageSize: 2 })) seen.push(...page.rows);
    };
    await expect(work()).rejects.toMatchObject({ status: 403 });
    expect(seen).toEqual(rows(1, 2));
  });

  it('goes over a page that was cut off', async () => {
    const cut = answer(200, '{"data":[{"id":1},{"id":2}]', { 'content-length': '27' });
    const script = new Script(cut, broken(true), success(rows(1, 2)), success([]));
    expect(await walk(script)).toEqual(rows(1, 2));
  });

  it('passes on the time and the warnings of each answer, and no time that is none', async () => {
    const warnings = [{ code: 'w', title: 'W', description: 'One.' }];
    const date = 'Sun, 22 Nov 2026 12:00:00 GMT';
    const script = new Script(
      success(rows(1), { warnings }, { date }),
      success(rows(2), {}, { date: 'x' }),
      success([]),
    );
    const told: unknown[] = [];
    await walk(script, { onServerTime: (time) => told.push(time), onWarnings: (some) => told.push(...some) });
    expect(told).toEqual([Date.UTC(2026, 10, 22, 12), expect.objectContaining({ title: 'W' })]);
  });

  it('asks for no smaller page than one row', async () => {
    const script = new Script(answer(408, ''), success(rows(1)), success([]));
    await walk(script, { pageSize: 1 });
    expect(script.queries.map(({ pageSize }) => pageSize)).toEqual(['1', '1', '1']);
  });

  it('brings everything once and in order, whatever the page size and the limit', async () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 2 ** 53 - 1 }), { maxLength: 40 });
    const limits = fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        ids,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        limits,
        async (...given) => {
          const [unordered, pageSize, longest, limit] = given;
          const sorted = unordered.toSorted((a, b) => a - b);
          const script = new Script(...Array.from({ length: sorted.length + 2 }, () => serverOf(sorted, longest)));
          expect(await walk(script, { pageSize, limit })).toEqual(rows(...sorted.slice(0, limit)));
        },
      ),
    );
  });
});
