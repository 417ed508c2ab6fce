import { documents } from '../../../src/catalog/resources/documents.ts';
import type { WireRecord } from '../calls.ts';
import { GIF, JPEG, PDF, PNG } from '../files.ts';
import type { ResourceFixture } from '../fixture.ts';
import { big, ELSEWHERE, EXAMS, ORGANIZATION, OTHER_ORGANIZATION, PATIENTS } from '../ids.ts';

const file = { content: PDF };

function document(n: number, record: WireRecord): WireRecord {
  return { id: big(n), name: `paper-${n}.pdf`, mimeType: 'PDF', userDefinedDate: null, tags: [], file, ...record };
}

const mine = { ownerOrganization: { id: ORGANIZATION }, ownerType: 'Organization' };
const ofPatient = (id: number) => ({ ownerPatient: { id }, ownerType: 'Patient' });
const ofExam = (id: number) => ({ ownerPerioExam: { id }, ownerType: 'PerioExam' });

const RECORDS: readonly WireRecord[] = [
  document(201, { ...mine, name: 'Consent.pdf', tags: ['Consent', 'X-Ray'] }),
  document(202, { ...mine, name: 'Consent (1).docx', mimeType: 'DOCX', userDefinedDate: '2026-01-31' }),
  document(203, { ...ofPatient(PATIENTS.ann), name: 'Consent.pdf', tags: ['X-Ray'] }),
  document(204, { ...ofPatient(PATIENTS.ann), tags: ['50%_off', '\u00c5rsrapport'] }),
  document(205, { ...ofPatient(PATIENTS.bob), tags: ['a,b', 'quote " and \\ slash'] }),
  document(206, { ...ofPatient(PATIENTS.bob), tags: ['50x off'] }),
  document(207, { ...ofExam(EXAMS.one), name: 'Chart.pdf', tags: ['Consent'] }),
  document(208, { ...ofExam(EXAMS.two), name: 'Chart.pdf' }),
];

const BYTES: Readonly<Record<string, string>> = { JPEG, PNG, GIF };

/** Documents (specification, Document, Limits; D36–D38). */
export const documentFixture: ResourceFixture = {
  resource: documents,
  records: RECORDS,
  elsewhere: [
    { ...document(201, { ownerOrganization: { id: OTHER_ORGANIZATION } }) },
    { ...document(991, { ownerPatient: { id: ELSEWHERE.patient } }) },
  ],
  importOnly: ['file'],
  meta: 'documents',
  countNames: ['totalCount'],
  create: (n) => ({ name: `new-${n}`, mimeType: 'PDF', file }),
  required: ['name', 'mimeType', 'file.content'],
  update: (n) => ({ name: `renamed-${n}`, tags: ['Renamed'] }),
  lengths: [['name', 1, 70]],
  choices: [['mimeType', ['PDF', 'JPEG', 'PNG', 'GIF', 'DOC', 'DOCX', 'PPT', 'PPTX', 'XLS', 'XLSX', 'MSG']]],
  links: [
    ['ownerPatient', PATIENTS.cleo, ELSEWHERE.patient],
    ['ownerPerioExam', EXAMS.one, ELSEWHERE.exam],
  ],
  dates: ['userDefinedDate'],
  companions: (name, value): Readonly<Record<string, unknown>> => {
    const bytes = BYTES[String(value).trim().toUpperCase()];
    return name === 'mimeType' && bytes !== undefined ? { file: { content: bytes } } : {};
  },
};
