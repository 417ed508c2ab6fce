import sql from 'sql-template-tag';
import { type Problem, refusal } from '../../catalog/failures.ts';
import { foldText } from '../../catalog/filter/values.ts';
import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import type { JsonRecord } from '../store/layout.ts';
import type { Behaviour } from './behaviour.ts';

/** Transaction tags: unique by type and text; predefined ones stay as they are (D23). */
export const transactionTagBehaviour: Behaviour = {
  resource: transactionTags,
  answersDeleted: true,
  async complete(read, { before, after, organization, problems, imported }) {
    if (before?.isPredefined === true && imported === undefined && differs(before, after))
      problems.push(predefined('changed'));
    const twin = await read.get<{ id: number }>(
      sql`SELECT id FROM transactiontags WHERE org = ${organization.org} AND tag_type = ${after.tagType as string}
        AND tag_text_fold = ${foldText(after.tagText as string)} AND id <> ${after.id}`,
    );
    if (twin !== undefined) problems.push(duplicateTag(twin.id));
  },
  async beforeDelete(_tx, { before }) {
    const { code, source, description } = predefined('deleted');
    if (before.isPredefined === true) throw refusal(code, source, description);
  },
};

/** The problem of a tag whose text another one of its type has. */
export function duplicateTag(id: number): Problem {
  return {
    code: 'field.duplicate',
    source: 'tagText',
    description: `There is a tag of this type with this text: ${id}.`,
  };
}

function differs(before: JsonRecord, after: JsonRecord): boolean {
  return Object.keys(before).some((name) => before[name] !== after[name]);
}

function predefined(what: string): Problem {
  return { code: 'field.conflict', source: 'isPredefined', description: `A predefined tag cannot be ${what}.` };
}
