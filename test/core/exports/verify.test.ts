import { appendFile, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyExport } from '../../../src/core/exports/verify.ts';
import { FORMATS, type Format } from '../../../src/core/output/formats.ts';
import { emptyFolder, exportOf, PLAIN, type Wanted } from './running.ts';

const ODD: Wanted = { ...PLAIN, rows: [1, 2, 3].map((id) => ({ id, lastName: 'x' })) };

async function exported(wanted: Wanted): Promise<string> {
  const path = join(await emptyFolder(), 'out');
  await exportOf(path, wanted, { pageSize: 2, receipt: true });
  return path;
}

describe('verifyExport', () => {
  it.each<[string, Partial<Wanted>]>([
    ['csv', {}],
    ['csv without header', { header: false }],
    ['csv for Excel', { excel: true }],
    ['ndjson', { format: 'ndjson' }],
    ['json', { format: 'json' }],
    ['tsv', { format: 'tsv' }],
    ['tsv without header', { format: 'tsv', header: false }],
    ['tsv of no records', { rows: [], format: 'tsv' }],
    ['csv of no records', { rows: [] }],
    ['json of no records', { rows: [], format: 'json' }],
  ])('finds nothing wrong with %s as it was exported', async (_name, own) => {
    const { problems, receipt } = await verifyExport(await exported({ ...ODD, ...own }));
    expect(problems).toEqual([]);
    expect(receipt.rows).toBe((own.rows ?? ODD.rows).length);
  });

  it.each<[string, (path: string) => Promise<unknown>, readonly RegExp[]]>([
    [
      'one byte changed',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).replace('2,x', '2,y')),
      [/sha256/],
    ],
    [
      'the end cut off',
      (path) => truncate(path, 16),
      [/it has 16 bytes, and 24 were/, /it has 1 records, and 3 were/, /sha256/],
    ],
    [
      'a row removed',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).replace('2,x\n', '')),
      [/20 bytes/, /2 records/, /sha256/],
    ],
    ['a row added', (path) => appendFile(path, '4,x\n'), [/28 bytes/, /4 records/, /sha256/]],
  ])('finds %s', async (_name, spoil, expected) => {
    const path = await exported(ODD);
    await spoil(path);
    const { problems } = await verifyExport(path);
    expect(problems).toHaveLength(expected.length);
    for (const [at, pattern] of expected.entries()) expect(problems[at]).toMatch(pattern);
  });

  it.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    ['no receipt', (path) => rename(`${path}.receipt.json`, `${path}.x`), /has no receipt: there is no /],
    ['a receipt that is cut off', (path) => truncate(`${path}.receipt.json`, 9), /is not a receipt of molar/],
    ['no file', (path) => rename(path, `${path}.x`), /^Cannot read .*: no such file/],
  ])('cannot check a file with %s: exit 9', async (_name, spoil, message) => {
    const path = await exported(ODD);
    await spoil(path);
    await expect(verifyExport(path)).rejects.toMatchObject({ exitCode: 9, message: expect.stringMatching(message) });
  });
});

describe('the counter of a format', () => {
  it.each<[string, Format, boolean, string, number | undefined]>([
    ['line ends inside quotes', 'csv', true, 'a,b\n1,"x\n""y""\n"\n2,z\n', 2],
    ['CRLF', 'csv', true, 'a\r\n1\r\n2\r\n', 2],
    ['no header', 'csv', false, '1\n2\n', 2],
    ['objects of an array', 'json', true, '[\n{"a":"\\n{"},\n{"a":1}\n]\n', 2],
    ['objects of lines', 'ndjson', true, '{"a":1}\n{"a":2}\n{"a":3}\n', 3],
    ['lines of cells', 'tsv', true, 'a\tb\n1\t"x\\n\n2\tz\n', 2],
    ['lines without a header, one of an empty cell', 'tsv', false, '1\n\n2\n', 3],
    ['a spreadsheet', 'xlsx', true, 'PK', undefined],
  ])('%s', async (_name, format, header, text, total) => {
    const counter = await FORMATS[format].counter?.({ header });
    for (const byte of Buffer.from(text)) counter?.take(Uint8Array.of(byte));
    expect(counter?.total()).toBe(total);
  });
});
