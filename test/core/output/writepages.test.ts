import { describe, expect, it } from 'vitest';
import { jsonFormatter } from '../../../src/core/output/json.ts';
import { type Sink, streamSink } from '../../../src/core/output/sink.ts';
import { writePages } from '../../../src/core/output/writepages.ts';
import type { Row } from '../../../src/core/pages/page.ts';

class Recorder implements Sink {
  readonly events: string[] = [];
  write = async (data: string | Uint8Array) => {
    if (data.length > 0) this.events.push(Buffer.from(data).toString());
  };
  commit = async () => {
    this.events.push('(commit)');
  };
  abort = async () => {
    this.events.push('(abort)');
  };
}

async function* pages(...steps: (readonly Row[] | Error)[]) {
  for (const step of steps) {
    if (step instanceof Error) throw step;
    yield { rows: step };
  }
}

describe('writePages', () => {
  it('gives whole pages to a formatter that takes them, and writes its bytes', async () => {
    const sink = new Recorder();
    const rows = Array.from({ length: 250 }, (_, id) => ({ id }));
    const given: number[] = [];
    const formatter = {
      takesPages: true as const,
      begin: () => 'begin ',
      rows: (page: readonly Row[]) => {
        given.push(page.length);
        return Buffer.from(`${page.length} `);
      },
      end: () => 'end',
    };
    expect(await writePages(pages(rows, rows.slice(0, 1)), { formatter, sink })).toBe(251);
    expect(given).toEqual([250, 1]);
    expect(sink.events).toEqual(['begin 250 ', '1 ', 'end', '(commit)']);
  });

  it('writes page by page and counts', async () => {
    const sink = new Recorder();
    const counted: number[] = [];
    const total = await writePages(pages([{ id: 1 }, { id: 2 }], [{ id: 3 }]), {
      formatter: jsonFormatter(),
      sink,
      shape: ({ id }) => ({ n: id }),
      onRows: (rows) => counted.push(rows),
    });
    expect(total).toBe(3);
    expect(counted).toEqual([2, 3]);
    expect(sink.events).toEqual(['[\n{"n":1},\n{"n":2}', ',\n{"n":3}', '\n]\n', '(commit)']);
  });

  it('writes long pages in pieces', async () => {
    const sink = new Recorder();
    const rows = Array.from({ length: 250 }, (_, at) => ({ id: at + 1 }));
    await writePages(pages(rows), { formatter: jsonFormatter(), sink });
    expect(sink.events).toHaveLength(5);
    expect(JSON.parse(sink.events.slice(0, -1).join(''))).toEqual(rows);
  });

  it('writes a whole document for nothing', async () => {
    const sink = new Recorder();
    await writePages(pages(), { formatter: jsonFormatter(), sink });
    expect(sink.events).toEqual(['[]\n', '(commit)']);
  });

  it('writes nothing when the first page fails', async () => {
    const sink = new Recorder();
    const failure = new Error('no');
    await expect(writePages(pages(failure), { formatter: jsonFormatter(), sink })).rejects.toBe(failure);
    expect(sink.events).toEqual(['(abort)']);
  });

  it('gives up when a later page fails', async () => {
    const sink = new Recorder();
    await expect(writePages(pages([{ id: 1 }], new Error('no')), { formatter: jsonFormatter(), sink })).rejects.toThrow(
      'no',
    );
    expect(sink.events).toEqual(['[\n{"id":1}', '(abort)']);
  });

  it('asks for no page before the last is taken', async () => {
    let taken = 0;
    let asked = 0;
    async function* counting() {
      for (; asked < 3; ) {
        expect(taken).toBe(asked);
        asked++;
        yield { rows: [{ id: asked }] };
      }
    }
    const write = async () => {
      await new Promise((done) => setImmediate(done));
      taken++;
    };
    await writePages(counting(), { formatter: jsonFormatter(), sink: streamSink(write) });
    expect(asked).toBe(3);
  });
});
