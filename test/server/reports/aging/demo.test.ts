import { describe, expect, it } from 'vitest';
import { DEMO_ORGANIZATION_ID } from '../../../../src/demo/practice.ts';
import { smallPractice } from '../../../demo/smallpractice.ts';
import { rowOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import type { Line } from '../support.ts';
import { bigCents } from './oracle.ts';
import { PATH } from './rows.ts';

const practice = smallPractice();
const token = {
  type: 'AccessToken',
  token: 'token-of-the-demo',
  organizations: [DEMO_ORGANIZATION_ID],
  scopes: ['model:read'],
};
// Documents, plans and what is planned make most of the import's time and have no part in it.
const OTHERS =
  /^(DocumentV1|AppointmentV1|AppointmentHistoryV1|MissedAppointmentV1|EventV1|ImageAttachmentV1|PatientInsurancePlanV1|PerioExam|ScheduleTemplateV1)$/;

const all = practice.all.filter(({ type }) => !OTHERS.test(type));
const service = sharedService(() => [...all, token]);

/** The sum of every page's balance in cents, and how often each guarantor was told. */
async function walk(place: number | 'ALL'): Promise<{ balance: bigint; guarantors: string[] }> {
  let balance = 0n;
  const guarantors: string[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = { filter: `location.id==${place},page==${page}` };
    const called = await service.call('GET', PATH, {
      query,
      token: 'token-of-the-demo',
      organization: DEMO_ORGANIZATION_ID,
    });
    const data = rowOf(called) as { balance: number; patientReports: { id: string }[] };
    const { limit = 1, total = 0 } = called.body.meta?.pagination ?? {};
    if (page === 1) pages = Math.ceil(total / limit);
    balance += bigCents(data.balance);
    guarantors.push(...data.patientReports.map(({ id }) => id));
  }
  return { balance, guarantors };
}

describe('the aging report of the demo practice', () => {
  const active = (all as Line[]).filter(({ type, isActive }) => type === 'Transaction' && isActive);
  const places = (all as Line[]).filter(({ type }) => type === 'Location').map(({ id }) => id as number);
  const sumAt = (place?: number) =>
    active
      .filter(({ location }) => place === undefined || (location as { id: number }).id === place)
      .reduce((sum, { amount }) => sum + bigCents(amount), 0n);

  it('reconciles with the ledger: all pages add up to its active rows, each guarantor told once', async () => {
    for (const place of [...places, 'ALL'] as const) {
      const { balance, guarantors } = await walk(place);
      expect(balance).toBe(place === 'ALL' ? sumAt() : sumAt(place));
      expect(guarantors.length).toBeGreaterThan(50);
      expect(new Set(guarantors).size).toBe(guarantors.length);
    }
  });
});
