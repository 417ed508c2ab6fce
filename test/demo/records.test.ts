import { describe, expect, it } from 'vitest';
import type { DemoRecord } from '../../src/demo/practice.ts';
import { demoRecords } from '../../src/demo/records.ts';
import { digest, groups, type Link, linksOf, NOW, problemsOf, TODAY } from './smallpractice.ts';

const small = [...demoRecords('small', { today: TODAY })];
const ofType = (type: string) => small.filter((record) => record.type === type);
const patients = ofType('PatientV1');
const byId = new Map(patients.map((patient) => [patient.id, patient]));

interface Phone {
  readonly phoneType: string;
  readonly number: string;
  readonly sequence: number;
}

const link = (record: DemoRecord, field: string) => record[field] as Link | null;

describe('the small practice', () => {
  it('has what its size promises', () => {
    const counts = Object.fromEntries(
      [...groups(small, ({ type }) => type)].map(([type, list]) => [type, list.length]),
    );
    expect(counts).toMatchObject({ Organization: 1, Location: 2, PatientV1: 2_000, Operatory: 4, Provider: 8 });
    expect(ofType('Location').map(({ timezone }) => timezone)).toEqual(['America/Denver', 'America/New_York']);
    const providers = ofType('Provider');
    expect(providers.filter(({ isActive }) => !isActive).length).toBeGreaterThan(0);
    expect(providers.filter(({ isNonPersonEntity }) => isNonPersonEntity).length).toBeGreaterThan(0);
  });

  it('is read by the catalog without a problem', () => {
    const wrong = small.flatMap((record) =>
      problemsOf(record).map((problem) => `${record.type} ${record.id}: ${problem}`),
    );
    expect(wrong).toEqual([]);
  });

  it('links only to records that it has', () => {
    const known = new Set(small.map(({ type, id }) => `${type} ${id}`));
    expect(small.flatMap(linksOf).filter((target) => !known.has(target))).toEqual([]);
  });

  it('gives each kind ascending ids of its own, of 13 digits and more', () => {
    for (const [type, records] of groups(small, (record) => record.type)) {
      if (type === 'Organization') continue;
      const ids = records.map(({ id }) => id as number);
      expect(ids, type).toEqual([...new Set(ids)].sort((a, b) => a - b));
      expect(String(ids[0]).length, type).toBeGreaterThanOrEqual(13);
    }
    expect(new Set(small.map(({ id }) => id)).size).toBe(small.length);
    expect(patients[0]?.id).toBe(7_000_000_000_001);
  });

  it('carries the organization on every record', () => {
    const named = [...demoRecords('small', { today: TODAY, organizationId: 'org-7' })];
    expect(new Set(named.map(({ organizationId }) => organizationId))).toEqual(new Set(['org-7']));
    expect(named[0]).toMatchObject({ type: 'Organization', id: 'org-7', timezone: 'America/Denver' });
  });

  it('gives every patient a living adult guarantor who is their own guarantor, at the same address', () => {
    for (const patient of patients) {
      const guarantor = byId.get(link(patient, 'primaryGuarantor')?.id ?? 0)!;
      expect(link(guarantor, 'primaryGuarantor')).toEqual({ id: guarantor.id });
      expect((guarantor.dateOfBirth as string) <= '2008-03-02').toBe(true);
      if (guarantor !== patient) expect(guarantor.patientStatus).not.toBe('DECEASED');
      expect([patient.address1, patient.postalCode, patient.preferredLocation]).toEqual([
        guarantor.address1,
        guarantor.postalCode,
        guarantor.preferredLocation,
      ]);
    }
  });

  it('keeps the conditional rules of discounts and duplicates', () => {
    for (const patient of patients) {
      const { discountType, discountPlan, income, familySize } = patient;
      expect(discountPlan !== null).toBe(discountType === 'BASIC');
      expect(income !== null && familySize !== null).toBe(discountType === 'SLIDING_FEES');
      const original = link(patient, 'duplicateOfPatient');
      expect(original !== null).toBe(patient.patientStatus === 'DUPLICATE');
      if (original !== null)
        expect(byId.get(original.id)).toMatchObject({ firstName: patient.firstName, lastName: patient.lastName });
      expect(link(patient, 'referredByPatient')?.id).not.toBe(patient.id);
    }
  });

  it('uses phone numbers and addresses that are nobody’s, and can be contacted as requested', () => {
    for (const patient of patients) {
      const phones = patient.phones as Phone[];
      const places = phones.map(({ phoneType, sequence }) => `${phoneType} ${sequence}`);
      expect(new Set(places).size).toBe(places.length);
      for (const { number } of phones) expect(number.replace(/\D/g, '')).toMatch(/^\d{3}55501\d\d$/);
      const email = patient.emailAddress as string | null;
      if (email !== null) expect(email).toMatch(/^[a-z]+\.[a-z]+\d+@example\.(com|org|net)$/);
      if (patient.contactMethod === 'Email me') expect(email).not.toBeNull();
      if (patient.contactMethod === 'Text me')
        expect(phones.some(({ phoneType }) => phoneType === 'MOBILE')).toBe(true);
    }
  });

  it('has nothing that happened after the start of today', () => {
    for (const { firstVisitDate, lastModified } of patients as unknown as Record<string, string | null>[]) {
      expect(lastModified! < NOW).toBe(true);
      if (firstVisitDate !== null) expect(firstVisitDate! <= lastModified!).toBe(true);
    }
  });

  it('is varied: statuses, languages, ages, names beyond ASCII', () => {
    const share = (wanted: (patient: DemoRecord) => boolean) => patients.filter(wanted).length / patients.length;
    expect(new Set(patients.map(({ patientStatus }) => patientStatus)).size).toBe(7);
    expect(share(({ patientStatus }) => patientStatus === 'ACTIVE')).toBeGreaterThan(0.65);
    expect(new Set(patients.map(({ languageType }) => languageType)).size).toBeGreaterThan(6);
    expect(share(({ dateOfBirth }) => (dateOfBirth as string) > '2008-03-02')).toBeGreaterThan(0.15);
    expect(share(({ lastName }) => /[^\x20-\x7e]/.test(lastName as string))).toBeGreaterThan(0.05);
    expect(share(({ lastName }) => /\p{Script=Cyrillic}/u.test(lastName as string))).toBeGreaterThan(0);
    expect(share(({ chartNumber }) => chartNumber === null)).toBeGreaterThan(0.03);
  });
});

describe('demoRecords', () => {
  it('gives the same practice for the same seed and date, byte for byte', () => {
    const records = () => demoRecords('small', { today: TODAY, seed: 5 });
    expect(digest(records())).toBe(digest(records()));
  });

  it.each([
    ['seed', { today: TODAY, seed: 2 }],
    ['date', { today: '2026-03-03' }],
    ['organization', { today: TODAY, organizationId: 'other' }],
  ])('gives another practice for another %s', (_, options) => {
    expect(digest(demoRecords('small', options), 300)).not.toBe(digest(small, 300));
  });

  it.each([
    ['medium', 10],
    ['large', 60],
  ] as const)('starts %s without making it whole', (size, locations) => {
    const seen: DemoRecord[] = [];
    for (const record of demoRecords(size, { today: TODAY })) {
      seen.push(record);
      if (seen.length === 2_500) break;
    }
    expect(seen.filter(({ type }) => type === 'Location')).toHaveLength(locations);
    expect(seen.flatMap((record) => problemsOf(record))).toEqual([]);
  });

  it('refuses a date that does not exist', () => {
    expect(() => [...demoRecords('small', { today: '2026-02-30' })]).toThrow(/today must be a date/);
  });
});
