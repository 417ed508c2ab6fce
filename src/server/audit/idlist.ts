/** A member of an exact list: one id, or every whole number from the first to the last. Ids of tokens are texts. */
export type IdMember = number | string | readonly [first: number, last: number];

/** Length from which neighbouring ids are written as their first and last. */
const MIN_RUN = 3;

/** Ids as an exact list in ascending order, each once: neighbours are joined, so that a page of a list stays short. */
function compacted(ids: readonly (number | string)[]): IdMember[] {
  const { numbers, texts } = sorted(ids);
  const members: IdMember[] = [...texts];
  for (let at = 0; at < numbers.length; ) {
    const first = numbers[at] as number;
    let end = at + 1;
    while (end < numbers.length && numbers[end] === (numbers[end - 1] as number) + 1) end++;
    if (end - at >= MIN_RUN) members.push([first, numbers[end - 1] as number]);
    else members.push(...numbers.slice(at, end));
    at = end;
  }
  return members;
}

/** Numbers in ascending order and texts, each once. Pages of lists are in that order already. */
function sorted(ids: readonly (number | string)[]): { numbers: readonly number[]; texts: readonly string[] } {
  const isSorted = ids.every((id, at) => typeof id === 'number' && (at === 0 || id > (ids[at - 1] as number)));
  if (isSorted) return { numbers: ids as readonly number[], texts: [] };
  const distinct = [...new Set(ids)];
  return {
    // Tens of thousands of patients are put in order in a tenth of the time that an array of values takes.
    numbers: [...Float64Array.from(distinct.filter((id) => typeof id === 'number')).sort()],
    texts: distinct.filter((id) => typeof id === 'string'),
  };
}

/** An exact list as it is stored: JSON; null when it is empty. */
export function idListText(ids: readonly (number | string)[] | undefined): string | null {
  const members = ids === undefined ? [] : compacted(ids);
  return members.length === 0 ? null : JSON.stringify(members);
}

/**
 * The list of a stored text: JSON, or ids joined by commas as entries had them before. Throws for what no list is written
 * as: somebody else wrote it.
 */
export function readIdList(text: string | null): readonly IdMember[] {
  if (text === null || text === '') return [];
  if (!text.startsWith('[')) return text.split(',').map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : id));
  const members = JSON.parse(text) as unknown[];
  if (!members.every(isMember)) throw new TypeError('Not a list of ids.');
  return members as IdMember[];
}

function isMember(member: unknown): boolean {
  if (!Array.isArray(member)) return typeof member === 'string' || Number.isSafeInteger(member);
  return member.length === 2 && member.every(Number.isSafeInteger) && member[0] <= member[1];
}

/** Whether an exact list has a number. */
export function holdsId(members: readonly IdMember[], id: number): boolean {
  return members.some((member) => (Array.isArray(member) ? member[0] <= id && id <= member[1] : member === id));
}
