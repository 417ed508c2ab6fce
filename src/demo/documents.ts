import { dateText, yearOf } from './calendar.ts';
import { radiograph, textPdf } from './files.ts';
import type { Household } from './households.ts';
import type { Person } from './people.ts';
import type { DemoRecord, Practice } from './practice.ts';
import { Random, weights } from './random.ts';

/** Something on paper or film; `size` in pixels makes it a picture, otherwise it is a page of text. */
interface Paper {
  readonly title: string;
  readonly tags: readonly string[];
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

const PERIO_CHART: Paper = { title: 'Perio chart', tags: ['Perio'] };

const PER_OWNER = weights([
  [1, 50],
  [2, 30],
  [3, 20],
]);

/** Documents that belong to the organization itself. */
export function* organizationDocuments(practice: Practice): Generator<DemoRecord> {
  const random = new Random(practice.seed, 5, 0);
  const owner = { ownerOrganization: { id: practice.organizationId } };
  for (const paper of ORGANIZATION_PAPERS) {
    const name = paper.title === 'Fee schedule' ? `${paper.title} ${yearOf(practice.today)}` : paper.title;
    const about = ['Bright Harbor Dental Group'];
    yield document(practice, random, { paper, name, owner, day: practice.today - 400, about });
  }
}

/**
 * Makes the perio exams and documents of one household after another, as many as the practice may have: about one
 * person in ten has documents in the small practice, fewer in the others.
 */
export function documentWriter(practice: Practice): (household: Household) => Generator<DemoRecord> {
  let left = practice.documents;
  const share = Math.min(0.1, (left * 0.5) / practice.patients);
  return function* (household) {
    const random = new Random(practice.seed, 3, household.index);
    for (const person of household.members) {
      if (person.status === 'DUPLICATE') continue;
      const examined = person.status === 'ACTIVE' && person.age >= 30 && random.chance(0.03);
      const owned = random.chance(share) ? Math.min(left, random.weighted(PER_OWNER)) : 0;
      left -= owned;
      yield* personDocuments(practice, person, owned, random);
      if (!examined) continue;
      const id = practice.nextId('PerioExam');
      yield { type: 'PerioExam', organizationId: practice.organizationId, id, patient: { id: person.id } };
      if (left <= 0 || !random.chance(share * 3)) continue;
      left--;
      yield perioChart(practice, id, person, random);
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
    yield document(practice, random, { paper, owner: { ownerPatient: { id: person.id } }, day, about });
  }
}

/** A page with pocket depths in millimetres, tooth by tooth. */
function perioChart(practice: Practice, examId: number, person: Person, random: Random): DemoRecord {
  const day = practice.today - random.between(1, 700);
  const about = [`Patient: ${person.firstName} ${person.lastName}`];
  for (let quadrant = 1; quadrant <= 4; quadrant++) {
    about.push(`Quadrant ${quadrant}: ${Array.from({ length: 8 }, () => random.between(1, 5)).join(' ')}`);
  }
  return document(practice, random, { paper: PERIO_CHART, owner: { ownerPerioExam: { id: examId } }, day, about });
}

interface Draft {
  readonly paper: Paper;
  /** The title and the date, when not given. */
  readonly name?: string;
  readonly owner: Readonly<Record<string, unknown>>;
  readonly day: number;
  /** Lines below the title, where it is a page. */
  readonly about: readonly string[];
}

function document(practice: Practice, random: Random, { paper, owner, day, about, ...draft }: Draft): DemoRecord {
  const { title, tags, size } = paper;
  const date = dateText(day);
  const { name = `${title} ${date}` } = draft;
  const [mimeType, bytes] =
    size === undefined
      ? ['PDF', textPdf([title, ...about, `Date: ${date}`, 'Synthetic sample'])]
      : ['PNG', radiograph(size, random)];
  const crop = size !== undefined && random.chance(0.05);
  return {
    type: 'DocumentV1',
    organizationId: practice.organizationId,
    id: practice.nextId('DocumentV1'),
    // Scanners name files with and without the extension; both are stored the same (D36).
    name: random.chance(0.2) ? `${name}.${mimeType.toLowerCase()}` : name,
    mimeType,
    ...owner,
    tags,
    userDefinedDate: date,
    file: { content: bytes.toString('base64'), ...(crop && { fromX: 4, fromY: 4, width: 40, height: 40, ratio: 0.5 }) },
  };
}
