import { basename } from 'node:path';
import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import type { Fields } from '../../catalog/fields/kind.ts';
import { text } from '../../catalog/fields/text.ts';
import { readOnly } from '../../catalog/record.ts';
import { usageFailure } from '../../core/failure.ts';
import { readFrom } from '../../core/mirror/access.ts';
import { datasetteMetadata } from '../../core/mirror/describe/datasette.ts';
import { dbtSources } from '../../core/mirror/describe/dbtsources.ts';
import { describedTables } from '../../core/mirror/describe/describedtables.ts';
import type { MirrorPlace } from '../../core/mirror/place.ts';
import { type DescribedMirror, noMirror, readDescription } from '../../core/mirror/sql/reading.ts';
import { writeAtomicFile } from '../../core/output/atomicfile.ts';
import { FORMATS, formatsFor } from '../../core/output/formats.ts';
import { connectionFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { outputFlags, rowFlags } from '../flags/output.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import { zoneFlags } from '../flags/zone.ts';
import { MolarCommand } from '../molarcommand.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { mirrorPlace, placeFlags } from './place.ts';

/** Makes a description for another program, of what a mirror says of itself. */
type Describe = (contents: DescribedMirror, place: MirrorPlace) => string;

/** Descriptions for other programs, by the name of their format. */
const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  dbt: (contents) =>
    dbtSources(describedTables(contents.columns), { schema: contents.schema, about: aboutOf(contents) }),
  datasette: (contents, { name, kind }) => {
    if (kind === 'postgres')
      throw usageFailure('Datasette reads files of SQLite, not PostgreSQL.', { source: '--format' });
    return datasetteMetadata(describedTables(contents.columns), {
      database: basename(name).replace(/\.[^.]+$/, ''),
      title: `Practice ${contents.facts.organization}`,
      about: aboutOf(contents),
      isDeidentified: Boolean(contents.facts.deidentified),
    });
  },
};

export const tablesFlags: FlagInput = {
  ...placeFlags,
  profile: connectionFlags.profile,
  ...outputFlags,
  format: Flags.string({
    helpGroup: 'OUTPUT',
    helpValue: [...formatsFor('rows'), ...Object.keys(DESCRIPTIONS)].join('|'),
    options: [...Object.keys(FORMATS), ...Object.keys(DESCRIPTIONS)],
    summary: 'Output format; dbt: a sources file with data tests; datasette: metadata of every table',
  }),
  sort: rowFlags.sort,
  ...zoneFlags,
  quiet: flagGroup().toggle('Print no notes'),
};

const COLUMNS: Fields = {
  table_name: readOnly(text(), 'Table or view'),
  column_name: readOnly(text(), 'Column'),
  type: readOnly(text(), 'Type'),
  unit: readOnly(text(), 'Unit'),
  field: readOnly(text(), 'Field of the API'),
  about: readOnly(text(), 'What it is'),
};

/** Lists every column of a mirror, or describes them to dbt or Datasette (D52). No request is sent. */
export abstract class MirrorTablesCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    const describe = DESCRIPTIONS[textFlag(flags, 'format') ?? ''];
    if (describe !== undefined) checkFlags(flags);
    const place = mirrorPlace(flags, context);
    const contents = await readFrom(place, readDescription);
    if (contents === undefined) throw noMirror(place.name);
    if (describe !== undefined) return this.write(describe(contents, place), textFlag(flags, 'out'));
    const plan = planRows(flags, COLUMNS, Object.keys(COLUMNS), context.streams.stdout.isTTY);
    await writeRows({
      ...{ context, flags, plan, many: 'columns' },
      open: async () => singlePage(contents.columns),
      note: (line) => this.note(line),
    });
  }

  private write(description: string, out: string | undefined): Promise<void> {
    return out === undefined ? this.print(description) : writeAtomicFile(out, description);
  }
}

/** Refuses flags that such a description does not know. Throws a Failure (exit 2). */
function checkFlags(flags: FlagValues): void {
  const without = ['json', 'csv', 'fields', 'sort', 'excel', 'no-header', 'no-escape-formulas'];
  const given = without.find((name) => flags[name] !== undefined && flags[name] !== false);
  if (given !== undefined)
    throw usageFailure(`--${given} has no effect on ${textFlag(flags, 'format')}.`, { source: `--${given}` });
  if (flags.out === '') throw usageFailure('--out must name a file.', { source: '--out' });
}

function aboutOf({ facts }: DescribedMirror): string {
  return `A copy of the practice ${facts.organization} at ${facts.url}, kept by molar mirror sync`;
}
