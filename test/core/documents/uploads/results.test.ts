import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../../src/core/documents/uploads/manifest.ts';
import { formatResults, type ResultRow } from '../../../../src/core/documents/uploads/resultsfile.ts';
import type { UploadStatus } from '../../../../src/core/documents/uploads/uploadrow.ts';

const done = { status: 'done', id: '42', storedName: 'a.pdf', attempts: 1, error: null, exitCode: 0 } as const;

describe('the results CSV', () => {
  it('has the columns of a manifest and what became of each file', () => {
    const text = formatResults([
      { row: { file: 'a.pdf', patient: '7000000000114', tags: ['X-Ray', 'a;b'] }, outcome: done },
      {
        row: {
          file: 'b, c.pdf',
          name: '=1+1',
          perioExam: '5',
          tags: [],
          mimeType: 'PDF',
          location: 'scans.csv line 3',
        },
        outcome: { status: 'failed', id: null, storedName: null, attempts: 0, error: 'two \n lines', exitCode: 2 },
      },
    ]);
    expect(text).toBe(
      'file,name,patient,perioExam,tags,mimeType,status,id,storedName,attempts,error\n' +
        'a.pdf,,7000000000114,,X-Ray;a\\;b,,done,42,a.pdf,1,\n' +
        '"b, c.pdf",\'=1+1,,5,,PDF,failed,,,0,two lines\n',
    );
  });

  it('names date and crop only when they are used', () => {
    const text = formatResults([
      { row: { file: 'a.png', tags: [], crop: '0,0,5,5', ratio: '1' }, outcome: done },
      { row: { file: 'b.png', tags: [] }, outcome: done },
    ]);
    expect(text.split('\n')[0]).toBe(
      'file,name,patient,perioExam,tags,mimeType,crop,ratio,status,id,storedName,attempts,error',
    );
  });

  it('has its header when there are no files', () => {
    expect(formatResults([])).toBe('file,name,patient,perioExam,tags,mimeType,status,id,storedName,attempts,error\n');
  });

  it('is a manifest that gives back the rows and their outcomes', () => {
    const trimmed = fc
      .string({ unit: fc.constantFrom(...'ab=+-@\'",;\\ \n1é😀') })
      .map((text) => text.trim())
      .filter((text) => text !== '');
    const file = fc.string({ unit: fc.constantFrom(...'ab=+-@\'",;\\ 1é\t\r') }).filter((text) => text.trim() !== '');
    const optional = fc.option(trimmed, { nil: undefined });
    const row = fc.record({
      file,
      name: optional,
      patient: optional,
      mimeType: optional,
      userDefinedDate: optional,
      tags: fc.array(trimmed),
    });
    const outcome = fc.record({
      status: fc.constantFrom<UploadStatus[]>('done', 'failed', 'unknown', 'pending'),
      storedName: fc.option(trimmed, { nil: null }),
      attempts: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(row, outcome)), (pairs) => {
        const results = pairs.map(
          ([given, { status, ...rest }]): ResultRow => ({
            row: Object.fromEntries(
              Object.entries(given).filter(([, value]) => value !== undefined),
            ) as unknown as ResultRow['row'],
            outcome: { status, id: status === 'done' ? '7' : null, error: null, exitCode: 0, ...rest },
          }),
        );
        const read = readManifest(Buffer.from(formatResults(results)), 'r.csv');
        expect(read.map(({ location: _, ...rest }) => rest)).toEqual(
          results.map(({ row: { tags, ...rest }, outcome: { status, id, storedName, attempts } }) => ({
            ...rest,
            tags,
            earlier: { status, attempts, ...(id !== null && { id }), ...(storedName !== null && { storedName }) },
          })),
        );
      }),
    );
  });
});
