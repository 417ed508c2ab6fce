import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importFile, importText } from '../../../src/server/import/importer.ts';
import { ProblemList, readLines } from '../../../src/server/import/lines.ts';
import { bareRecords } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';

/** Lines read from bytes that arrive in chunks of one size, and the lines that could not be read. */
async function read(text: string | Buffer, size = 65_536) {
  const bytes = Buffer.from(text as string);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  );
  const problems = new ProblemList();
  const lines: unknown[] = [];
  for await (const some of readLines(Readable.from(chunks), problems)) {
    for (const { line, record } of some) lines.push([line, record]);
  }
  const wrong = problems.listed.map(({ line, field }) => `${line} ${field}`);
  return { lines, wrong, messages: problems.listed.map(({ message }) => message) };
}

describe('readLines', () => {
  it.each<[string, string, unknown[], string[]]>([
    [
      'lines',
      '{"a":1}\n{"a":2}\n',
      [
        [1, { a: 1 }],
        [2, { a: 2 }],
      ],
      [],
    ],
    [
      'a last line without an end',
      '{"a":1}\n{"a":2}',
      [
        [1, { a: 1 }],
        [2, { a: 2 }],
      ],
      [],
    ],
    [
      'CRLF',
      '{"a":1}\r\n{"a":2}\r\n',
      [
        [1, { a: 1 }],
        [2, { a: 2 }],
      ],
      [],
    ],
    [
      'a byte order mark',
      '\ufeff{"a":1}\n{"a":2}',
      [
        [1, { a: 1 }],
        [2, { a: 2 }],
      ],
      [],
    ],
    [
      'blank lines, which count',
      '\n  \n{"a":1}\n\t\r\n\n{"a":2}\n\n',
      [
        [3, { a: 1 }],
        [6, { a: 2 }],
      ],
      [],
    ],
    ['nothing', '', [], []],
    ['a mark alone', '\ufeff', [], []],
    ['spaces around', '  {"a":1}\t\n', [[1, { a: 1 }]], []],
    [
      'bad lines among good ones',
      '{"a":1}\n{"a":\nnull\n[1]\n"x"\n5\n{"a":2}',
      [
        [1, { a: 1 }],
        [7, { a: 2 }],
      ],
      ['2 null', '3 null', '4 null', '5 null', '6 null'],
    ],
    ['two objects on a line', '{"a":1}{"a":2}\n', [], ['1 null']],
    ['text beyond ASCII', '{"a":"é\u{1f9b7}\u2028"}\n', [[1, { a: 'é\u{1f9b7}\u2028' }]], []],
    ['an escaped line break', '{"a":"x\\ny"}', [[1, { a: 'x\ny' }]], []],
  ])('reads %s', async (_name, text, lines, wrong) => {
    for (const size of [1, 2, 3, 65_536]) expect(await read(text, size)).toMatchObject({ lines, wrong });
  });

  it('reads what was written, in chunks of any size (property)', async () => {
    const records = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(records, fc.integer({ min: 1, max: 50 }), async (objects, size) => {
        const texts = objects.map((object) => JSON.stringify(object));
        const { lines, wrong } = await read(texts.map((text) => `${text}\n`).join(''), size);
        expect(lines).toEqual(texts.map((text, index) => [index + 1, JSON.parse(text)]));
        expect(wrong).toEqual([]);
      }),
    );
  });

  it.each([
    ['bytes that are no UTF-8', Buffer.from('{"a":"\xe9"}\n{"a":1}\n', 'latin1'), 'Byte 7 of the line is not UTF-8.'],
    ['NULs', '{\0"\0a\0\n{"a":1}\n', 'The line has a NUL'],
    ['what is no JSON', '{"a":\n{"a":1}\n', 'The line is not a JSON object.'],
  ])('says of %s that a line has them, rather than change it', async (_name, bytes, message) => {
    const { lines, messages } = await read(bytes);
    expect({ lines, messages }).toEqual({ lines: [[2, { a: 1 }]], messages: [expect.stringContaining(message)] });
  });

  const HALF = 41 * 1024 * 1024;
  const long = Buffer.alloc(HALF, ' ');
  const ended = Buffer.concat([long, Buffer.from('\n')]);
  const end = ended.subarray(HALF);

  /** How many groups of lines are read from chunks. */
  async function counted(chunks: readonly Buffer[]): Promise<number> {
    let groups = 0;
    for await (const _ of readLines(Readable.from(chunks), new ProblemList())) groups++;
    return groups;
  }

  it.each([
    ['a line of more than 80 MiB', [end, end, long, long], 3, 'The line has more than 83886080 bytes.'],
    [
      'half a character of UTF-16',
      [Buffer.from('\ufeff\n{}\n{', 'utf16le'), Buffer.from('}')],
      3,
      'cannot be read as text',
    ],
  ])('refuses a file for %s, and says which line it is', async (_name, chunks, line, message) => {
    await expect(counted(chunks)).rejects.toMatchObject({
      name: 'ImportRefused',
      total: 1,
      problems: [{ line, field: null, message: expect.stringContaining(message) }],
    });
  });

  it('counts the bytes of each line by itself', async () => {
    for (const chunks of [
      [long, end, long, end],
      [ended, ended],
    ])
      expect(await counted(chunks)).toBeGreaterThan(0);
  });

  it('passes on the failure of its source', async () => {
    const source = new Readable({ read: () => source.destroy(new Error('gone')) });
    await expect(readLines(source, new ProblemList()).next()).rejects.toThrow('gone');
  });
});

describe('importFile', () => {
  it('imports a file, and says what it did', async () => {
    const service = await testService([]);
    const text = bareRecords()
      .map((record) => JSON.stringify(record))
      .join('\n');
    const summary = await importFile(service.service, Readable.from([Buffer.from(text)]));
    expect(summary.imported.Location).toBe(5);
    expect(importText(summary).split('\n')).toContain('Location  5');
    expect(importText({ imported: {}, deleted: 0 })).toBe('The file has no records.\n');
    expect(importText({ imported: { PatientV1: 1 }, deleted: 2 })).toBe('PatientV1  1\ndeleted  2\n');
    await service.close();
  });

  it('fails with its source, even when that fails before it is read', async () => {
    const service = await testService([]);
    const source = new Readable().destroy(new Error('gone'));
    await expect(importFile(service.service, source)).rejects.toThrow('gone');
    await service.close();
  });

  it('imports nothing when a line cannot be read', async () => {
    const service = await testService([]);
    const text = `${bareRecords()
      .map((record) => JSON.stringify(record))
      .join('\n')}\n{"type":`;
    const importing = importFile(service.service, Readable.from([Buffer.from(text)]));
    await expect(importing).rejects.toMatchObject({ problems: [{ line: bareRecords().length + 1, field: null }] });
    expect((await service.call('GET', '/patients')).status).toBe(401);
    await service.close();
  });
});
