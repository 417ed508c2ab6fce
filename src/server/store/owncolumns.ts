import { foldText } from '../../catalog/filter/values.ts';
import { cents } from '../money.ts';

/** What a column holds. */
export type ColumnValue = string | number | null;

/** A record of the wire. */
type Values = Readonly<Record<string, unknown>>;

/** A column of a resource's table that no filter key asks for. */
export interface OwnColumn {
  readonly name: string;
  readonly type: 'INTEGER' | 'TEXT';
  /** No record lacks it. The value is that of records stored before the column was added, until it is worked out. */
  readonly always?: string | number;
  /** Its value by the record alone. A column without it gets its value from whoever writes the record (`OwnValues`). */
  readonly of?: (record: Values) => ColumnValue;
  /** It is read with its record. So is every column that does not follow from the record. */
  readonly read?: boolean;
}

/** An index over columns that are not all columns of filter keys, or one that guards a rule. */
export interface OwnIndex {
  readonly name: string;
  readonly columns: readonly string[];
  /** What two records may not share; the message of a check that finds some that do. */
  readonly unique?: string;
}

/** What the server stores of a resource beside what its filter keys ask for. */
export interface OwnParts {
  readonly columns?: readonly OwnColumn[];
  readonly indexes?: readonly OwnIndex[];
  /** Fields that are made when a record is rendered: its stored JSON does not have them. */
  readonly rendered?: readonly string[];
}

/** The server's own columns and indexes, by the names of resources. */
export const OWN_PARTS: Readonly<Record<string, OwnParts>> = {
  documents: {
    columns: [
      { name: 'owner', type: 'TEXT', always: '', of: ownerKey },
      {
        name: 'base_fold',
        type: 'TEXT',
        always: '',
        of: ({ name }) => (typeof name === 'string' ? baseFold(name) : null),
      },
      { name: 'guid', type: 'TEXT', always: '', of: ({ guidName }) => guidName as string, read: true },
      { name: 'variants', type: 'TEXT', always: 'original' },
      { name: 'size', type: 'INTEGER', always: 0 },
      { name: 'sha256', type: 'TEXT', always: '' },
    ],
    indexes: [
      {
        name: 'documents_by_name',
        columns: ['org', 'owner', 'base_fold'],
        unique: 'has the name of another document of its owner',
      },
      { name: 'documents_by_guid', columns: ['guid'] },
    ],
    rendered: ['storage'],
  },
  appointments: {
    columns: [
      { name: 'production_cents', type: 'INTEGER' },
      { name: 'write_off_cents', type: 'INTEGER' },
    ],
  },
  missedappointments: { columns: [{ name: 'is_open', type: 'INTEGER', always: 1 }] },
  transactions: {
    columns: [
      { name: 'is_active', type: 'INTEGER', of: ({ isActive }) => Number(isActive) },
      { name: 'amount_cents', type: 'INTEGER', of: ({ amount }) => cents(amount as number | null) },
      { name: 'estimated_insurance_cents', type: 'INTEGER' },
      { name: 'estimated_write_off_cents', type: 'INTEGER' },
    ],
  },
  transactiontags: {
    indexes: [
      {
        name: 'transactiontags_by_text',
        columns: ['org', 'tag_type', 'tag_text_fold'],
        unique: 'has the text of another tag',
      },
    ],
  },
};

/** Which owner a document belongs to, as one text: names are unique below it. */
export function ownerKey(record: Values): string {
  const owner = (name: string) => (record[name] as { id: number } | null)?.id;
  if (record.ownerType === 'Patient') return `p${owner('ownerPatient')}`;
  return record.ownerType === 'PerioExam' ? `e${owner('ownerPerioExam')}` : 'o';
}

/** The base of a document's stored name, in the form that is unique per owner. */
export function baseFold(name: string): string {
  return foldText(name.slice(0, name.lastIndexOf('.')));
}
