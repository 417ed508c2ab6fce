import type { ResourceFixture } from './fixture.ts';
import { documentFixture } from './resources/documents.ts';
import { patientFixture } from './resources/patients.ts';

/** One entry a resource: everything in `test/contract` runs for each of them. */
export const FIXTURES: readonly ResourceFixture[] = [documentFixture, patientFixture];
