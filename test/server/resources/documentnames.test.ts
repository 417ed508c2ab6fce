import { describe, expect, it } from 'vitest';
import { refusalOf, rowOf, type WireRecord } from '../../support/calls.ts';
import { GIF, JPEG } from '../../support/files.ts';
import { EXAMS, PATIENTS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';
import { post, posted, put } from './documentsof.ts';

const service = sharedService(bareRecords);
const owned = (id: number) => ({ ownerPatient: { id } });

/** Names stored for names sent one after the other, by an owner that has no documents yet. */
async function storedNames(sent: readonly (string | WireRecord)[], owner: WireRecord): Promise<unknown[]> {
  const names: unknown[] = [];
  for (const one of sent) {
    const made = await posted(service, { ...(typeof one === 'string' ? { name: one } : one), ...owner });
    names.push(made.name);
  }
  for (const { id } of (await service.call('GET', '/documents')).body.data as WireRecord[])
    await service.call('DELETE', `/documents/${id}`);
  return names;
}

const JPG = { mimeType: 'JPG', file: { content: JPEG } };

describe('stored names (specification, Document rules 2 and 3; D36)', () => {
  it.each<[string, (string | WireRecord)[], string[]]>([
    ['the extension of the type', ['report'], ['report.pdf']],
    ['an extension that fits already', ['report.pdf', 'other.PDF'], ['report.pdf', 'other.pdf']],
    ['one extension only', ['a.pdf.pdf'], ['a.pdf.pdf']],
    ['an extension of another type', ['a.docx'], ['a.docx.pdf']],
    ['a name with dots', ['v1.2 final'], ['v1.2 final.pdf']],
    ['a name that is an extension of another type', ['.docx'], ['.docx.pdf']],
    [
      'aliases of JPEG',
      ['jpg', 'JPE', 'jif', 'JFIF', 'jfi', 'Jpeg'].map((extension, n) => ({ name: `p${n}.${extension}`, ...JPG })),
      [0, 1, 2, 3, 4, 5].map((n) => `p${n}.jpeg`),
    ],
    ['spaces before the extension', ['a .pdf'], ['a.pdf']],
    ['numbers', ['a', 'a', 'a.pdf', 'a'], ['a.pdf', 'a (1).pdf', 'a (2).pdf', 'a (3).pdf']],
    ['numbers in any letter case', ['Report', 'REPORT', 'report'], ['Report.pdf', 'REPORT (1).pdf', 'report (2).pdf']],
    [
      'numbers across types',
      ['a', { name: 'a', mimeType: 'DOCX' }, { name: 'a', ...JPG }],
      ['a.pdf', 'a (1).docx', 'a (2).jpeg'],
    ],
    [
      'a name that is numbered already',
      ['a (1)', 'a', 'a', 'a (1)'],
      ['a (1).pdf', 'a.pdf', 'a (2).pdf', 'a (1) (1).pdf'],
    ],
    ['the same letters in two normal forms', ['\u00e9', 'e\u0301'], ['\u00e9.pdf', 'e\u0301 (1).pdf']],
    ['% and _ as themselves', ['a%', 'a_', 'ab'], ['a%.pdf', 'a_.pdf', 'ab.pdf']],
  ])('have %s', async (_name, sent, names) => {
    for (const owner of [{}, owned(PATIENTS.ann), { ownerPerioExam: { id: EXAMS.one } }]) {
      expect(await storedNames(sent, owner)).toEqual(names);
    }
  });

  it('are numbered for each owner by itself', async () => {
    // An exam with the id of a patient.
    await service.import([line('PerioExam', { id: PATIENTS.ann, patient: { id: PATIENTS.bob } })]);
    const owners = [
      { ownerPerioExam: { id: PATIENTS.ann } },
      {},
      owned(PATIENTS.ann),
      owned(PATIENTS.bob),
      { ownerPerioExam: { id: EXAMS.one } },
      { ownerPerioExam: { id: EXAMS.two } },
    ];
    for (const owner of owners) expect((await posted(service, { name: 'own', ...owner })).name).toBe('own.pdf');
    for (const owner of owners) expect((await posted(service, { name: 'own', ...owner })).name).toBe('own (1).pdf');
  });

  it('take the lowest free number again', async () => {
    const made = [];
    for (let n = 0; n < 4; n++) made.push(await posted(service, { name: 'gap' }));
    await service.call('DELETE', `/documents/${made[1]?.id}`);
    await put(service, made[2]?.id, { name: 'moved' });
    const next = [
      await posted(service, { name: 'gap' }),
      await posted(service, { name: 'gap' }),
      await posted(service, { name: 'gap' }),
    ];
    expect(next.map(({ name }) => name)).toEqual(['gap (1).pdf', 'gap (2).pdf', 'gap (4).pdf']);
  });

  it('differ when many are sent at once', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => posted(service, { name: 'race' })));
    const wanted = ['race.pdf', ...Array.from({ length: 11 }, (_, n) => `race (${n + 1}).pdf`)];
    expect(made.map(({ name }) => String(name)).sort()).toEqual(wanted.sort());
    expect(new Set(made.map(({ id }) => id)).size).toBe(12);
  });

  it('may be 70 characters and the number and extension behind', async () => {
    const base = 'x'.repeat(70);
    expect((await posted(service, { name: base })).name).toBe(`${base}.pdf`);
    const second = await posted(service, { name: `${base}.pdf` });
    expect(second.name).toBe(`${base} (1).pdf`);
    expect((await put(service, second.id, { name: second.name })).status).toBe(200);
    for (const name of [`${base}y`, `${base}.docx`, '\u{1f9b7}'.repeat(71)]) {
      expect(refusalOf(await post(service, { name }))).toEqual({ status: 400, errors: ['field.length name'] });
    }
  });

  it.each(['.pdf', '.PDF', ' .pdf ', '  '])('may not be empty: %j', async (name) => {
    expect(refusalOf(await post(service, { name }))).toEqual({ status: 400, errors: ['field.length name'] });
  });

  it.each(['a/b', '../a', 'a\\b', 'a\nb', 'a\tb', 'a\u007fb', 'a\u0085b'])(
    'may not hold separators or control characters: %j',
    async (name) => {
      expect(refusalOf(await post(service, { name }))).toEqual({ status: 400, errors: ['field.format name'] });
    },
  );
});

describe('PUT of a name', () => {
  it('of the one that GET returned changes nothing, in whatever case its extension is', async () => {
    const first = await posted(service, { name: 'Same', mimeType: 'gif', file: { content: GIF } });
    const second = await posted(service, { name: 'Same', mimeType: 'GIF', file: { content: GIF } });
    for (const { id, name } of [first, second]) {
      const base = String(name).replace('.gif', '');
      for (const sent of [name, base, `${base}.GIF`])
        expect(rowOf(await put(service, id, { name: sent })).name).toBe(name);
    }
  });

  it('changes the letter case of the own name', async () => {
    const { id } = await posted(service, { name: 'case' });
    expect(rowOf(await put(service, id, { name: 'CASE' })).name).toBe('CASE.pdf');
  });

  it('numbers a name that another document has, and never counts its own', async () => {
    const first = await posted(service, { name: 'taken' });
    const second = await posted(service, { name: 'mine' });
    expect(rowOf(await put(service, second.id, { name: 'Taken' })).name).toBe('Taken (1).pdf');
    expect(rowOf(await put(service, second.id, { name: 'taken' })).name).toBe('taken (1).pdf');
    expect(rowOf(await put(service, first.id, { name: 'free' })).name).toBe('free.pdf');
    expect(rowOf(await put(service, second.id, { name: 'taken' })).name).toBe('taken.pdf');
  });

  it('keeps everything else, and the links work under the new name', async () => {
    const made = await posted(service, { name: 'before', tags: ['T'], userDefinedDate: '2026-01-01' });
    const renamed = rowOf(await put(service, made.id, { name: 'after' }));
    expect({ ...renamed, storage: null }).toEqual({ ...made, name: 'after.pdf', storage: null });
  });
});
