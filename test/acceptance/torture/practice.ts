import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ORGANIZATION, TOKEN } from '../molar.ts';

/** Records that the writers link to and leave alone. Local time is UTC, so that occurrences of a series are counted in weeks. */
export const LOCATION = 7_000_000_000_005;
export const PROVIDER = 7_100_000_000_001;
export const OPERATORY = 7_200_000_000_001;
export const FIRST_PATIENT = 7_300_000_000_001;
export const PATIENTS = 4;

/** Values of a patient that a POST needs; also those of the imported ones. */
export const PATIENT_VALUES = {
  gender: 'O',
  dateOfBirth: '1980-02-29',
  patientStatus: 'ACTIVE',
  contactMethod: 'Email me',
  languageType: 'English',
  preferredLocation: { id: LOCATION },
  address1: '1 Example Street',
  city: 'Exampleton',
  state: 'UT',
  postalCode: '84101',
  phones: [{ phoneType: 'MOBILE', number: '(801) 555-0123', sequence: 1 }],
};

/** Writes the import file of the practice that is tortured; `tokens` opens it to more callers than one. */
export async function writePractice(folder: string, tokens: readonly string[] = [TOKEN]): Promise<void> {
  const own = { organizationId: ORGANIZATION };
  const timezone = 'UTC';
  const patients = Array.from({ length: PATIENTS }, (_, index) => ({
    type: 'PatientV1',
    ...own,
    id: FIRST_PATIENT + index,
    firstName: `First${index}`,
    lastName: 'Example',
    ...PATIENT_VALUES,
  }));
  const records = [
    { type: 'Organization', ...own, id: ORGANIZATION, name: 'Example', timezone, createdDate: '2020-01-01' },
    { type: 'Location', ...own, id: LOCATION, name: 'Main', timezone },
    { type: 'Provider', ...own, id: PROVIDER, firstName: 'Ann', lastName: 'Archer' },
    { type: 'Operatory', ...own, id: OPERATORY, name: 'One', location: { id: LOCATION } },
    ...tokens.map((token) => ({
      type: 'AccessToken',
      token,
      organizations: [ORGANIZATION],
      scopes: ['model:read', 'model:write', 'practice:read'],
    })),
    ...patients,
  ];
  await writeFile(join(folder, 'practice.ndjson'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}
