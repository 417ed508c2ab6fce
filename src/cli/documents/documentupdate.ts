import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { pathOf } from '../../catalog/catalog.ts';
import { canonicalMimeType, endsInKnownType, sentBaseName } from '../../catalog/resources/documentnames.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { changedTags, contradiction, retag, type TagChange, tagsOf } from '../../core/documents/tags.ts';
import { usageFailure } from '../../core/failure.ts';
import type { Row } from '../../core/pages/page.ts';
import { dryRunText } from '../crud/dryrun.ts';
import { UpdateCommand, writeFlags } from '../crud/writecommands.ts';
import type { BodyRules } from '../flags/body.ts';
import { type FlagValues, isOn, textFlags } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { planRecord, writeRecord } from '../rows/record.ts';

const tagFlag = (summary: string) =>
  Flags.string({ helpGroup: 'FIELDS', helpValue: 'TAG', multiple: true, multipleNonGreedy: true, summary });

/** The flags of `molar documents update`. */
export const documentUpdateFlags: FlagInput = {
  'add-tag': tagFlag('Tag to add to those of the document; may be repeated'),
  'remove-tag': tagFlag('Tag to remove from those of the document; may be repeated'),
  ...writeFlags(documents, 'update'),
};

/** Changes a document. Tags can be added and removed one by one, though the API replaces all of them. */
export abstract class DocumentUpdateCommand extends UpdateCommand {
  protected override readonly resource = documents;

  protected override async update(input: CommandInput): Promise<void> {
    const { flags } = input;
    const change = readChange(flags);
    if (change === undefined) return super.update(input);
    const { context, fields, recordId: id } = this;
    const plan = planRecord(flags, fields, context);
    const others = await this.otherFields(flags, change);
    if (isOn(flags, 'dry-run')) return this.showRequest(flags, id, change, others);
    const client = await this.connect(flags);
    let isSent = true;
    const write = async (): Promise<Row> => {
      const retagged = await retag(client, id, change, others, context.signal);
      isSent = retagged.isSent;
      return retagged.document;
    };
    await writeRecord(plan, fields, flags, context, write, () => `The document was changed: id ${id}.`);
    if (!isSent) await this.note(unchanged(id));
  }

  /** The fields besides the tags, everything checked before the document is requested. */
  private async otherFields(flags: FlagValues, change: TagChange): Promise<Row> {
    const complete: BodyRules['complete'] = (given, problems) => {
      if (Object.hasOwn(given, 'tags')) {
        const description =
          '--add-tag and --remove-tag change single tags; --tags replaces all of them. Give one or the other.';
        problems.push({ code: 'field.conflict', source: '--tags', description });
      }
      return { ...given, tags: change.add };
    };
    const { body } = await this.readInput(flags, { ...this.bodyRules(flags), complete });
    const { tags: _, ...others } = body;
    return others;
  }

  protected override bodyRules(flags: FlagValues): BodyRules {
    return { finish: (values) => this.withoutExtension(values, flags) };
  }

  /** The values with the base of the name: only the document itself tells which extension is that of its type. */
  private async withoutExtension(values: Row, flags: FlagValues): Promise<Row> {
    const { name } = values;
    if (typeof name !== 'string' || !endsInKnownType(name)) return values;
    const { mimeType } = await this.stored(flags);
    const type = typeof mimeType === 'string' ? canonicalMimeType(mimeType) : undefined;
    return type === undefined ? values : { ...values, name: sentBaseName(name, type) };
  }

  /** The document is read for it, nothing is changed. */
  private async showRequest(flags: FlagValues, id: number, change: TagChange, others: Row): Promise<void> {
    const before = tagsOf(await this.stored(flags));
    const tags = changedTags(before, change);
    const body = JSON.stringify(tags) === JSON.stringify(before) ? others : { ...others, tags };
    if (Object.keys(body).length === 0) return this.note(unchanged(id));
    await this.print(dryRunText(flags, this.context, { method: 'PUT', path: pathOf(this.operation, id), body }));
  }
}

function unchanged(id: number): string {
  return `Document ${id} has these tags already: there is nothing to send.`;
}

/** What the flags say about single tags, undefined for nothing. Throws a Failure (exit 2). */
function readChange(flags: FlagValues): TagChange | undefined {
  const change = { add: textFlags(flags, 'add-tag'), remove: textFlags(flags, 'remove-tag') };
  if (change.add.length + change.remove.length === 0) return undefined;
  for (const [name, tags] of [['--add-tag', change.add] as const, ['--remove-tag', change.remove] as const])
    if (tags.some((tag) => tag.trim() === '')) throw usageFailure(`${name} must name a tag.`, { source: name });
  const both = contradiction(change);
  if (both === undefined) return change;
  throw usageFailure('--add-tag and --remove-tag name the same tag.', { source: '--remove-tag' });
}
