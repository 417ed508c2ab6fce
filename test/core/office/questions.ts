import type { Draws } from '../../faithful/random.ts';
import type { Oracle } from './oracle.ts';
import { dateNear } from './randompractice.ts';
import type { Row } from './records.ts';

/** The options of a report, and how the oracle answers them. */
export type Drawn = readonly [options: object, answer: (oracle: Oracle) => Row[]];

/** What questions are about. */
interface Ground {
  readonly today: string;
  /** Days from today that most of them are of. */
  readonly reach: number;
  readonly tags: readonly string[];
}

/** Draws what each report may be asked, and says how the oracle answers it. */
export function questionsOf(draws: Draws, { today, reach, tags }: Ground): Readonly<Record<string, () => Drawn>> {
  const asked = <O>(options: O, answer: (oracle: Oracle, options: O) => Row[]) =>
    [options as object, (oracle: Oracle) => answer(oracle, options)] as Drawn;
  const some = <T>(list: readonly T[]) => draws.shuffled(list).slice(0, draws.whole(1, list.length));
  const days = () => {
    const [from, to] = [
      dateNear(today, draws, reach),
      dateNear(today, draws, draws.one([reach, reach, 300])),
    ].sort() as [string, string];
    return draws.chance(0.4) ? { from: today, to: today } : { from, to };
  };
  const patientStatuses = () => (draws.chance(0.7) ? ['NEW', 'ACTIVE'] : some(['ACTIVE', 'DUPLICATE', 'NON-PATIENT']));
  const either = () => draws.chance(0.5);
  return {
    schedule: () =>
      asked({ ...days(), by: draws.one(['operatory', 'provider']), allStatuses: either() }, (o, a) => o.schedule(a)),
    'call-list': () =>
      asked({ ...days(), statuses: some(['UNCONFIRMED', 'LEFT_MESSAGE', 'WILL_CALL', 'UNREACHABLE']) }, (o, a) =>
        o.callList(a),
      ),
    recall: () =>
      asked(
        { months: draws.one([0, 1, 5, 6, 6]), includeNeverSeen: either(), patientStatuses: patientStatuses() },
        (o, a) => o.recall(a),
      ),
    'no-shows': () =>
      asked({ ...days(), statuses: some(['NO_SHOW', 'BROKEN']), includeRebooked: either() }, (o, a) => o.noShows(a)),
    'day-sheet': () => asked({ ...days(), byEntry: either() }, (o, a) => o.daySheet(a)),
    deposits: () => asked(days(), (o, a) => o.deposits(a)),
    adjustments: () => asked(days(), (o, a) => o.adjustments(a)),
    birthdays: () => asked({ ...days(), patientStatuses: patientStatuses() }, (o, a) => o.birthdays(a)),
    'missing-contacts': () =>
      asked({ require: some(['phone', 'email']), patientStatuses: patientStatuses() }, (o, a) => o.missingContacts(a)),
    'missing-documents': () =>
      asked(
        {
          tags: some(tags).slice(0, 2),
          since: either() ? dateNear(today, draws, 20) : null,
          patientStatuses: patientStatuses(),
        },
        (o, a) => o.missingDocuments(a),
      ),
  };
}
