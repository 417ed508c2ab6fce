import { foldText } from '../../catalog/filter/values.ts';
import type { Row } from '../pages/page.ts';

/** Tags to add to a document and to take from it; names count the same in any letter case (specification, Document rule 5). */
export interface TagChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** The tags of a document, as far as they are texts. */
export function tagsOf(document: Row): string[] {
  return Array.isArray(document.tags) ? document.tags.filter((tag) => typeof tag === 'string') : [];
}

/** The tags with the change made: those that stay keep order and letter case, new ones follow, each once. */
export function changedTags(tags: readonly string[], { add, remove }: TagChange): string[] {
  const gone = new Set(remove.map(folded));
  const kept = tags.filter((tag) => !gone.has(folded(tag)));
  const there = new Set(kept.map(folded));
  const added = add.filter((tag) => {
    const isNew = !there.has(folded(tag));
    there.add(folded(tag));
    return isNew;
  });
  return [...kept, ...added.map((tag) => tag.trim())];
}

/** Whether a document has what the change wants: all that was added, nothing that was removed. */
export function isChanged(tags: readonly string[], change: TagChange): boolean {
  const there = new Set(tags.map(folded));
  return change.add.every((tag) => there.has(folded(tag))) && !change.remove.some((tag) => there.has(folded(tag)));
}

/** A tag that is to be added and removed at once, undefined where there is none. */
export function contradiction({ add, remove }: TagChange): string | undefined {
  const gone = new Set(remove.map(folded));
  return add.find((tag) => gone.has(folded(tag)));
}

function folded(tag: string): string {
  return foldText(tag.trim());
}
