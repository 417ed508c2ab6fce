import { foldText } from '../../../catalog/filter/values.ts';
import type { Review } from '../uploads/uploadrow.ts';
import type { PathFacts } from './pattern.ts';

/** What patients are told apart by; texts are empty where there is no value. Dates are `YYYY-MM-DD`. */
export interface KnownPatient {
  /** Digits, exact. */
  readonly id: string;
  readonly lastName: string;
  readonly firstName: string;
  readonly preferredName: string;
  readonly dateOfBirth: string;
  readonly chartNumber: string;
  /** Status DUPLICATE: found by id only. */
  readonly isDuplicate: boolean;
}

/** The one patient that the facts of a path mean, or why a person has to choose. */
export type Match = { readonly patient: KnownPatient } | { readonly review: Review };

/** Text as it is compared: letter case, Unicode form and runs of white space make no difference. */
function folded(text: string): string {
  return foldText(text.trim().replace(/\s+/g, ' '));
}

/** An id of a path as the API writes it. */
export function plainId(digits: string): string {
  return digits.replace(/^0+/, '');
}

type Fact = 'id' | 'chartNumber' | 'last' | 'first' | 'birthDate';

/** Whether a patient has what the path gives; a value that is missing is another one. */
const AGREES: Readonly<Record<Fact, (patient: KnownPatient, value: string) => boolean>> = {
  id: ({ id }, value) => id === plainId(value),
  chartNumber: ({ chartNumber }, value) => folded(chartNumber) === folded(value),
  last: ({ lastName }, value) => folded(lastName) === folded(value),
  first: ({ firstName, preferredName }, value) => [firstName, preferredName].map(folded).includes(folded(value)),
  birthDate: ({ dateOfBirth }, value) => dateOfBirth === value,
};

const WORDS: Readonly<Record<Fact, string>> = {
  id: 'id',
  chartNumber: 'chart number',
  last: 'last name',
  first: 'first name',
  birthDate: 'date of birth',
};

/** The facts that patients are found by: the first of these that the path gives. */
export function foundBy({ id, chartNumber, birthDate }: PathFacts): readonly Fact[] {
  if (id !== undefined) return ['id'];
  if (chartNumber !== undefined) return ['chartNumber'];
  return birthDate === undefined ? ['last', 'first'] : ['last', 'first', 'birthDate'];
}

/** Patients, found quickly by id, chart number or last name. */
export class PatientIndex {
  private readonly byKey = new Map<string, KnownPatient[]>();

  constructor(patients: Iterable<KnownPatient>) {
    for (const patient of patients) {
      this.add('id', patient.id, patient);
      if (patient.isDuplicate) continue;
      this.add('chartNumber', folded(patient.chartNumber), patient);
      this.add('last', folded(patient.lastName), patient);
    }
  }

  /** The patient of a file by what its path says. Exactly one has to agree with all of it; a name alone is no proof. */
  match(facts: PathFacts): Match {
    const keys = foundBy(facts);
    const given = (Object.keys(AGREES) as Fact[]).filter((fact) => facts[fact] !== undefined);
    const others = given.filter((fact) => !keys.includes(fact));
    const found = this.first(facts).filter((patient) => agrees(patient, facts, keys));
    const left = found.filter((patient) => agrees(patient, facts, others));
    const [patient, ...more] = left;
    const key = inWords(keys);
    if (found.length === 0) return forReview(`No patient has this ${key}.`, found);
    if (patient === undefined) return forReview(`No patient with this ${key} also has this ${inWords(others)}.`, found);
    if (isNameAlone(keys)) return forReview('Last and first name alone do not say who the patient is.', left);
    return more.length === 0 ? { patient } : forReview(`Several patients have this ${inWords(given)}.`, left);
  }

  private add(fact: Fact, value: string, patient: KnownPatient): void {
    const key = `${fact} ${value}`;
    const patients = this.byKey.get(key);
    if (patients === undefined) this.byKey.set(key, [patient]);
    else patients.push(patient);
  }

  private first(facts: PathFacts): readonly KnownPatient[] {
    const [fact = 'id'] = foundBy(facts);
    const value = facts[fact] ?? '';
    return this.byKey.get(`${fact} ${fact === 'id' ? plainId(value) : folded(value)}`) ?? [];
  }
}

function agrees(patient: KnownPatient, facts: PathFacts, checked: readonly Fact[]): boolean {
  return checked.every((fact) => AGREES[fact](patient, facts[fact] ?? ''));
}

/** Whether neither an id, a chart number nor a date of birth tells bearers of a name apart. */
function isNameAlone(keys: readonly Fact[]): boolean {
  return keys.includes('last') && !keys.includes('birthDate');
}

function inWords(facts: readonly Fact[]): string {
  const words = facts.map((fact) => WORDS[fact]);
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(' and ');
}

function forReview(reason: string, patients: readonly KnownPatient[]): Match {
  const ids = patients.map(({ id }) => BigInt(id)).sort((one, other) => (one < other ? -1 : 1));
  return { review: { reason, candidates: ids.map(String) } };
}
