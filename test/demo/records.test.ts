import { describe, expect, it } from 'vitest';
import type { DemoRecord } from '../../src/demo/practice.ts';
import { demoRecords } from '../../src/demo/records.ts';
import { differing, digest, groups, type Link, linksOf, NOW, problemsOf, TODAY } from './smallpractice.ts';

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
    const home = ({ address1, postalCode, preferredLocation }: DemoRecord) => [address1, postalCode, preferredLocation];
    const wrong = differing(patients, (patient) => {
      const guarantor = byId.get(link(patient, 'primaryGuarantor')?.id ?? 0)!;
      const isAdult = (guarantor.dateOfBirth as string) <= '2008-03-02';
      const isDead = guarantor !== patient && guarantor.patientStatus === 'DECEASED';
      return [
        [link(guarantor, 'primaryGuarantor')?.id, isAdult, isDead, home(patient)],
        [guarantor.id, true, false, home(guarantor)],
      ];
    });
    expect(wrong).toEqual([]);
  });

  it('keeps the conditional rules of discounts and duplicates', () => {
    const wrong = differing(patients, (patient) => {
      const { id, discountType, discountPlan, income, familySize, firstName, lastName } = patient;
      const original = link(patient, 'duplicateOfPatient');
      const same = original === null ? patient : byId.get(original.id);
      return [
        [
          ...[id, discountPlan !== null, income !== null && familySize !== null, original !== null],
          ...[same?.firstName, same?.lastName, link(patient, 'referredByPatient')?.id === id],
        ],
        [
          ...[id, discountType === 'BASIC', discountType === 'SLIDING_FEES', patient.patientStatus === 'DUPLICATE'],
          ...[firstName, lastName, false],
        ],
      ];
    });
    expect(wrong).toEqual([]);
  });

  it('uses phone numbers and addresses that are nobody’s, and can be contacted as requested', () => {
    const wrong = patients.filter(({ phones: all, emailAddress, contactMethod }) => {
      const phones = all as Phone[];
      const email = emailAddress as string | null;
      const places = phones.map(({ phoneType, sequence }) => `${phoneType} ${sequence}`);
      const rules = [
        new Set(places).size === places.length,
        phones.every(({ number }) => /^\d{3}55501\d\d$/.test(number.replace(/\D/g, ''))),
        email === null || /^[a-z]+\.[a-z]+\d+@example\.(com|org|net)$/.test(email),
        contactMethod !== 'Email me' || email !== null,
        contactMethod !== 'Text me' || phones.some(({ phoneType }) => phoneType === 'MOBILE'),
      ];
      return rules.includes(false);
    });
    expect(wrong).toEqual([]);
  });

  it('has nothing that happened after the start of today', () => {
    const wrong = (patients as unknown as Record<string, string | null>[]).filter(
      ({ firstVisitDate, lastModified }) =>
        lastModified! >= NOW || (firstVisitDate !== null && firstVisitDate! > lastModified!),
    );
    expect(wrong).toEqual([]);
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
