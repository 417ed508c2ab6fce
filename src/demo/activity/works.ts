import type { OperatoryPlan } from '../locations.ts';
import type { Household, Person } from '../people.ts';
import type { Random } from '../random.ts';
import type { Visit } from '../visits.ts';
import type { Coverages } from './coverage.ts';
import { type Procedure, proceduresAt } from './procedures.ts';

/** A visit with what is done or planned at it. */
export interface Work {
  readonly person: Person;
  readonly visit: Visit;
  readonly operatory: OperatoryPlan;
  /** Procedures with this location's fees. */
  readonly procedures: readonly Procedure[];
  /** Whether it took place and is over. */
  readonly kept: boolean;
  /** The person's first visit ever. */
  readonly first: boolean;
  /** Cents: all fees, and what a plan's agreement takes off them. */
  readonly amount: number;
  readonly writeOff: number;
}

/** The visits of a household with their procedures, by date. */
export function worksOf(household: Household, coverages: Coverages, today: number, random: Random): Work[] {
  const { location } = household.home;
  const works: Work[] = [];
  for (const person of household.members) {
    for (const visit of person.visits) {
      const operatory = location.operatories[visit.slot.operatory] as OperatoryPlan;
      const kept = visit.slot.day < today && visit.status === 'COMPLETED';
      const first = person.firstVisit === location.clock.at(visit.slot.day, visit.slot.start);
      const procedures = proceduresAt(operatory.provider.role, person, first || person.status === 'NEW', random).map(
        (usual) => ({
          ...usual,
          fee: Math.round((usual.fee * location.feePercent) / 10_000) * 100,
        }),
      );
      const coverage = coverages.get(person);
      const covered = procedures.filter(({ category }) => coverage?.covers(visit.slot.day, category));
      works.push({
        person,
        visit,
        operatory,
        procedures,
        kept,
        first,
        amount: procedures.reduce((sum, { fee }) => sum + fee, 0),
        writeOff: covered.reduce((sum, { fee }) => sum + (coverage?.writeOff(fee) ?? 0), 0),
      });
    }
  }
  return works.sort((a, b) => a.visit.slot.day - b.visit.slot.day || a.visit.slot.start - b.visit.slot.start);
}
