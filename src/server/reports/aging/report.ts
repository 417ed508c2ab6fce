import sql, { join } from 'sql-template-tag';
import { patients } from '../../../catalog/resources/patients.ts';
import { disclose } from '../../disclosing.ts';
import { fairTurn } from '../../fairscheduling.ts';
import { dollars } from '../../money.ts';
import type { Handler } from '../../service.ts';
import { type Reach, seenBy } from '../../store/reach.ts';
import type { Reader } from '../../store/store.ts';
import { locationZones } from '../places.ts';
import { amountOf, type Balance, balanceOf, balancesOf, passes, type Split, sumOf } from './balances.ts';
import { BUCKETS, openSums, sameDays } from './openamounts.ts';
import { pageOf } from './pages.ts';
import { readAgingQuery } from './query.ts';

/** GET `/agingbalances/report`: what guarantors owe by age, for a page of a location or for named guarantors (D34, D35). */
export const agingHandler: Handler = async (request) => {
  const { service, organization } = request;
  const { read } = service.store;
  const { location, guarantors, page, terms } = await readAgingQuery(request);
  const found = guarantors === undefined ? await pageOf(request, location, page) : undefined;
  const chosen = guarantors ?? found?.guarantors ?? [];
  const zones = await locationZones(read, organization.org);
  const days = sameDays(zones, organization.timezone, service.clock());
  await fairTurn(organization.org);
  const sums = await openSums(read, organization, location, chosen, days);
  const balances = balancesOf(sums).filter((balance) => passes(balance, terms));
  await fairTurn(organization.org);
  const ids = balances.map(({ id }) => id);
  disclose(request, ids, ids);
  const facts = await guarantorFacts(read, organization, ids);
  await fairTurn(organization.org);
  const records = balances.map((balance) => wireRecord(balance, facts.get(balance.id)));
  const data = JSON.stringify({ ...wireSums(balances), patientReports: records });
  // Only the first page tells how many there are (specification, Aging balances report, Paging rules 1 and 3).
  if (found === undefined || page > 1) return { data };
  return { data, meta: { pagination: { limit: service.agingPageLimit, total: found.total } } };
};

function wireRecord(balance: Balance, facts: GuarantorFacts | undefined) {
  const all = sumOf(balance.buckets);
  return {
    id: String(balance.id),
    firstName: facts?.firstName ?? null,
    lastName: facts?.lastName ?? null,
    ...named(
      (name) => name,
      balance.buckets,
      (split) => dollars(amountOf(split)),
    ),
    ...named((name) => `${name}Portion`, balance.buckets, portionOf),
    balance: dollars(balanceOf(balance)),
    guarantorPortionBalance: dollars(all.guarantor + balance.unapplied),
    insurancePortionBalance: dollars(all.insurance),
    writeOffBalance: dollars(all.writeOff),
    unAppliedCredits: dollars(balance.unapplied),
    claimsPending: facts?.claimsPending ?? 0,
  };
}

function wireSums(balances: readonly Balance[]) {
  const buckets = BUCKETS.map((_, index) => sumOf(balances.map((balance) => balance.buckets[index] as Split)));
  const all = sumOf(buckets);
  const unapplied = balances.reduce((sum, balance) => sum + balance.unapplied, 0);
  return {
    ...named(
      (name) => `${name}Amount`,
      buckets,
      (split) => dollars(amountOf(split)),
    ),
    ...named((name) => `${name}Portion`, buckets, portionOf),
    totalPortions: portionOf(all),
    total: dollars(amountOf(all)),
    unappliedCreditsAmount: dollars(unapplied),
    balance: dollars(amountOf(all) + unapplied),
  };
}

function portionOf({ guarantor, insurance, writeOff }: Split) {
  return {
    guarantorPortion: dollars(guarantor),
    insurancePortion: dollars(insurance),
    writeOff: dollars(writeOff),
  };
}

/** One property a bucket, under a name made from the bucket's. */
function named<T>(
  name: (bucket: string) => string,
  splits: readonly Split[],
  value: (split: Split) => T,
): Record<string, T> {
  return Object.fromEntries(splits.map((split, index) => [name(BUCKETS[index] as string), value(split)]));
}

/** Name of a guarantor and how many insurance claims of their patients are pending. */
interface GuarantorFacts {
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly claimsPending: number;
}

/** Ids that one statement takes: a page may hold more guarantors than a statement may have values. */
const MAX_IDS = 500;

/** What the report tells of guarantors beside money, by id: no name of one who is out of reach. */
export async function guarantorFacts(
  read: Reader,
  reach: Reach,
  ids: readonly number[],
): Promise<ReadonlyMap<number, GuarantorFacts>> {
  const facts = new Map<number, GuarantorFacts>();
  const seen = sql`1 = 1${seenBy(reach, patients.type, 'p')}`;
  for (let from = 0; from < ids.length; from += MAX_IDS) {
    const rows = await read.all<{
      id: number;
      first_name: string | null;
      last_name: string | null;
      pending: number;
    }>(sql`
      SELECT p.id, CASE WHEN ${seen} THEN json_extract(p.json, '$.firstName') END AS first_name,
        CASE WHEN ${seen} THEN json_extract(p.json, '$.lastName') END AS last_name,
        (SELECT COUNT(*) FROM patients m
          JOIN reference_records c ON c.org = m.org AND c.type = 'InsuranceClaim' AND c.filed_under = m.id
          WHERE m.org = p.org AND m.primary_guarantor_id = p.id${seenBy(reach, patients.type, 'm')}) AS pending
      FROM patients p WHERE p.org = ${reach.org} AND p.id IN (${join(ids.slice(from, from + MAX_IDS))})`);
    for (const { id, first_name, last_name, pending } of rows) {
      facts.set(id, { firstName: first_name, lastName: last_name, claimsPending: pending });
    }
  }
  return facts;
}
