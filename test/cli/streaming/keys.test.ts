import { describe, expect, it } from 'vitest';
import { checkKeys } from '../../../src/cli/streaming/keys.ts';

describe('--key', () => {
  it.each([
    '*.*.*.*',
    '#',
    '*.*.PatientV1.*',
    'org-1.5.TransactionV1.CREATE',
    'org-1.#',
    '#.UPDATE',
    '*.5.#',
    '*.1000000000001.#',
    '*.*.LocationProductionNetScheduleV1.READ_COMPLETE',
  ])('may be %s', (key) => {
    expect(checkKeys([key], 'org-1')).toEqual([key]);
  });

  it.each([
    ['*.*.PatientV2.*', 'Did you mean PatientV1?'],
    ['*.*.patientv1.*', 'Did you mean PatientV1?'],
    ['*.*.Something.*', 'Something is no domain type of the stream. These are: DocumentV1, PatientV1'],
    ['*.*.*.CREATED', 'Did you mean CREATE?'],
    ['*.*.*.PATCH', 'PATCH is no operation of the stream. These are: CREATE, UPDATE, DELETE, READ, READ_COMPLETE'],
    ['#.PatentV1.#', 'Did you mean PatientV1?'],
    [
      'PatientV1',
      'PatientV1 has 1 part and a routing key has 4, so no message matches it. Did you mean *.*.PatientV1.*?',
    ],
    ['*.*.PatientV1', /^\*\.\*\.PatientV1 has 3 parts and a routing key has 4, so no message matches it\.$/],
    ['5', /^5 has 1 part and .* so no message matches it\.$/],
    ['org-1.5.6.PatientV1.CREATE', '5 parts'],
    ['org-2.*.PatientV1.*', 'another organization than org-1'],
    ['org-2.#', 'another organization than org-1'],
    ['*..PatientV1.*', 'none of them empty'],
    ['', 'none of them empty'],
    [`*.*.PatientV1.${'x'.repeat(300)}`, 'at most 255 bytes'],
  ])('may not be %s', (key, text) => {
    expect(() => checkKeys(['#', key], 'org-1')).toThrow(text);
    const source = expect.objectContaining({ items: [expect.objectContaining({ source: '--key' })] });
    expect(() => checkKeys([key], 'org-1')).toThrow(source);
  });

  it('may name any organization where any may come', () => {
    expect(checkKeys(['org-2.*.PatientV1.*', 'org-3.#'], undefined)).toHaveLength(2);
  });
});
