import type { Problem } from '../../catalog/failures.ts';
import { referenceRecord } from '../references.ts';
import type { Reader } from '../store/store.ts';
import type { EventDraft } from './eventdrafts.ts';

/** Rules on linked records: the operatory is in the event's location, the provider an active person (D39). */
export async function placeProblems(read: Reader, draft: EventDraft): Promise<Problem[]> {
  return [...(await operatoryProblems(read, draft)), ...(await providerProblems(read, draft))];
}

async function operatoryProblems(read: Reader, { organization, before, after }: EventDraft): Promise<Problem[]> {
  const id = changed(before?.operatory, after.operatory);
  const operatory = await referenceRecord(read, organization.org, 'Operatory', id);
  if (operatory === undefined || after.location === null || operatory.location?.id === after.location.id) return [];
  const description = `Operatory ${id} is in location ${operatory.location?.id}, not in the event's location ${after.location.id}.`;
  return [{ code: 'field.conflict', source: 'operatory.id', description }];
}

async function providerProblems(read: Reader, { organization, before, after }: EventDraft): Promise<Problem[]> {
  const id = changed(before?.provider, after.provider);
  const provider = await referenceRecord(read, organization.org, 'Provider', id);
  const problem = (what: string): Problem => ({
    code: 'field.conflict',
    source: 'provider.id',
    description: `Provider ${id} ${what}; an event takes an active provider who is a person.`,
  });
  return [
    ...(provider?.isActive === false ? [problem('is not active')] : []),
    ...(provider?.isNonPersonEntity === true ? [problem('is not a person')] : []),
  ];
}

interface Link {
  readonly id: number;
}

/** The id that a link got; a link that stays is not judged again: a provider may have left since. */
function changed(before: Link | null | undefined, after: Link | null): number | undefined {
  return before?.id === after?.id ? undefined : after?.id;
}
