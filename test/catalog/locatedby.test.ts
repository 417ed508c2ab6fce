import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/catalog/catalog.ts';
import type { Resource } from '../../src/catalog/define.ts';
import { REFERENCES, REFERENCES_LOCATED_BY } from '../../src/catalog/resources/references.ts';

interface Kind extends Pick<Resource, 'type' | 'fields' | 'locatedBy'> {
  readonly computed?: boolean;
}

const KINDS: readonly Kind[] = [
  ...RESOURCES,
  ...Object.entries(REFERENCES).map(([type, fields]) => ({
    type,
    fields,
    locatedBy: REFERENCES_LOCATED_BY[type as keyof typeof REFERENCES],
  })),
];

/** Where records are, by the contract: a location of their own, else what they belong to. */
const WANTED: Readonly<Record<string, readonly string[]>> = {
  PatientV1: ['preferredLocation'],
  AppointmentV1: ['location', 'patient'],
  AppointmentHistoryV1: ['location', 'patient'],
  MissedAppointmentV1: ['location', 'patient'],
  Transaction: ['location', 'patient'],
  EventV1: ['location'],
  ScheduleTemplateReasonV1: ['location'],
  ScheduleTemplateV1: ['location'],
  Operatory: ['location'],
  PatientInsurancePlanV1: ['patient'],
  PerioExam: ['patient'],
  InsuranceClaim: ['patient'],
  DocumentV1: ['ownerPatient', 'ownerPerioExam'],
  ImageAttachmentV1: ['insuranceClaim'],
};

const located = new Set(['Location', ...Object.keys(WANTED)]);

describe.each(KINDS.map((kind) => [kind.type, kind] as const))('%s', (type, { fields, locatedBy, computed }) => {
  it('is where the contract says', () => {
    expect(locatedBy).toEqual(WANTED[type] ?? []);
  });

  it('is found by links to what is somewhere itself', () => {
    for (const name of locatedBy) expect(located, name).toContain(fields[name]?.kind.target);
  });

  it('is somewhere if any link of its own leads to a location or to a patient', () => {
    const leads = Object.values(fields).some(
      ({ kind }) => kind.name === 'link' && ['Location', 'PatientV1', 'Operatory'].includes(kind.target ?? ''),
    );
    if (leads && computed !== true) expect(locatedBy).not.toEqual([]);
  });
});
