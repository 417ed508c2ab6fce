import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../../src/core/documents/uploads/manifest.ts';

const read = (text: string) => readManifest(Buffer.from(text), 'scans.csv');
const COLUMNS = 'Its first line must name columns: file,name,patient,perioExam,tags,mimeType (only file is required).';

describe('a manifest', () => {
  it.each([
    ['only files', 'file\na.pdf\n', [{ file: 'a.pdf', tags: [], location: 'scans.csv line 2' }]],
    [
      'every column',
      'file,name,patient,perioExam,tags,mimeType\nb/a.pdf,Consent,7000000000114,,X-Ray; 2026 ,pdf\n',
      [
        {
          file: 'b/a.pdf',
          name: 'Consent',
          patient: '7000000000114',
          tags: ['X-Ray', '2026'],
          mimeType: 'pdf',
          location: 'scans.csv line 2',
        },
      ],
    ],
    [
      'columns in another order, with a byte order mark and CRLF',
      '\ufeffperioExam,file\r\n12,a.pdf\r\n',
      [{ file: 'a.pdf', perioExam: '12', tags: [], location: 'scans.csv line 2' }],
    ],
    [
      'fewer cells than columns',
      'file,tags,name\na.pdf\n',
      [{ file: 'a.pdf', tags: [], location: 'scans.csv line 2' }],
    ],
    [
      'tags with a semicolon',
      'file,tags\na.pdf,a\\;b;c\\\\;\n',
      [{ file: 'a.pdf', tags: ['a;b', 'c\\'], location: 'scans.csv line 2' }],
    ],
    [
      'a name with spaces around it',
      'file\n" a.pdf "\n',
      [{ file: ' a.pdf ', tags: [], location: 'scans.csv line 2' }],
    ],
    [
      'date and crop',
      'file,userDefinedDate,crop,ratio\na.png,2026-03-02,"0,0,10,10",0.5\n',
      [
        {
          file: 'a.png',
          userDefinedDate: '2026-03-02',
          crop: '0,0,10,10',
          ratio: '0.5',
          tags: [],
          location: 'scans.csv line 2',
        },
      ],
    ],
    [
      'results of an earlier run',
      'file,status,id,storedName,attempts,error\na.pdf,done,42,a (1).pdf,2,\nb.pdf,failed,,,0,is empty.\n',
      [
        {
          file: 'a.pdf',
          tags: [],
          location: 'scans.csv line 2',
          earlier: { status: 'done', id: '42', storedName: 'a (1).pdf', attempts: 2 },
        },
        { file: 'b.pdf', tags: [], location: 'scans.csv line 3', earlier: { status: 'failed', attempts: 0 } },
      ],
    ],
    [
      'a quote that a spreadsheet wanted',
      "file,name\n'=a.pdf,'+1\n",
      [{ file: '=a.pdf', name: '+1', tags: [], location: 'scans.csv line 2' }],
    ],
    [
      'a review file, in part filled in',
      'file,patient,perioExam,reason,candidates\na.pdf,,,Why.,5;6\nb.pdf,7,,Why.,7\nc.pdf,,8,Why.,\nd.pdf, ,,Why.,\n',
      [
        {
          ...{ file: 'a.pdf', patient: '?', tags: [], location: 'scans.csv line 2' },
          review: { reason: 'The patient is still missing.', candidates: ['5', '6'] },
        },
        { file: 'b.pdf', patient: '7', tags: [], location: 'scans.csv line 3' },
        { file: 'c.pdf', perioExam: '8', tags: [], location: 'scans.csv line 4' },
        {
          ...{ file: 'd.pdf', patient: '?', tags: [], location: 'scans.csv line 5' },
          review: { reason: 'The patient is still missing.', candidates: [] },
        },
      ],
    ],
    [
      'outcomes in any case, with spaces, and attempts that are none',
      'file,status,id,attempts\na.pdf, Done , 42 ,x\nb.pdf,UNKNOWN,,12a\nc.pdf,pending,,10\nd.pdf, ,7,3\n',
      [
        { file: 'a.pdf', tags: [], location: 'scans.csv line 2', earlier: { status: 'done', id: '42', attempts: 0 } },
        { file: 'b.pdf', tags: [], location: 'scans.csv line 3', earlier: { status: 'unknown', attempts: 0 } },
        { file: 'c.pdf', tags: [], location: 'scans.csv line 4', earlier: { status: 'pending', attempts: 10 } },
        { file: 'd.pdf', tags: [], location: 'scans.csv line 5' },
      ],
    ],
    [
      'columns with spaces around them, and as many cells as columns',
      'file , tags\na.pdf,b\n',
      [{ file: 'a.pdf', tags: ['b'], location: 'scans.csv line 2' }],
    ],
    [
      'semicolons named in the first line',
      'sep=;\nfile;tags\na.pdf;b\n',
      [{ file: 'a.pdf', tags: ['b'], location: 'scans.csv line 3' }],
    ],
    ['no rows', 'file\n', []],
  ])('%s', (_, text, rows) => {
    expect(read(text)).toEqual(rows);
  });

  it.each([
    ['empty', '', `scans.csv is empty. ${COLUMNS}`],
    ['without its column', 'name,tags\na,b\n', `scans.csv: column file is missing. ${COLUMNS}`],
    [
      'of semicolons',
      'file;patient\na.pdf;5\n',
      `scans.csv: its cells are not separated by commas. If semicolons separate them, put the line sep=; at the top. ${COLUMNS}`,
    ],
    [
      'with an unknown column',
      'file,Patient,"x y"\n',
      'scans.csv: unknown column "Patient", "x y". Columns: file, name, patient, perioExam, tags, mimeType, userDefinedDate, crop, ratio, status, id, storedName, attempts, error, reason, candidates.',
    ],
    ['with a column twice', 'file,tags,tags\n', 'scans.csv: column tags appears twice.'],
    [
      'with a cell too many',
      'file,tags\na.pdf,b,c\n',
      'scans.csv line 2: 3 cells but 2 columns. Quote cells that hold commas.',
    ],
    ['without a file', 'file,tags\n\na.pdf,b\n  ,b\n', 'scans.csv line 4: file is empty.'],
    [
      'with an unknown status',
      'file,status\na.pdf,ok\n',
      'scans.csv line 2: status ok is none of done, failed, unknown, pending.',
    ],
    [
      'done without an id',
      'file,status,id\na.pdf,done,\n',
      'scans.csv line 2: status done needs the id of the document. Empty the status to upload the file.',
    ],
    [
      'of tabs',
      'file\tpatient\na.pdf\t5\n',
      `scans.csv: its cells are not separated by commas. If semicolons separate them, put the line sep=; at the top. ${COLUMNS}`,
    ],
    [
      'with one unknown column',
      'price\n',
      'scans.csv: unknown column "price". Columns: file, name, patient, perioExam, tags, mimeType, userDefinedDate, crop, ratio, status, id, storedName, attempts, error, reason, candidates.',
    ],
    ...['0', 'x7', '7x', '07'].map((id) => [
      `done with the id ${id}`,
      `file,status,id\na.pdf,done,${id}\n`,
      'scans.csv line 2: status done needs the id of the document. Empty the status to upload the file.',
    ]),
    ['with an open quote', 'file\n"a.pdf\n', 'scans.csv line 2: a quoted cell that starts here is not closed.'],
  ])('%s is refused', (_, text, message) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ message, exitCode: 2 }));
  });

  it.each(['', 'file;patient\n', '"a'])('that is refused is named: %j', (text) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ items: [expect.objectContaining({ source: 'scans.csv' })] }),
    );
  });

  it('that is not UTF-8 is refused', () => {
    const latin = Buffer.from('file\nM\u00fcller.pdf\n', 'latin1');
    expect(() => readManifest(latin, 'scans.csv')).toThrow('byte 7, in line 2, is 0xFC, which is not UTF-8.');
  });
});
