import { dateText, yearOf } from './calendar.ts';
import { textPdf } from './pdf.ts';
import type { Household, Person } from './people.ts';
import { dentalChart, radiograph } from './pictures.ts';
import type { Practice } from './practice.ts';
import { Random, weights } from './random.ts';
import type { DemoRecord } from './record.ts';

interface Paper {
  readonly title: string;
  readonly tags: readonly string[];
  /** Pixels of a picture; a page of text where there are none. */
  readonly size?: readonly [width: number, height: number];
}

const PAPERS = weights<Paper>([
  [{ title: 'Bitewing X-ray', tags: ['X-Ray'], size: [72, 54] }, 30],
  [{ title: 'Panoramic X-ray', tags: ['X-Ray', 'Panoramic'], size: [112, 56] }, 12],
  [{ title: 'Consent form', tags: ['Consent'] }, 20],
  [{ title: 'Insurance card', tags: ['Insurance card'], size: [86, 54] }, 14],
  [{ title: 'Explanation of benefits', tags: ['EOB', 'Insurance'] }, 14],
  [{ title: 'Referral letter', tags: ['Referral'] }, 6],
  [{ title: 'Treatment plan', tags: [] }, 4],
]);

const ORGANIZATION_PAPERS: readonly Paper[] = [
  { title: 'Notice of privacy practices', tags: ['Consent', 'HIPAA'] },
  { title: 'Fee schedule', tags: ['Fees'] },
  { title: 'Consent form, blank', tags: ['Consent'] },
  { title: 'Infection control plan', tags: [] },
  { title: 'Logo', tags: ['Marketing'], size: [64, 64] },
];

const PER_OWNER = weights<number>([
  [1, 50],
  [2, 30],
  [3, 20],
]);

/** Documents that belong to the organization itself. */
export function* organizationDocuments(practice: Practice): Generator<DemoRecord> {
  const random = new Random(practice.seed, 5, 0);
  const ownerOrganization = { id: practice.organizationId };
  for (const paper of ORGANIZATION_PAPERS) {
    const name = paper.title === 'Fee schedule' ? `${paper.title} ${yearOf(practice.today)}` : paper.title;
    yield document(
      practice,
      { ownerOrganization },
      name,
      paper,
      practice.today - 400,
      ['Bright Harbor Dental Group'],
      random,
    );
  }
}

/**
 * Makes the perio exams and documents of households, as many as the practice's limit allows: about one person in ten
 * has documents in the small practice, fewer in the others.
 */
export function recordKeeper(practice: Practice, limit: number): (household: Household) => Generator<DemoRecord> {
  const share = Math.min(0.1, (limit * 0.5) / practice.patients);
  let left = limit;
  return function* (household) {
    const random = new Random(practice.seed, 3, household.index);
    for (const person of household.members) {
      if (person.status === 'DUPLICATE') continue;
      const examined = person.status === 'ACTIVE' && person.age >= 30 && random.chance(0.03);
      const owned = random.chance(share) ? Math.min(left, random.weighted(PER_OWNER)) : 0;
      left -= owned;
      yield* personDocuments(practice, person, owned, random);
      if (examined) {
        const id = practice.ids.next('PerioExam');
        const { organizationId } = practice;
        yield { type: 'PerioExam', organizationId, id, patient: { id: person.id } };
        if (left > 0 && random.chance(share * 3)) {
          left--;
          yield perioChart(practice, id, person, random);
        }
      }
    }
  };
}

function* personDocuments(practice: Practice, person: Person, count: number, random: Random): Generator<DemoRecord> {
  const names = new Set<string>();
  while (names.size < count) {
    const paper = random.weighted(PAPERS);
    const day = practice.today - random.between(1, 900);
    const name = `${paper.title} ${dateText(day)}`;
    if (names.has(name)) continue;
    names.add(name);
    const about = [`Patient: ${person.firstName} ${person.lastName}`, `Record: ${person.id}`];
    yield document(practice, { ownerPatient: { id: person.id } }, name, paper, day, about, random);
  }
}

function perioChart(practice: Practice, exam: number, person: Person, random: Random): DemoRecord {
  const day = practice.today - random.between(1, 700);
  const paper = { title: 'Perio chart', tags: ['Perio'] };
  const about = [`Patient: ${person.firstName} ${person.lastName}`, ...dentalChart(random)];
  return document(
    practice,
    { ownerPerioExam: { id: exam } },
    `Perio chart ${dateText(day)}`,
    paper,
    day,
    about,
    random,
  );
}

function document(
  practice: Practice,
  owner: Readonly<Record<string, unknown>>,
  name: string,
  { title, tags, size }: Paper,
  day: number,
  about: readonly string[],
  random: Random,
): DemoRecord {
  const mimeType = size === undefined ? 'PDF' : 'PNG';
  const bytes =
    size === undefined
      ? textPdf([title, ...about, `Date: ${dateText(day)}`, 'Synthetic sample'])
      : radiograph(size, random);
  const crop =
    size !== undefined && random.chance(0.05) ? { fromX: 4, fromY: 4, width: 40, height: 40, ratio: 0.5 } : {};
  return {
    type: 'DocumentV1',
    organizationId: practice.organizationId,
    id: practice.ids.next('DocumentV1'),
    // Scanners name files with and without the extension; both are stored the same (D36).
    name: random.chance(0.2) ? `${name}.${mimeType.toLowerCase()}` : name,
    mimeType,
    ...owner,
    tags,
    userDefinedDate: dateText(day),
    file: { content: bytes.toString('base64'), ...crop },
  };
}
