import { ORGANIZATION, TOKENS } from '../../support/ids.ts';

type Line = Readonly<Record<string, unknown>>;

const people: readonly (readonly [id: number, lastName: string, guarantor: number])[] = [
  [9, 'Older', 9],
  [10, 'Newer', 10],
  [11, 'Child', 10],
  [12, 'Credit', 12],
];

/** A ledger row of a patient at a location; its sign makes it a charge or a payment. */
function row(id: number, patient: number, location: number, amount: number, transactionDate: string): Line {
  const ledgerType = amount > 0 ? 'PatientProcedureLedger' : 'PatientProcedurePayment';
  return {
    ...{ type: 'Transaction', id, ledgerType, amount, transactionDate },
    ...{ patient: { id: patient }, location: { id: location } },
  };
}

function appointment(id: number, start: string, amount: number): Line {
  const production = { amount, writeOff: 0.5 };
  const links = { patient: { id: 9 }, provider: { id: 3 }, operatory: { id: 51 } };
  return { type: 'AppointmentV1', id, start, duration: 60, production, ...links };
}

/**
 * A practice on 2026-03-02. Location 5 is in Denver and has three guarantors, location 6 has one of them, location 7 has
 * none. Provider 3 works on Tuesdays, 08:00 to 10:00, in operatory 51 of location 5.
 */
export function reportRecords(): Line[] {
  const lines: Line[] = [
    ...[5, 6, 7].map((id) => ({ type: 'Location', id, name: `Location ${id}`, timezone: 'America/Denver' })),
    { type: 'Provider', id: 3, lastName: 'Archer' },
    { type: 'Operatory', id: 51, location: { id: 5 } },
    { type: 'ScheduleTemplateReasonV1', id: 1, reason: 'Crown', location: { id: 5 } },
    {
      ...{ type: 'ScheduleTemplateV1', id: 1, location: { id: 5 }, operatory: { id: 51 }, provider: { id: 3 } },
      ...{
        dayOfWeek: 'TUESDAY',
        start: '08:00',
        end: '10:00',
        bookingTypes: ['TREATMENT', 'RECARE'],
        reasons: [{ id: 1 }],
      },
    },
    ...people.map(([id, lastName, guarantor]) => ({
      ...{ type: 'PatientV1', id, firstName: 'Ann', lastName, primaryGuarantor: { id: guarantor } },
    })),
    row(1, 9, 5, 1000.1, '2025-11-01'),
    row(2, 9, 5, 0.2, '2026-01-25'),
    row(3, 10, 5, 30.05, '2026-03-01'),
    row(4, 11, 5, 20, '2025-12-20'),
    row(5, 12, 5, -7.77, '2026-03-01'),
    row(6, 10, 6, 5.5, '2026-02-28'),
    appointment(1, '2026-03-10T14:30:00Z', 100.5),
    appointment(2, '2026-03-12T20:00:00Z', 20.75),
    // 23:30 of the 10th in Denver, the 11th in UTC.
    appointment(3, '2026-03-11T05:30:00Z', 0.75),
  ];
  return [
    { type: 'Organization', id: ORGANIZATION, name: 'Near', timezone: 'America/Denver', createdDate: '2019-05-01' },
    {
      ...{ type: 'AccessToken', token: TOKENS.full, organizations: [ORGANIZATION] },
      scopes: ['model:read', 'model:write', 'practice:read'],
    },
    ...lines.map((line) => ({ ...line, organizationId: ORGANIZATION })),
  ];
}
