import { columnText, type DescribedColumn, type DescribedTable } from './describedtables.ts';

/** Columns that say what a record is, by which others show it. */
const LABELS = ['last_name', 'name', 'title', 'tag_text', 'reason', 'exam_name'];

/** Tables of our own that are for nobody else. */
const HIDDEN = ['_zones', '_offsets', '_facts', '_progress', '_staged', '_found', '_received'];

const OWN = {
  _mirror: { description: 'As of when each table is true' },
  _columns: { description: 'What each column is' },
} as const;

/** Metadata for Datasette (`--metadata`), JSON; `database`: the name of the file without its extension. */
export function datasetteMetadata(
  tables: readonly DescribedTable[],
  {
    database,
    title,
    about,
    isDeidentified,
  }: {
    readonly database: string;
    readonly title: string;
    readonly about: string;
    /** There are no names to show. */
    readonly isDeidentified: boolean;
  },
): string {
  const described = tables.map((table) => [table.name, tableOf(table, isDeidentified)] as const);
  const hidden = HIDDEN.map((name) => [name, { hidden: true }] as const);
  const all = Object.fromEntries([...described, ...Object.entries(OWN), ...hidden]);
  const metadata = {
    title,
    description: about,
    custom_units: ['cents = [currency]'],
    databases: { [database]: { tables: all } },
  };
  return `${JSON.stringify(metadata, null, 2)}\n`;
}

function tableOf({ name, about, columns }: DescribedTable, isDeidentified: boolean) {
  const texts = columns.map((column) => [column.name, columnText(column)] as const).filter(([, text]) => text !== '');
  const inCents = columns.filter(({ unit }) => unit === 'cents');
  const units = Object.fromEntries(inCents.map((column) => [column.name, 'cents']));
  const label = isDeidentified ? undefined : labelOf(columns);
  return {
    title: titleOf(name),
    description: about,
    ...(texts.length > 0 && { columns: Object.fromEntries(texts) }),
    ...(inCents.length > 0 && { units }),
    ...(label !== undefined && { label_column: label }),
  };
}

function labelOf(columns: readonly DescribedColumn[]): string | undefined {
  return LABELS.find((label) => columns.some(({ name }) => name === label));
}

/** `patient_insurance_plans` is `Patient insurance plans`. */
function titleOf(name: string): string {
  const words = name.replace(/^v_/, 'view of ').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
